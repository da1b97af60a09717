import { crc32 as zlibCrc32 } from 'node:zlib'
import { DecodeError } from './errors.ts'
import type { Session } from './protocol.ts'

/** How one cyclic redundancy check is computed, in the terms of the CRC catalogue (reveng.sourceforge.io/crc-catalogue). */
interface CrcParameters {
  readonly width: 8 | 16 | 32
  /** Polynomial, most significant bit first. */
  readonly polynomial: number
  readonly initial: number
  readonly reflected: boolean
  readonly xorOut: number
}

/** A checksum over all bytes of a view. Callers cut the view, so that a length from the wire is never trusted. */
export type Checksum = (bytes: Uint8Array) => number

export const crc16Arc = crc({ width: 16, polynomial: 0x8005, initial: 0, reflected: true, xorOut: 0 })
export const crc16X25 = crc({ width: 16, polynomial: 0x1021, initial: 0xffff, reflected: true, xorOut: 0xffff })
export const crc16Modbus = crc({ width: 16, polynomial: 0x8005, initial: 0xffff, reflected: true, xorOut: 0 })
export const crc16CcittFalse = crc({ width: 16, polynomial: 0x1021, initial: 0xffff, reflected: false, xorOut: 0 })
export const crc16Kermit = crc({ width: 16, polynomial: 0x1021, initial: 0, reflected: true, xorOut: 0 })
export const crc16Xmodem = crc({ width: 16, polynomial: 0x1021, initial: 0, reflected: false, xorOut: 0 })
export const crc16Mcrf4xx = crc({ width: 16, polynomial: 0x1021, initial: 0xffff, reflected: true, xorOut: 0 })
export const crc8Egts = crc({ width: 8, polynomial: 0x31, initial: 0xff, reflected: false, xorOut: 0 })
export const crc8Smbus = crc({ width: 8, polynomial: 0x07, initial: 0, reflected: false, xorOut: 0 })
export const crc8Maxim = crc({ width: 8, polynomial: 0x31, initial: 0, reflected: true, xorOut: 0 })
/** CRC-32/ISO-HDLC, of zip and Ethernet. */
export const crc32: Checksum = (bytes) => zlibCrc32(bytes)

/** All bytes combined by exclusive or, from the last on: a third faster, as no step looks at the length. */
export function xor(bytes: Uint8Array): number {
  let sum = 0
  for (let i = bytes.length - 1; i >= 0; i--) sum ^= bytes[i]
  return sum
}

/** The same of the characters of a Latin-1 text, from an index up to another: its bytes need not be made first. */
export function xorOfText(text: string, from = 0, to = text.length): number {
  let sum = 0
  for (let i = from; i < to; i++) sum ^= text.charCodeAt(i)
  return sum & 0xff
}

/** The lowest eight bits of the sum of all bytes, or of those before an index. */
export function sum8(bytes: Uint8Array, to = bytes.length): number {
  return sum16(bytes, to) & 0xff
}

/** The lowest sixteen bits of the same. */
export function sum16(bytes: Uint8Array, to = bytes.length): number {
  let sum = 0
  for (let i = to - 1; i >= 0; i--) sum += bytes[i]
  return sum & 0xffff
}

/** A checksum by its parameters, where the kit does not name it. */
export function crc(parameters: CrcParameters): Checksum {
  const { width, initial, reflected, xorOut } = parameters
  const table = crcTable(parameters)
  if (reflected) return reflectedCrc(table, initial, xorOut)
  const shift = width - 8
  const mask = width === 8 ? 0xff : width === 16 ? 0xffff : -1
  return (bytes) => {
    let value = initial
    for (let i = 0; i < bytes.length; i++) value = ((value << 8) & mask) ^ table[((value >>> shift) ^ bytes[i]) & 0xff]
    return (value ^ xorOut) >>> 0
  }
}

/** Reads four bytes a step, each with a table of its own: half the time of one byte a step. */
function reflectedCrc(last: Int32Array, initial: number, xorOut: number): Checksum {
  const withNext = (table: Int32Array) => table.map((value) => (value >>> 8) ^ last[value & 0xff])
  const third = withNext(last)
  const second = withNext(third)
  const first = withNext(second)
  return (bytes) => {
    let value = initial
    let i = 0
    for (const end = bytes.length - 3; i < end; i += 4) {
      const four = value ^ (bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24))
      value = first[four & 0xff] ^ second[(four >>> 8) & 0xff] ^ third[(four >>> 16) & 0xff] ^ last[four >>> 24]
    }
    for (; i < bytes.length; i++) value = (value >>> 8) ^ last[(value ^ bytes[i]) & 0xff]
    return (value ^ xorOut) >>> 0
  }
}

function crcTable({ width, polynomial, reflected }: CrcParameters): Int32Array {
  const top = 1 << (width - 1)
  const mask = width === 32 ? -1 : top * 2 - 1
  const reversed = reverse(polynomial, width)
  const step = reflected
    ? (value: number) => (value & 1 ? (value >>> 1) ^ reversed : value >>> 1)
    : (value: number) => (value & top ? (value << 1) ^ polynomial : value << 1) & mask
  return Int32Array.from({ length: 256 }, (_, byte) => {
    let value = reflected ? byte : byte << (width - 8)
    for (let bit = 0; bit < 8; bit++) value = step(value)
    return value
  })
}

function reverse(value: number, width: number): number {
  let reversed = 0
  for (let bit = 0; bit < width; bit++) if (value & (1 << bit)) reversed |= 1 << (width - 1 - bit)
  return reversed
}

/**
 * Notes that the checksum of a frame fits: evidence of its protocol on a shared port.
 * @throws DecodeError `checksum` where it does not, unless the session is lenient.
 */
export function verify(isRight: boolean, session: Session): void {
  if (isRight) session.hasVerified = true
  else if (!session.lenient) throw new DecodeError('checksum')
}

/** Where a frame has its checksum, and over what. */
interface ChecksumPlace {
  readonly sum: Checksum
  /** Index of the first byte that is covered; the checksum follows the last one. */
  readonly from: number
  /** Bytes of the checksum; of hexadecimal text its digits. */
  readonly width: 1 | 2 | 4
  readonly endian?: 'big' | 'little'
  /** Bytes behind the checksum. */
  readonly trailing?: number
}

/**
 * Checks the checksum at the end of a frame, and returns what it covers: the envelope of most protocols.
 * @throws DecodeError `truncated` where the frame is too short for both, `checksum`.
 */
export function verified(frame: Buffer, place: ChecksumPlace, session: Session): Buffer {
  const { sum, from, width, endian = 'big', trailing = 0 } = place
  const at = frame.length - trailing - width
  if (at < from) throw new DecodeError('truncated')
  const covered = frame.subarray(from, at)
  verify(sum(covered) === (endian === 'big' ? frame.readUIntBE(at, width) : frame.readUIntLE(at, width)), session)
  return covered
}

/** The same for a checksum in two or four hexadecimal digits of either case. @throws DecodeError */
export function verifiedHex(frame: Buffer, place: Omit<ChecksumPlace, 'endian'>, session: Session): Buffer {
  const { sum, from, width, trailing = 0 } = place
  const at = frame.length - trailing - width
  if (at < from) throw new DecodeError('truncated')
  const covered = frame.subarray(from, at)
  const digits = frame.toString('latin1', at, at + width)
  verify(sum(covered).toString(16).padStart(width, '0') === digits.toLowerCase(), session)
  return covered
}
