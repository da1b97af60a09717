/*
 * Replaces ids and places in frames that were not understood, so that they can be shown to others. Each replacement has the
 * same length: the form of a frame, and its other content, stay unchanged.
 */
import {
  type Covered,
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
  degreesMinutes,
  imeiOf14,
  sum8,
  sum16,
  xor,
} from '../../protocols/kit/index.ts'
import { sameId } from '../domain/ids.ts'
import { shownBytes } from '../store/misunderstood-frame.ts'

/** Where a device was, degrees. */
export interface KnownPlace {
  readonly lat: number
  readonly lon: number
}

/** Returns an id of the same length and form; an IMEI keeps a valid check digit. */
export function standInFor(id: string): string {
  const other = id.replace(/[1-9a-z]/gi, (character, at: number) => {
    if (/\d/.test(character)) return String((at % 9) + 1)
    const letter = 'ABCDEF'[at % 6]
    return character === character.toLowerCase() ? letter.toLowerCase() : letter
  })
  return /^\d{15}$/.test(other) ? imeiOf14(other.slice(0, 14)) : other
}

/**
 * Returns bytes in which an id is replaced, with or without leading zeros, in either case: as text, as packed decimal or
 * hexadecimal digits, as a number of two bytes or more, and as bytes of two decimal digits each.
 */
export function withoutId(bytes: Buffer, id: string): Buffer {
  const bare = sameId(id)
  const other = standInFor(bare)
  let text = bytes.toString('latin1').replaceAll(new RegExp(escaped(bare), 'gi'), other)
  if (bare.length >= FEWEST_DIGITS && /^[\da-f]+$/i.test(bare)) {
    const digits = Buffer.from(text, 'latin1').toString('hex')
    const packed = [bare, bare.slice(0, 14)].reduce(
      (all, part) => all.replaceAll(part.toLowerCase(), other.slice(0, part.length).toLowerCase()),
      digits,
    )
    text = Buffer.from(packed, 'hex').toString('latin1')
  }
  if (!/^\d+$/.test(bare)) return Buffer.from(text, 'latin1')
  const number = numberBytes(bare)
  const next = numberBytes(other, number.length)
  if (number.length >= 2) {
    text = text.replaceAll(number.toString('latin1'), next.toString('latin1'))
    text = text.replaceAll(backwards(number), backwards(next))
  }
  if (bare.length >= FEWEST_DIGITS)
    for (const front of ['', '0']) text = text.replaceAll(digitPairs(front + bare), digitPairs(front + other))
  return Buffer.from(text, 'latin1')
}

const escaped = (text: string) => text.replaceAll(/[^\w]/g, '\\$&')

const backwards = (bytes: Buffer) => Buffer.from(bytes.toReversed()).toString('latin1')

/** Packs two digits per byte; the last byte may have one. */
function digitPairs(digits: string): string {
  return (digits.match(/\d\d?/g) ?? []).map((pair) => String.fromCharCode(Number(pair))).join('')
}

/** Shorter ids stand in other digits by chance. */
const FEWEST_DIGITS = 6

/** Returns a decimal number as big-endian bytes: as few as it needs, or the last `width` of them. */
function numberBytes(digits: string, width?: number): Buffer {
  const hex = BigInt(digits).toString(16)
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  if (width === undefined) return bytes
  return Buffer.concat([Buffer.alloc(Math.max(0, width - bytes.length)), bytes]).subarray(-width)
}

/** Bytes without places. */
export interface Placeless {
  readonly bytes: Buffer
  /** Whether the bytes had a place near which the device was then. */
  readonly isFound: boolean
  /** Whether a text still holds what may be a place in another form: a number of seven digits or more, or base64. */
  readonly isDoubtful: boolean
}

/**
 * Returns bytes in which places are replaced. In text: numbers with three or more decimals or of the form ddmm.m, and those
 * of a place near which the device was then. In bytes: a latitude and a longitude of such a place in one notation, close
 * together; others cannot be recognised.
 */
