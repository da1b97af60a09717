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
const POSITION = 19
const ALL_FIELDS = 0x3f
const SATELLITES = 0x1f

/** The message of the content between two flags. @throws DecodeError */
export function binary(content: Buffer, session: Session): Message {
  const r = new ByteReader(verified(content, { sum: crc16Xmodem, from: 0, width: 2 }, session)).skip(2)
  const device = String(r.uint(3) * 2 ** 32 + r.u32())
  const time = since2000(r.u32())
  r.skip(2)
  if (r.u8() !== POSITION || r.u16() !== ALL_FIELDS) return { device, fixes: [], reply: REPLY }
  const flags = r.u8()
  const fix: Fix = {
    time,
    latitude: r.i32() / 1e6,
    longitude: r.i32() / 1e6,
    valid: true,
    speed: kmh(r.u16()),
    heading: heading(r.u16()),
    altitude: r.i16(),
    hdop: dop(r.u16() / 100),
    satellites: flags & SATELLITES,
  }
  return { device, fixes: [fix], reply: REPLY }
}
