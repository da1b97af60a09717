import {
  crc8Egts,
  crc8Maxim,
  crc8Smbus,
  crc16Arc,
  crc16CcittFalse,
  crc16Kermit,
  crc16Mcrf4xx,
  crc16Modbus,
  crc16X25,
  crc16Xmodem,
  crc32,
  decodeFrame,
  type Protocol,
  sum8,
  sum16,
  xor,
} from '../../protocols/kit/index.ts'
import type { KnownFrame } from '../support/known-frames.ts'
import { reasonOf } from '../support/rough.ts'

/** How a number is written. */
type Notation = 'big' | 'little' | 'hex' | 'decimal'

/** A field that says how long its frame is, less `add`. */
export interface LengthPlace {
  readonly at: number
  readonly width: number
  readonly notation: Notation
  readonly add: number
}

/** A checksum over the bytes from `from` to before `end`, which is counted from the end of the frame, and stands `gap` behind. */
export interface ChecksumPlace {
  readonly sum: (bytes: Uint8Array) => number
  readonly from: number
  readonly end: number
  readonly gap: number
  readonly width: number
  readonly notation: Notation
}

/** Fields in the first bytes of a frame that may say how long it is. */
export function lengthPlaces(frame: Buffer): LengthPlace[] {
  const places: LengthPlace[] = []
  const note = (place: Omit<LengthPlace, 'add'>, value: number) => {
    if (value > 0 && value <= frame.length && value >= frame.length - 24)
      places.push({ ...place, add: frame.length - value })
  }
  for (let at = 0; at < Math.min(16, frame.length); at++) {
    note({ at, width: 1, notation: 'big' }, frame[at])
    if (at + 2 > frame.length) break
    note({ at, width: 2, notation: 'big' }, frame.readUInt16BE(at))
    note({ at, width: 2, notation: 'little' }, frame.readUInt16LE(at))
  }
  for (const { 0: digits, index: at } of frame.toString('latin1', 0, 40).matchAll(/[0-9A-Fa-f]{2,4}/g)) {
    note({ at, width: digits.length, notation: 'hex' }, Number.parseInt(digits, 16))
    note({ at, width: digits.length, notation: 'decimal' }, Number(digits))
  }
  return places
}

/** Writes into a frame how long it is. */
export function repairLength(frame: Buffer, { at, width, notation, add }: LengthPlace): void {
  if (at + width <= frame.length) write(frame, frame.length - add, { at, width, notation })
}

/** Writes the checksum of a frame into it. */
export function repairChecksum(frame: Buffer, { sum, from, end, gap, width, notation }: ChecksumPlace): void {
  const at = frame.length - end + gap
  if (frame.length - end <= from || at + width > frame.length) return
  write(frame, sum(frame.subarray(from, frame.length - end)), { at, width, notation })
}

/**
 * Finds out by trying which checksum a protocol has, from what `integrity` says that it covers: the place whose checksum fits in
 * the most of its good frames.
 */
export function checksumPlace(
  { integrity, ...protocol }: Protocol,
  known: readonly KnownFrame[],
): ChecksumPlace | undefined {
  if (!integrity || 'none' in integrity) return undefined
  const good = known.flatMap(({ frame, session }) =>
    Buffer.isBuffer(frame) && reasonOf(() => decodeFrame({ ...protocol, integrity }, frame, session())) === undefined
      ? [frame]
      : [],
  )
  const { covers } = integrity
  const counted = good.slice(0, 5).flatMap((frame) => {
    const [from, to] = typeof covers === 'function' ? covers(frame) : covers
    return placesIn(frame, { from, end: to > 0 ? frame.length - to : -to }).map((place) => {
      const fitting = good.filter((other) => fits(other, place))
      return { place, count: fitting.length }
    })
  })
  return counted.toSorted((one, other) => other.count - one.count)[0]?.place
}

function placesIn(frame: Buffer, { from, end }: { from: number; end: number }): ChecksumPlace[] {
  return SUMS.flatMap(([sum, bytes]) =>
    NOTATIONS.flatMap((notation) => {
      const width = notation === 'hex' ? 2 * bytes : bytes
      const starts = Array.from({ length: from + 1 }, (_, i) => i)
      return [0, 1, 2].flatMap((gap) => starts.map((start) => ({ sum, from: start, end, gap, width, notation })))
    }),
  ).filter((place) => fits(frame, place))
}

function fits(frame: Buffer, { sum, from, end, gap, width, notation }: ChecksumPlace): boolean {
  const at = frame.length - end + gap
  if (frame.length - end <= from || at + width > frame.length) return false
  return read(frame, { at, width, notation }) === sum(frame.subarray(from, frame.length - end))
}

/** NaN if it is no number. */
function read(frame: Buffer, { at, width, notation }: Omit<LengthPlace, 'add'>): number {
  if (notation === 'little') return frame.readUIntLE(at, width)
  if (notation === 'big') return frame.readUIntBE(at, width)
  const digits = frame.toString('latin1', at, at + width)
  return /^[0-9a-f]+$/i.test(digits) ? Number.parseInt(digits, notation === 'hex' ? 16 : 10) : Number.NaN
}

function write(frame: Buffer, value: number, { at, width, notation }: Omit<LengthPlace, 'add'>): void {
  if (notation === 'hex' || notation === 'decimal') {
    const digits = Math.max(0, value).toString(notation === 'hex' ? 16 : 10)
    frame.write(digits.toUpperCase().padStart(width, '0').slice(-width), at, 'latin1')
    return
  }
  for (let i = 0; i < width; i++) frame[at + (notation === 'little' ? i : width - 1 - i)] = value / 256 ** i
}

const NOTATIONS: readonly Notation[] = ['big', 'little', 'hex']

/** The checksums of the kit, with the bytes that each has. */
const SUMS: readonly (readonly [sum: (bytes: Uint8Array) => number, width: number])[] = [
  ...[xor, sum8, crc8Egts, crc8Maxim, crc8Smbus].map((sum) => [sum, 1] as const),
  ...[crc16Arc, crc16CcittFalse, crc16Kermit, crc16Mcrf4xx].map((sum) => [sum, 2] as const),
  ...[crc16Modbus, crc16X25, crc16Xmodem, sum16].map((sum) => [sum, 2] as const),
  ...[crc32, crc16Arc].map((sum) => [sum, 4] as const),
]
