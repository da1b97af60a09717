import { EndSearch, type Mark, Marks } from './marks.ts'
import type { Framer } from './protocol.ts'
import { digitOf } from './text.ts'

/**
 * Frames that end with the first of some ends, which is part of the frame. Where one end begins like another ('#', '#\r\n'),
 * the shorter one ends the frame, because a tracker may send nothing more before it is answered; what is left of the longer
 * one is skipped in front of the next frame, as an end without anything before it is.
 */
export function endsWith(...ends: readonly Mark[]): Framer {
  const all = new Marks(ends).all
  const search = new EndSearch(all.filter((end) => !all.some((other) => isFoundBy(other, end))))
  const skipped = new Marks(
    [...all, ...all.flatMap((end) => restsOf(end, all))].toSorted((a, b) => b.length - a.length),
  )
  return (bytes, stream) => {
    const noise = skipped.lengthAt(bytes, 0)
    return noise === 0 ? search.after(bytes, 1, stream) : Math.min(0, -noise)
  }
}

/** Frames that end with a line feed, which is part of the frame. */
export const line = endsWith('\n', '\r\n')

/** Frames that begin with one of some starts and end with one of some ends, both of them part of the frame. */
export function between(start: Mark | readonly Mark[], end: Mark | readonly Mark[]): Framer {
  const starts = new Marks(start)
  const search = new EndSearch(end)
  return (bytes, stream) => {
    const length = starts.lengthAt(bytes, 0)
    if (length === 0) return -starts.next(bytes, 1)
    return length < 0 ? 0 : search.after(bytes, length, stream)
  }
}

/** Frames of one length, if need be with a start. */
export function fixedLength(length: number, start?: Mark | readonly Mark[]): Framer {
  const starts = start === undefined ? undefined : new Marks(start)
  return (bytes) => {
    if (starts?.lengthAt(bytes, 0) === 0) return -starts.next(bytes, 1)
    return bytes.length < length ? 0 : length
  }
}

/** Where a length stands in a frame, and what it says. Offsets count from the beginning of the frame, its start included. */
interface LengthField {
  /** What frames begin with. Without it every byte may begin one. */
  readonly start?: Mark | readonly Mark[]
  readonly at: number
  /** Bytes of the length; in text its digits, at most that many where `until` ends them. */
  readonly width: number
  readonly endian?: 'big' | 'little'
  /** What the length in text is written in; without it the length is binary. */
  readonly digits?: 10 | 16
  /** What ends the digits of a text. */
  readonly until?: Mark
  /** What the frame is longer than the field says; with `until`, than the index of that and what the field says. */
  readonly add: number
  /** What the frame has to end with. */
  readonly end?: Mark
  /** No frame is shorter (the field itself) or longer (65,536): a field that says otherwise begins no frame. */
  readonly least?: number
  readonly most?: number
}

/** Frames that say how long they are. Bytes that cannot begin one are skipped up to the next possible start. */
export function lengthField(field: LengthField): Framer {
  const { start, at, width, add, end, until, digits, most = 65_536 } = field
  const starts = start === undefined ? undefined : new Marks(start)
  const ends = end === undefined ? undefined : new Marks(end)
  const noise = (bytes: Buffer) => -(starts ? starts.next(bytes, 1) : 1)
  const { least = at + (until === undefined ? width : 1) + (ends?.all[0].length ?? 0) } = field
  const read = digits ? textLength({ at, width, digits, until }) : binaryLength(at, width, field.endian === 'little')
  return (bytes) => {
    if (starts?.lengthAt(bytes, 0) === 0) return noise(bytes)
    const value = read(bytes)
    if (value === INCOMPLETE) return 0
    const length = value + add
    if (!(length >= least && length <= most)) return noise(bytes)
    if (bytes.length < length) return 0
    return ends === undefined || ends.lengthAt(bytes, length - ends.all[0].length) > 0 ? length : noise(bytes)
  }
}

/** The field is not all here. */
const INCOMPLETE = -1

function binaryLength(at: number, width: number, isLittle: boolean): (bytes: Buffer) => number {
  return (bytes) => {
    if (bytes.length < at + width) return INCOMPLETE
    let value = 0
    for (let i = 0; i < width; i++) value = value * 256 + bytes[at + (isLittle ? width - 1 - i : i)]
    return value
  }
}

/** NaN where the field is no number. */
function textLength({ at, width, digits, until }: Pick<LengthField, 'at' | 'width' | 'until'> & { digits: 10 | 16 }) {
  const end = until === undefined ? undefined : new Marks(until)
  return (bytes: Buffer): number => {
    let value = 0
    for (let i = at; ; i++) {
      const isFull = i === at + width
      if (isFull && !end) return value
      if (i >= bytes.length) return INCOMPLETE
      const ended = end?.lengthAt(bytes, i) ?? 0
      if (ended !== 0) return ended < 0 ? INCOMPLETE : i > at ? value + i : Number.NaN
      const digit = isFull ? digits : digitOf(bytes[i])
      if (digit >= digits) return Number.NaN
      value = value * digits + digit
    }
  }
}

/** A datagram, or what arrives of a stream at once: for protocols that do not say where their frames end. */
export const whole: Framer = (bytes) => bytes.length

/** Frames that end where the next one starts, or with what has arrived. What precedes the first start is skipped. */
export function startsWith(...starts: readonly Mark[]): Framer {
  const marks = new Marks(starts)
  const frame: Framer = (bytes) => {
    const length = marks.lengthAt(bytes, 0)
    return length === 0 ? -marks.next(bytes, 1) : length < 0 ? 0 : marks.next(bytes, length)
  }
  endless.add(frame)
  return frame
}

/** Whether a framer's frames depend on the parts in which a stream arrives. */
export const isEndless = (framer: Framer): boolean => endless.has(framer)

const endless = new WeakSet([whole])

/** Drops CR, LF and NUL from the end of a text frame. */
export function trimEnd(frame: Buffer): Buffer {
  let end = frame.length
  while (end > 0 && (frame[end - 1] === 0x0a || frame[end - 1] === 0x0d || frame[end - 1] === 0)) end--
  return frame.subarray(0, end)
}

/** Whether who looks for one end finds another at the same time or earlier: it begins or ends with it. */
function isFoundBy(end: Buffer, other: Buffer): boolean {
  const { length } = end
  return length < other.length && (other.subarray(0, length).equals(end) || other.subarray(-length).equals(end))
}

/** What is left of an end behind each shorter one that it begins with. */
function restsOf(end: Buffer, all: readonly Buffer[]): Buffer[] {
  const shorter = all.filter(({ length }) => length < end.length)
  return shorter
    .filter((other) => end.subarray(0, other.length).equals(other))
    .map((other) => end.subarray(other.length))
}
