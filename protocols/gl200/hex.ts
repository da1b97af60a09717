/*
 * The @Track protocol in binary ("HEX" in the manuals), of GV and GB models. Big-endian.
 *
 *   +RSP TT MMMMMMMM LLLL DD VVVV FFFF IIIIIIIIIIIIIIII … A SSSS s GGGG HHHH OOOOOOOO YYYYYYYY YYYYMMDDhhmmss … KKKK CCCC 0D0A
 *   +EVT events, +INF status, +CRD crash data in the same way; +BSP, +BVT, +BNF, +BRD: the same, sent later
 *   +ACK TT MM LL …, +LGN TT MM LLLL …, +HBD MM LL …
 *
 *   T  type of report               I  IMEI, one byte 0–99 for two digits, the  A  HDOP; 0: the last known place
 *   M  which fields it has             last for one; a name, where bit 6 of M   S  km/h, s its tenths    G  heading
 *   L  length of the frame             is set                                   H  altitude, m    K  count
 *   D, V, F  model, versions        O, Y  longitude, latitude, 1e-6 degrees     C  CRC-16/CCITT-FALSE, T to K
 *
 * What stands between I and a place differs by type, model and mask. A place is found by its last part: coordinates and a date
 * of the calendar. No answer is known. Type 100, a place and differences to it: compressed.ts.
 *
 *   2B 00 LLLL 00 IIIIIIIIIIIIIIII x{6} m UUUUUUUU x{7} [OOOOOOOO YYYYYYYY UUUUUUUU SSSS A GGGG HHHHHH s] … 24
 *
 * Frames of newer models (GL601), as far as frames of several devices show: I packed decimals, m bit 0: a place follows,
 * U unix seconds of the report and of the place, S 0.1 km/h, A 0.1, H 0.1 m, s satellites.
 */
import {
  ByteReader,
  crc16CcittFalse,
  DecodeError,
  dop,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Mark,
  type Message,
  type Session,
  shortFix,
  utc,
  verified,
} from '../kit/index.ts'
import { compressedPlaces } from './compressed.ts'

const NEWER = Buffer.of(0x2b, 0)

/** What frames begin with, and where their length is. */
export const hexFrames = [
  framed(['+RSP', '+EVT', '+INF', '+CRD', '+BSP', '+BVT', '+BNF', '+BRD'], { at: 9, width: 2 }),
  framed(['+ACK'], { at: 6, width: 1 }),
  framed(['+LGN'], { at: 6, width: 2 }),
  framed(['+HBD'], { at: 5, width: 1 }),
  { when: NEWER, frame: lengthField({ start: NEWER, at: 2, width: 2, add: 0, end: '$' }) },
]

function framed(when: readonly Mark[], length: { readonly at: number; readonly width: number }) {
  return { when, frame: lengthField({ start: when, ...length, add: 0, end: '\r\n' }) }
}

/** What the checksum of a frame covers: nothing of text and of newer binary frames. */
export function hexCovers(frame: Buffer): readonly [from: number, to: number] {
  return frame[4] === COLON || frame[5] === COLON || NEWER.equals(frame.subarray(0, 2)) ? [0, 0] : [4, -4]
}

const COLON = 0x3a

/** Frames that are no reports, and why they hold no place. */
const NONE = new Map([
  ['+ACK', 'command answer'],
  ['+HBD', 'heartbeat'],
  ['+INF', 'status'],
  ['+BNF', 'status'],
  ['+LGN', 'login'],
])
/** A place and differences to it. */
const COMPRESSED = 100
/** Bit of M: the id is a name. */
const NAMED = 0x40
/** Bit of m. */
const HAS_PLACE = 1
/** Bytes from A to H, from O to the date, and from the date of sending to the end. */
const MOTION = 8
const PLACE = 15
const TAIL = 13

/** @throws DecodeError */
export function decodeHex(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  if (NEWER.equals(frame.subarray(0, 2))) return newer(r)
  verified(frame, { sum: crc16CcittFalse, from: 4, width: 2, trailing: 2 }, session)
  const none = NONE.get(r.ascii(4))
  if (none !== undefined && !none.startsWith('status')) return { none }
  const type = r.u8()
  const mask = r.u32()
  const device = deviceOf(r.skip(7).slice(8), (mask & NAMED) !== 0)
  if (none !== undefined) return { device, none }
  const fixes = (type === COMPRESSED ? compressedPlaces : places)(frame.subarray(r.position, -TAIL))
  return { device, fixes }
}

function newer(r: ByteReader): Message {
  const device = r.skip(4).bcd(9).replace(/^0+/, '')
  if ((r.skip(6).u8() & HAS_PLACE) === 0) return { device, none: 'no place' }
  return { device, fixes: [shortFix(r.skip(11))] }
}

function deviceOf(id: Buffer, isNamed: boolean): string {
  if (isNamed) return id.toString('latin1').replace(/\0+$/, '')
  if (id.some((byte) => byte > 99)) throw new DecodeError('malformed', 'the id is not decimals')
  return Array.from(id, (byte, i) => String(byte).padStart(i < 7 ? 2 : 1, '0')).join('')
}

function places(bytes: Buffer): Fix[] {
  const fixes: Fix[] = []
  for (let at = MOTION; at + PLACE <= bytes.length; at++) {
    const fix = placeAt(bytes, at)
    if (fix) {
      fixes.push(fix)
      at += PLACE - 1
    }
  }
  return fixes
}

/** Undefined where no coordinates with a date stand at an index. */
function placeAt(bytes: Buffer, at: number): Fix | undefined {
  const year = bytes.readUInt16BE(at + 8)
  const [month, day, hour, minute, second] = bytes.subarray(at + 10, at + PLACE)
  if (year < 2000 || year > 2099 || month < 1 || month > 12 || day < 1 || day > 31) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const longitude = bytes.readInt32BE(at) / 1e6
  const latitude = bytes.readInt32BE(at + 4) / 1e6
  if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90) return undefined
  const r = new ByteReader(bytes).at(at - MOTION)
  const hdop = dop(r.u8())
  const speed = kmh(r.u16() + r.u8() / 10)
  const direction = heading(r.u16())
  const time = utc(year, month, day, hour, minute, second)
  return { time, latitude, longitude, valid: true, altitude: r.i16(), speed, heading: direction, hdop }
}
