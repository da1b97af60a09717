import type { ByteReader } from './bytes.ts'
import { DecodeError, readableFixes } from './errors.ts'
import type { Fix, Message } from './protocol.ts'
import { bytesYmd, secondsSince } from './times.ts'
import { digitsDegreesMinutes, dop, heading, kmh, knots, utcDmy } from './units.ts'

/*
 * Positions that several protocols have in the same bytes.
 *
 *   records  TTTTTTTT BBBB block…    T  seconds since 2000, bit n of B: block n is there, behind its length; block 1: masked
 *   masked   MMMM [F] [AAAAAAAA OOOOOOOO] [SSSS] [CCCC] [HHHH] [PPPP] [VVVV]       M: which of them follow, from bit 0 on
 *   packed   DDMMYY hhmmss ddmmmmmm dddmmmmmmF SS CC      F: bit 0 fix, 1 north, 2 east; S knots, C 2°
 *   Concox   YYMMDDhhmmss F AAAAAAAA OOOOOOOO S GGGG                                A, O 1/30000 minute, see `flagged` for G
 *
 *   A, O  latitude, longitude, 1e-6 degrees     F  satellites, in bits 0–4     S  km/h     C  degrees
 *   H     metres                                P, V  HDOP, VDOP, 0.01
 */

/** What records of Gosafe and Proma Sat say. @throws DecodeError of one that is cut off */
export function maskedRecords(r: ByteReader, count: number): Message {
  const positions: { time: number; block: ByteReader }[] = []
  for (let left = count; left > 0 && r.left > 0; left--) {
    const time = since2000(r.u32())
    const mask = r.u16()
    for (let bit = 0; bit < BLOCKS; bit++) {
      if ((mask & (1 << bit)) === 0) continue
      const block = r.part(r.u8())
      if (bit === GPS) positions.push({ time, block })
    }
  }
  return readableFixes(positions, ({ time, block }) => maskedFix(block, time), { none: 'no place' })
}

const since2000 = secondsSince(2000)
const [GPS, BLOCKS] = [1, 16]

/** The position that a block is, measured at a time. @throws DecodeError where it has other fields, or no place */
function maskedFix(r: ByteReader, time: number): Fix {
  const length = r.left
  const mask = r.u16()
  if ((mask & PLACE) === 0 || length !== lengthBy(mask))
    throw new DecodeError('unsupported', 'the fields of its position are not known')
  const has = (bit: number) => (mask & (1 << bit)) !== 0
  return {
    time,
    valid: true,
    satellites: has(0) ? r.u8() & SATELLITES : undefined,
    latitude: r.i32() / 1e6,
    longitude: r.i32() / 1e6,
    speed: has(2) ? kmh(r.u16()) : undefined,
    heading: has(3) ? heading(r.u16()) : undefined,
    altitude: has(4) ? r.i16() : undefined,
    hdop: has(5) ? dop(r.u16() / 100) : undefined,
  }
}

const MASK = 2
const WIDTHS = [1, 8, 2, 2, 2, 2, 2]
const PLACE = 2
const SATELLITES = 0x1f

/** How long a position with these fields is; −1 with others. */
function lengthBy(mask: number): number {
  if (mask >= 1 << WIDTHS.length) return -1
  return WIDTHS.reduce((length, width, bit) => length + (mask & (1 << bit) ? width : 0), MASK)
}

/** A position of Jointech in packed decimals, up to its course. @throws DecodeError `malformed`. */
export function packedFix(r: ByteReader): Fix {
  const time = utcDmy(r.bcd(3), r.bcd(3))
  const latitude = digitsDegreesMinutes(r.bcd(4), 2)
  const digits = r.hex(5)
  const longitude = digitsDegreesMinutes(digits.slice(0, 9), 3)
  const flags = Number.parseInt(digits[9], 16)
  return {
    time,
    latitude: flags & 2 ? latitude : -latitude,
    longitude: flags & 4 ? longitude : -longitude,
    valid: (flags & 1) !== 0,
    speed: knots(r.u8()),
    heading: heading(r.u8() * 2),
    // What may stand behind it: to add members to an object later is slow.
    altitude: undefined,
    satellites: undefined,
    said: undefined,
  }
}

/** A position of Concox trackers and of those that resemble them, up to its flags. @throws DecodeError `malformed`. */
export function concoxFix(r: ByteReader, endian: 'big' | 'little' = 'big'): Fix {
  const time = bytesYmd(r)
  const satellites = r.u8() & 0x0f
  const isBig = endian === 'big'
  const latitude = (isBig ? r.u32() : r.u32le()) / 1.8e6
  const longitude = (isBig ? r.u32() : r.u32le()) / 1.8e6
  const speed = kmh(r.u8())
  return flagged({ time, latitude, longitude, valid: false, speed, satellites }, isBig ? r.u16() : r.u16le())
}

/** A fix with its flags: bit 12 says that it is one, bit 11 that it is west, bit 10 north; its heading is in bits 0–9. */
export function flagged(fix: Fix, flags: number): Fix {
  const latitude = flags & 0x0400 ? fix.latitude : -fix.latitude
  const longitude = flags & 0x0800 ? -fix.longitude : fix.longitude
  return { ...fix, latitude, longitude, valid: (flags & 0x1000) !== 0, heading: heading(flags & 0x03ff) }
}
