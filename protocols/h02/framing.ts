import type { Match } from '../kit/index.ts'

const STAR = 0x2a
const DOLLAR = 0x24
const X = 0x58
const HASH = 0x23

const SHORT = 32
const LONG = 45
const LONG_ID = 42

/** Length of the first frame: a text frame ends with `#`; a binary frame mostly has one of three lengths. */
export function frameLength(bytes: Buffer): number {
  if (bytes.length === 0) return 0
  if (bytes[0] === STAR) return startsText(bytes) === 'no' ? -noise(bytes) : bytes.indexOf(HASH) + 1
  if (bytes[0] !== DOLLAR && bytes[0] !== X) return -noise(bytes)
  if (bytes.length < SHORT) return 0
  const idLength = idLengthOf(bytes)
  if (idLength === 0) return -noise(bytes)
  if (idLength === 8) return bytes.length < LONG_ID ? 0 : LONG_ID
  return shortOrLong(bytes)
}

/** Whether a stream begins with `*HQ,` (or two other letters, by maker), or with a binary frame. */
export function starts(bytes: Buffer): Match {
  if (bytes[0] === STAR) return startsText(bytes)
  if (bytes[0] !== DOLLAR && bytes[0] !== X) return bytes.length === 0 ? 'maybe' : 'no'
  if (idLengthOf(bytes) > 0) return 'yes'
  return bytes.length < 15 ? 'maybe' : 'no'
}

function startsText(bytes: Buffer): Match {
  const [, first, second, comma] = bytes
  if ([first, second].some((letter) => letter !== undefined && !isLetter(letter))) return 'no'
  return comma === undefined ? 'maybe' : comma === 0x2c ? 'yes' : 'no'
}

function isLetter(byte: number): boolean {
  const upper = byte & 0xdf
  return upper >= 0x41 && upper <= 0x5a
}

/** How many bytes there are before the next possible start of a frame. */
function noise(bytes: Buffer): number {
  let at = 1
  while (at < bytes.length && bytes[at] !== STAR && bytes[at] !== DOLLAR && bytes[at] !== X) at++
  return at
}

/**
 * Length of a binary frame's id, in bytes: a time, a date and a place must follow it, or at least a time and a date where
 * neither length gives a place on Earth. 0: this is not a binary frame, or too short to tell.
 */
export function idLengthOf(bytes: Buffer): 0 | 5 | 8 {
  const isShort = isTime(bytes, 6)
  const isLong = isTime(bytes, 9)
  if (isShort && isLong) return isPlace(bytes, 12) || !isPlace(bytes, 15) ? 5 : 8
  return isShort ? 5 : isLong ? 8 : 0
}

/** Whether six bytes are a time and a date; they are zero where the device's clock was never set. */
function isTime(bytes: Buffer, at: number): boolean {
  return isWithin(bytes, at, [0x23, 0x59, 0x59, 0x31, 0x12, 0x99])
}

/** Whether bytes are a place: four of latitude, one of the battery, and the hundreds and tens of the longitude's degrees. */
function isPlace(bytes: Buffer, at: number): boolean {
  return isWithin(bytes, at, [0x90, 0x59, 0x99, 0x99]) && isWithin(bytes, at + 5, [0x18])
}

/** Whether bytes are packed decimals, each at most its limit. */
function isWithin(bytes: Buffer, at: number, limits: readonly number[]): boolean {
  return limits.every((limit, i) => isDecimal(bytes[at + i]) && bytes[at + i] <= limit)
}

function isDecimal(byte: number | undefined): byte is number {
  return byte !== undefined && byte >> 4 <= 9 && (byte & 15) <= 9
}

/** Finds out by what follows the 32nd byte whether a frame is short or long: the frame itself does not say it. */
function shortOrLong(bytes: Buffer): number {
  if (bytes.length === SHORT) return looksShort(bytes) ? SHORT : 0
  const next = starts(bytes.subarray(SHORT, LONG))
  if (next === 'yes') return SHORT
  const between = nextBetween(bytes)
  if (between > 0) return between
  return bytes.length < LONG ? 0 : LONG
}

/** Where a text, or a frame of the same id, begins before the end of a long frame: some devices have frames of other lengths. 0: nowhere. */
function nextBetween(bytes: Buffer): number {
  const id = bytes.subarray(0, 6)
  const isNext = (at: number) =>
    startsText(bytes.subarray(at, at + 4)) === 'yes' || bytes.subarray(at, at + id.length).equals(id)
  for (let at = SHORT + 1; at <= LONG - 4; at++)
    if ((bytes[at] === STAR || bytes[at] === bytes[0]) && isNext(at)) return at
  return 0
}

/**
 * No more bytes came after these 32. Are they a short frame? A short frame ends with FF 00 and a serial number; a long frame
 * has the GSM signal strength, 1 to 31, there.
 */
function looksShort(bytes: Buffer): boolean {
  const serial = bytes[31]
  return bytes[29] === 0xff && bytes[30] === 0 && (serial === 0 || serial > 31)
}
