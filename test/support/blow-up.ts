import { COSTLY_SIZE } from './protocol-cases.ts'
import type { Random } from './rough.ts'

/** A way in which anybody may make a frame of 64 KB of a good one. */
type BlowUp = (frame: Buffer, random: Random) => Buffer

/** A frame blown up to 64 KB, in one of several ways: what its decoder must read, or refuse, in linear time. */
export function blownUp(frame: Buffer, random: Random): Buffer {
  return WAYS[random(WAYS.length)](frame, random).subarray(0, COSTLY_SIZE)
}

const WAYS: readonly BlowUp[] = [
  repeatedField,
  repeatedSeparator,
  repeatedDigits,
  repeatedBytes,
  repeatedFrame,
  (frame, random) => repeatedBytes(maximised(frame, random), random),
  (frame, random) => Buffer.concat([maximised(frame, random), Buffer.alloc(COSTLY_SIZE, [0, 1, 0xff][random(3)])]),
]

/** A field of text with its separator, or what stands between two of them, again and again. */
function repeatedField(frame: Buffer, random: Random): Buffer {
  const places = separatorsOf(frame)
  if (places.length < 2) return repeatedBytes(frame, random)
  const first = random(places.length - 1)
  const last = first + 1 + random(Math.min(16, places.length - 1 - first))
  return repeated(frame, places[first], places[last])
}

function repeatedSeparator(frame: Buffer, random: Random): Buffer {
  const places = separatorsOf(frame)
  if (places.length === 0) return repeatedBytes(frame, random)
  const at = places[random(places.length)]
  return repeated(frame, at, at + 1)
}

/** One digit of a number again and again, or one hyphen, point or space. */
function repeatedDigits(frame: Buffer, random: Random): Buffer {
  const digits = [...frame.keys()].filter((at) => frame[at] >= 0x30 && frame[at] <= 0x39)
  if (digits.length === 0) return repeatedBytes(frame, random)
  const at = digits[random(digits.length)]
  const unit = Buffer.from(['0', '9', '-', '.', ' ', '%'][random(6)])
  return Buffer.concat([frame.subarray(0, at), Buffer.alloc(COSTLY_SIZE - frame.length, unit), frame.subarray(at)])
}

function repeatedBytes(frame: Buffer, random: Random): Buffer {
  const at = random(frame.length)
  return repeated(frame, at, at + 1 + random(Math.min(64, frame.length - at)))
}

function repeatedFrame(frame: Buffer): Buffer {
  return repeated(frame, 0, frame.length)
}

/** A count or a length of one or two bytes at its maximum, somewhere. */
function maximised(frame: Buffer, random: Random): Buffer {
  const copy = Buffer.from(frame)
  const at = random(frame.length)
  copy.fill(0xff, at, Math.min(frame.length, at + 1 + random(2)))
  return copy
}

/** A part of a frame so many times that the frame has 64 KB. */
function repeated(frame: Buffer, from: number, to: number): Buffer {
  const room = Math.max(0, COSTLY_SIZE - frame.length)
  const part = frame.subarray(from, to)
  return Buffer.concat([frame.subarray(0, to), Buffer.alloc(room - (room % part.length), part), frame.subarray(to)])
}

/** Where characters stand that separate fields of text. */
function separatorsOf(frame: Buffer): number[] {
  return [...frame.keys()].filter((at) => SEPARATORS.has(frame[at]))
}

const SEPARATORS = new Set(Buffer.from(',;|&=:#*$!@+?/^ \r\n\t{}[]()<>"'))