export function withoutPlaces(bytes: Buffer, around: readonly KnownPlace[]): Placeless {
  const copy = Buffer.from(bytes)
  let isFound = false
  for (const place of around) for (const notation of NOTATIONS) isFound = replaced(copy, notation, place) || isFound
  const isText = 'text' in shownBytes(bytes, bytes.length)
  const text = copy.toString('latin1').replace(NUMBER, (number, decimals: string = '') => {
    const isNearby = around.some((place) => isNear(number, place))
    if (!isNearby && decimals.length < MANY_DECIMALS && !DEGREES_MINUTES.test(number)) return number
    isFound ||= isText && isNearby
    let count = 0
    return number.replace(/\d/g, () => String(1 + (count++ % 5)))
  })
  const isDoubtful =
    isText && (BASE64.test(text) || (text.match(LONG_NUMBER) ?? []).some((each) => !isKnownNumber(each)))
  return { bytes: Buffer.from(text, 'latin1'), isFound, isDoubtful }
}

const NUMBER = /\d{1,10}(?:\.(\d{1,10}))?/g
const MANY_DECIMALS = 3
const DEGREES_MINUTES = /^\d{4,5}\.\d/
const BASE64 = /(?=[A-Za-z+/]*\d)(?=[\dA-Z+/]*[a-z])(?=[\da-z+/]*[A-Z])[\dA-Za-z+/]{16}/
const LONG_NUMBER = /(?<![\d.])\d{7,9}(?![\d.])/g

/** Whether a number is what `withoutPlaces` and `standInFor` put in, or a date: YYYYMMDD. */
function isKnownNumber(digits: string): boolean {
  return (
    '123451234512345'.startsWith(digits) ||
    '123456789'.startsWith(digits) ||
    /^20\d\d(?:0[1-9]|1[0-2])[0-3]\d$/.test(digits)
  )
}

/** Returns whether the text of a number is a coordinate near a place: degrees or ddmm, with a point or in a fraction of them. */
function isNear(number: string, { lat, lon }: KnownPlace): boolean {
  if (number.length < 4) return false
  const scales = number.includes('.') ? [1] : [1e3, 1e4, 1e5, 1e6, 1e7]
  return scales.some((scale) =>
    [Number(number) / scale, degreesMinutes(Number(number) / scale)].some(
      (degrees) => Math.abs(degrees - Math.abs(lat)) < NEAR || Math.abs(degrees - Math.abs(lon)) < NEAR,
    ),
  )
}

/** How a coordinate is written in bytes. */
interface Notation {
  readonly width: number
  readonly read: (bytes: Buffer, at: number) => number
  readonly write: (bytes: Buffer, at: number, degrees: number) => void
}

/** Replaces each pair of coordinates near a place. Returns whether there was one. */
function replaced(bytes: Buffer, { width, read, write }: Notation, { lat, lon }: KnownPlace): boolean {
  const norths: number[] = []
  const easts: number[] = []
  for (let at = 0; at + width <= bytes.length; at++) {
    const degrees = read(bytes, at)
    if (Math.abs(Math.abs(degrees) - Math.abs(lat)) < NEAR) norths.push(at)
    if (Math.abs(Math.abs(degrees) - Math.abs(lon)) < NEAR) easts.push(at)
  }
  const isPair = (one: number, other: number) =>
    one !== other && Math.abs(one - other) >= width && Math.abs(one - other) <= TOGETHER
  const pairs = norths.flatMap((north) => easts.filter((east) => isPair(north, east)).map((east) => [north, east]))
  for (const [north, east] of pairs) {
    write(bytes, north, 12.345678 * Math.sign(read(bytes, north)))
    write(bytes, east, 23.456789 * Math.sign(read(bytes, east)))
  }
  return pairs.length > 0
}

/** How far a van may be from its known place, degrees. */
const NEAR = 0.5
/** How far apart a latitude and its longitude begin, bytes. */
const TOGETHER = 16

const whole = (scale: number, endian: 'BE' | 'LE', toDegrees = plain, fromDegrees = plain): Notation => ({
  width: 4,
  read: (bytes, at) => toDegrees(bytes[`readInt32${endian}`](at) / scale),
  write: (bytes, at, degrees) => void bytes[`writeInt32${endian}`](Math.round(fromDegrees(degrees) * scale), at),
})

const float = (width: 4 | 8, endian: 'BE' | 'LE', toDegrees = plain, fromDegrees = plain): Notation => {
  const kind = width === 4 ? 'Float' : 'Double'
  return {
    width,
    read: (bytes, at) => toDegrees(bytes[`read${kind}${endian}`](at)),
    write: (bytes, at, degrees) => void bytes[`write${kind}${endian}`](fromDegrees(degrees), at),
  }
}

