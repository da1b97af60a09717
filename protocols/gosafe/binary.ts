import {
  ByteReader,
  crc16Xmodem,
  DecodeError,
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
/** Bit of the first byte. */
const BATCH = 0x40
/** Blocks of a record, by the bits of its mask. */
const SYSTEM = 1
const GPS = 2
/** Bytes of a position's mask, and of its fields by their bits: satellites, place, speed, course, altitude, HDOP, VDOP. */
const MASK = 2
const WIDTHS = [1, 8, 2, 2, 2, 2, 2]
const PLACE = 2
const SATELLITES = 0x1f

/** The message of the content between two flags. @throws DecodeError */
export function binary(content: Buffer, session: Session): Message {
  const r = new ByteReader(verified(content, { sum: crc16Xmodem, from: 0, width: 2 }, session))
  if (r.u8() & BATCH) throw new DecodeError('unsupported', 'it is a batch, as Proma Sat sends it')
  r.skip(1)
  const device = String(r.uint(3) * 2 ** 32 + r.u32())
  const time = since2000(r.u32())
  const blocks = r.u16()
  if ((blocks & GPS) === 0) return { device, none: 'no place', reply: REPLY }
  if (blocks & SYSTEM) r.skip(r.u8())
  const fix = position(r.part(r.u8()), time)
  return { device, fixes: fix ? [fix] : [], reply: REPLY }
}

/** Undefined where the block has other fields. */
function position(r: ByteReader, time: number): Fix | undefined {
  const length = r.left
  const mask = r.u16()
  if ((mask & PLACE) === 0 || length !== lengthBy(mask)) return undefined
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

/** How long a position with these fields is; −1 with others. */
function lengthBy(mask: number): number {
  if (mask >= 1 << WIDTHS.length) return -1
  return WIDTHS.reduce((length, width, bit) => length + (mask & (1 << bit) ? width : 0), MASK)
}
