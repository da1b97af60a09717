import {
  crc16Arc,
  crc16CcittFalse,
  crc16Kermit,
  crc16Modbus,
  crc16X25,
  crc16Xmodem,
  sum8,
  verify,
  xor,
} from './checksum.ts'
import type { Integrity, Session } from './protocol.ts'
import { digitOf, hexadecimal } from './text.ts'

const SUMS = {
  xor,
  sum8,
  'CRC-16/ARC': crc16Arc,
  'CRC-16/CCITT-FALSE': crc16CcittFalse,
  'CRC-16/KERMIT': crc16Kermit,
  'CRC-16/MODBUS': crc16Modbus,
  'CRC-16/X-25': crc16X25,
  'CRC-16/XMODEM': crc16Xmodem,
}

/**
 * How a line is checked: by a checksum in hexadecimal digits behind its last `to`, by a function `before` it is read,
 * or not, and why not.
 */
export type TextIntegrity =
  | Integrity
  | {
      readonly sum: keyof typeof SUMS
      /** Where it begins to cover the line: an index, or behind the first occurrence of a text (0). */
      readonly from?: number | string
      /** The text that precedes the digits. */
      readonly to: string
      /** Whether it covers `to` as well. */
      readonly includesTo?: boolean
      /** How many digits there are; without it they may be one to four. */
      readonly digits?: number
      /** Lines without a checksum are read too. */
      readonly optional?: boolean
    }

/** Looks at the checksum of a line. @throws DecodeError `checksum` */
type Check = (bytes: Buffer, text: string, session: Session) => void

interface Checked {
  readonly integrity?: Integrity
  readonly check?: Check
}

export function checkOf(integrity?: TextIntegrity): Checked {
  if (!integrity || !('sum' in integrity)) return { integrity }
  const { sum, from = 0, to, includesTo = false, digits, optional = false } = integrity
  const coveredIn = (text: string, end: number): readonly [number, number] => [
    typeof from === 'string' ? text.indexOf(from) + from.length : from,
    end + (includesTo ? to.length : 0),
  ]
  return {
    integrity: {
      checksum: sum,
      covers(frame) {
        const text = frame.toString('latin1')
        return coveredIn(text, text.lastIndexOf(to))
      },
    },
    check(bytes, text, session) {
      const end = text.lastIndexOf(to)
      const written = end < 0 ? Number.NaN : digitsAt(text, end + to.length, digits)
      if (Number.isNaN(written) && optional) return
      verify(written === SUMS[sum](bytes.subarray(...coveredIn(text, end))), session)
    },
  }
}

/** The number of so many hexadecimal digits, or of one to four, at an index of a text; NaN if there are fewer. */
function digitsAt(text: string, at: number, digits?: number): number {
  if (digits !== undefined) return hexadecimal(text, at, at + digits)
  let end = at
  while (end < at + MOST_DIGITS && digitOf(text.charCodeAt(end)) < 16) end++
  return hexadecimal(text, at, end)
}

const MOST_DIGITS = 4