/** Eight packed decimals, `before` of them before the point. */
const packed = (
  before: number,
  toDegrees: (value: number) => number,
  fromDegrees: (degrees: number) => number,
): Notation => ({
  width: 4,
  read: (bytes, at) => {
    const digits = bytes.toString('hex', at, at + 4)
    return /^\d+$/.test(digits) ? toDegrees(Number(digits) / 10 ** (8 - before)) : Number.NaN
  },
  write: (bytes, at, degrees) => {
    const value = Math.round(Math.abs(fromDegrees(degrees)) * 10 ** (8 - before))
    bytes.write(String(value).padStart(8, '0'), at, 'hex')
  },
})

const plain = (value: number) => value
/** ddmm.mmmm of degrees. */
const minutes = (degrees: number) => {
  const size = Math.abs(degrees)
  return Math.sign(degrees) * (Math.floor(size) * 100 + (size % 1) * 60)
}

const NOTATIONS: readonly Notation[] = [
  ...(['BE', 'LE'] as const).flatMap((endian) => [
    ...[1e5, 1e6, 1e7, 1.8e6, 6e5, 6e4].map((scale) => whole(scale, endian)),
    ...[1e3, 1e4, 1e5].map((scale) => whole(scale, endian, degreesMinutes, minutes)),
    float(4, endian),
    float(8, endian),
    float(4, endian, degreesMinutes, minutes),
  ]),
  packed(2, plain, plain),
  packed(3, plain, plain),
  packed(4, degreesMinutes, minutes),
  packed(5, degreesMinutes, minutes),
]

/**
 * Corrects the checksum of a frame that was changed. `before`, the original frame, shows which checksum it is and where: up
 * to three bytes after the bytes it covers, which may begin later than the frame. Returns whether it found one.
 */
export function repairChecksum(frame: Buffer, before: Buffer, covers: Covered): boolean {
  const [from, to] = typeof covers === 'function' ? covers(before) : covers
  const end = to > 0 ? to : before.length + to
  if (from < 0 || end < from) return false
  for (const [sum, width] of SUMS)
    for (let start = Math.max(0, from - HEAD); start <= from; start++)
      for (const { read, write, size } of WRITTEN[width])
        for (let at = end; at <= end + 3 && at + size <= before.length; at++)
          if (read(before, at) === sum(before.subarray(start, end))) {
            write(frame, at, sum(frame.subarray(start, end)))
            return true
          }
  return false
}

/** How many bytes of a frame its checksum may skip at the beginning. */
const HEAD = 4

const SUMS: readonly (readonly [sum: (bytes: Buffer) => number, width: 1 | 2 | 4])[] = [
  ...[crc32].map((sum) => [sum, 4] as const),
  ...[crc16X25, crc16Xmodem, crc16CcittFalse, crc16Modbus, crc16Arc, crc16Kermit, crc16Mcrf4xx, sum16].map(
    (sum) => [sum, 2] as const,
  ),
  ...[xor, sum8, crc8Maxim, crc8Smbus].map((sum) => [sum, 1] as const),
]

interface Written {
  readonly size: number
  readonly read: (bytes: Buffer, at: number) => number
  readonly write: (bytes: Buffer, at: number, value: number) => void
}

const WRITTEN: Readonly<Record<1 | 2 | 4, readonly Written[]>> = { 1: written(1), 2: written(2), 4: written(4) }

function written(width: 1 | 2 | 4): readonly Written[] {
  const digits = (isUpper: boolean): Written => ({
    size: 2 * width,
    read: (bytes, at) => {
      const text = bytes.toString('latin1', at, at + 2 * width)
      const isWritten = (isUpper ? /^[\dA-F]+$/ : /^[\da-f]+$/).test(text)
      return isWritten ? Number.parseInt(text, 16) : Number.NaN
    },
    write: (bytes, at, value) => {
      const text = value.toString(16).padStart(2 * width, '0')
      bytes.write(isUpper ? text.toUpperCase() : text, at, 'latin1')
    },
  })
  return [
    {
      size: width,
      read: (bytes, at) => bytes.readUIntBE(at, width),
      write: (bytes, at, value) => void bytes.writeUIntBE(value, at, width),
    },
    {
      size: width,
      read: (bytes, at) => bytes.readUIntLE(at, width),
      write: (bytes, at, value) => void bytes.writeUIntLE(value, at, width),
    },
    digits(true),
    digits(false),
  ]
}
