import { COSTLY_SIZE } from '../support/protocol-cases.ts'
import type { Random } from '../support/rough.ts'

/** A way to damage a frame; `donor` is a frame of this or of another protocol. */
type Damage = (frame: Buffer, random: Random, donor: Buffer) => Buffer

/** A frame damaged in one to three ways, at most 64 KB of it. */
export function damaged(frame: Buffer, random: Random, donor: Buffer): Buffer {
  let result = Buffer.from(frame)
  for (let ways = 1 + random(3); ways > 0; ways--) {
    const damage = WAYS[random(WAYS.length)]
    if (result.length > 0) result = Buffer.from(damage(result, random, donor))
  }
  return result.subarray(0, COSTLY_SIZE)
}

const WAYS: readonly Damage[] = [
  flipBit,
  setByte,
  setByte,
  setNumber,
  setNumber,
  cutEnd,
  removePart,
  repeatPart,
  swapParts,
  insertBytes,
  splice,
  setField,
  setField,
  swapFields,
]

function flipBit(frame: Buffer, random: Random): Buffer {
  frame[random(frame.length)] ^= 1 << random(8)
  return frame
}

function setByte(frame: Buffer, random: Random): Buffer {
  frame[random(frame.length)] = random(3) === 0 ? random(256) : BYTES[random(BYTES.length)]
  return frame
}

/** A count, a length or a value: the least, the most, or about as long as the frame. */
function setNumber(frame: Buffer, random: Random): Buffer {
  const width = [2, 3, 4, 8][random(4)]
  const at = random(frame.length)
  if (at + width > frame.length) return frame
  const about = frame.length - 16 + random(32)
  const values = [0, 1, 2 ** (8 * width) - 1, 2 ** (8 * width - 1), 2 ** (8 * width - 1) - 1, about, about]
  const value = BigInt(values[random(values.length)]) & (2n ** BigInt(8 * width) - 1n)
  const bytes = Buffer.from(value.toString(16).padStart(width * 2, '0'), 'hex')
  frame.set(random(2) === 0 ? bytes : bytes.toReversed(), at)
  return frame
}

function cutEnd(frame: Buffer, random: Random): Buffer {
  return frame.subarray(0, random(frame.length))
}

function removePart(frame: Buffer, random: Random): Buffer {
  const [from, to] = partOf(frame, random)
  return Buffer.concat([frame.subarray(0, from), frame.subarray(to)])
}

function repeatPart(frame: Buffer, random: Random): Buffer {
  const [from, to] = partOf(frame, random)
  const times = random(50) === 0 ? 300 : [1, 1, 2, 3, 8][random(5)]
  const copies = Array.from({ length: times }, () => frame.subarray(from, to))
  return Buffer.concat([frame.subarray(0, to), ...copies, frame.subarray(to)])
}

function swapParts(frame: Buffer, random: Random): Buffer {
  const width = 1 + random(8)
  const [one, other] = [random(frame.length), random(frame.length)]
  if (Math.max(one, other) + width > frame.length || Math.abs(one - other) < width) return frame
  const copy = Buffer.from(frame)
  frame.copy(copy, one, other, other + width)
  frame.copy(copy, other, one, one + width)
  return copy
}

function insertBytes(frame: Buffer, random: Random): Buffer {
  const at = random(frame.length + 1)
  const bytes = Buffer.from(Array.from({ length: 1 + random(8) }, () => BYTES[random(BYTES.length)]))
  return Buffer.concat([frame.subarray(0, at), bytes, frame.subarray(at)])
}

/** The beginning of one frame and the end of another. */
function splice(frame: Buffer, random: Random, donor: Buffer): Buffer {
  return Buffer.concat([frame.subarray(0, random(frame.length)), donor.subarray(random(donor.length))])
}

function setField(frame: Buffer, random: Random): Buffer {
  const [from, to] = fieldOf(frame, random)
  return Buffer.concat([frame.subarray(0, from), Buffer.from(FIELDS[random(FIELDS.length)]), frame.subarray(to)])
}

function swapFields(frame: Buffer, random: Random): Buffer {
  const [one, other] = [fieldOf(frame, random), fieldOf(frame, random)].toSorted(([a], [b]) => a - b)
  if (one[1] > other[0]) return frame
  return Buffer.concat([
    frame.subarray(0, one[0]),
    frame.subarray(...other),
    frame.subarray(one[1], other[0]),
    frame.subarray(...one),
    frame.subarray(other[1]),
  ])
}

function partOf(frame: Buffer, random: Random): [from: number, to: number] {
  const from = random(frame.length)
  return [from, Math.min(frame.length, from + 1 + random(random(4) === 0 ? frame.length : 8))]
}

/** A field of text around a place: up to the next characters that are no letter, digit, point or hyphen. */
function fieldOf(frame: Buffer, random: Random): [from: number, to: number] {
  const at = random(frame.length)
  let from = at
  let to = at
  while (from > 0 && isInField(frame[from - 1]) && at - from < 40) from--
  while (to < frame.length && isInField(frame[to]) && to - at < 40) to++
  return [from, to]
}

function isInField(byte: number): boolean {
  const letter = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x7a) || byte === 0x2e || byte === 0x2d
}

/** Bytes that mark something, somewhere. */
const BYTES = Buffer.concat([
  Buffer.from('000102030608067e7d7f80c0dbfefeffff787910', 'hex'),
  Buffer.from('\r\n,;|#*$!@+-.:&%<>()[]{}"\\0129AZ =/'),
])

const NUMBERS =
  '0 -1 -0 1 00 99 180 -180.0 90.00001 1e999 1e308 NaN Infinity 0x10 . - 1.2.3 5960.0000 18000.0001 2147483648 ' +
  '18446744073709551615 000000 311399 240000 235960 290223 999999'
const WORDS = ['', 'null', 'A', 'V', 'é', '__proto__', ' 7', '7 ', 'ÿ\u0000', '9'.repeat(20), '9'.repeat(400)]
const FIELDS = [...NUMBERS.split(' '), ...WORDS]
