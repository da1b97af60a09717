import { DecodeError } from './errors.ts'
import type { Session } from './protocol.ts'

/** How one cyclic redundancy check is computed, in the terms of the CRC catalogue. */
interface CrcParameters {
  readonly width: 8 | 16
  /** Polynomial, most significant bit first. */
  readonly polynomial: number
  readonly initial: number
  readonly reflected: boolean
  readonly xorOut: number
}

/** A checksum over all bytes of a view. Callers cut the view, so that a length from the wire is never trusted. */
type Checksum = (bytes: Uint8Array) => number

export const crc16Arc = crc({ width: 16, polynomial: 0x8005, initial: 0, reflected: true, xorOut: 0 })
export const crc16X25 = crc({ width: 16, polynomial: 0x1021, initial: 0xffff, reflected: true, xorOut: 0xffff })
export const crc16Modbus = crc({ width: 16, polynomial: 0x8005, initial: 0xffff, reflected: true, xorOut: 0 })
export const crc16CcittFalse = crc({ width: 16, polynomial: 0x1021, initial: 0xffff, reflected: false, xorOut: 0 })
export const crc16Kermit = crc({ width: 16, polynomial: 0x1021, initial: 0, reflected: true, xorOut: 0 })
export const crc16Xmodem = crc({ width: 16, polynomial: 0x1021, initial: 0, reflected: false, xorOut: 0 })
export const crc8Egts = crc({ width: 8, polynomial: 0x31, initial: 0xff, reflected: false, xorOut: 0 })

/** All bytes combined by exclusive or. */
export function xor(bytes: Uint8Array): number {
  let sum = 0
  for (let i = 0; i < bytes.length; i++) sum ^= bytes[i]
  return sum
}

/** The lowest eight bits of the sum of all bytes. */
export function sum8(bytes: Uint8Array): number {
  let sum = 0
  for (let i = 0; i < bytes.length; i++) sum = (sum + bytes[i]) & 0xff
  return sum
}

function crc(parameters: CrcParameters): Checksum {
  const { width, initial, reflected, xorOut } = parameters
  const table = crcTable(parameters)
  const shift = width - 8
  const mask = width === 8 ? 0xff : 0xffff
  return reflected
    ? (bytes) => {
        let value = initial
        for (let i = 0; i < bytes.length; i++) value = (value >>> 8) ^ table[(value ^ bytes[i]) & 0xff]
        return value ^ xorOut
      }
    : (bytes) => {
        let value = initial
        for (let i = 0; i < bytes.length; i++)
          value = ((value << 8) & mask) ^ table[((value >>> shift) ^ bytes[i]) & 0xff]
        return value ^ xorOut
      }
}

function crcTable({ width, polynomial, reflected }: CrcParameters): Uint16Array {
  const top = 1 << (width - 1)
  const mask = top * 2 - 1
  const step = reflected
    ? (value: number) => (value & 1 ? (value >>> 1) ^ reverse(polynomial, width) : value >>> 1)
    : (value: number) => (value & top ? (value << 1) ^ polynomial : value << 1) & mask
  return Uint16Array.from({ length: 256 }, (_, byte) => {
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
