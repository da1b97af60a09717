import {
  ByteReader,
  crc16Xmodem,
  dop,
  type Fix,
  heading,
  kmh,
  type Message,
  type Session,
  secondsSince,
  verified,
} from '../kit/index.ts'
import { REPLY } from './text.ts'

const since2000 = secondsSince(2000)
/** Bytes of the fields of a position, by their bits: satellites, place, speed, course, altitude, HDOP and VDOP. */
const WIDTHS = [1, 8, 2, 2, 2, 4]
const PLACE = 2
const SATELLITES = 0x1f

/** The message of the content between two flags. @throws DecodeError */
export function binary(content: Buffer, session: Session): Message {
  const r = new ByteReader(verified(content, { sum: crc16Xmodem, from: 0, width: 2 }, session)).skip(2)
  const device = String(r.uint(3) * 2 ** 32 + r.u32())
  const time = since2000(r.u32())
  r.skip(2)
  const length = r.u8()
  const mask = r.u16()
  if ((mask & PLACE) === 0 || length !== lengthBy(mask)) return { device, fixes: [], reply: REPLY }
  const has = (bit: number) => (mask & (1 << bit)) !== 0
  const fix: Fix = {
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
  return { device, fixes: [fix], reply: REPLY }
}

/** How long a position with these fields is; −1 with others. */
function lengthBy(mask: number): number {
  if (mask >= 1 << WIDTHS.length) return -1
  return WIDTHS.reduce((length, width, bit) => length + (mask & (1 << bit) ? width : 0), 0)
}
