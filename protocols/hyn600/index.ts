/*
 * HYN 600 and its relatives: no specification is known: inferred from frames. Big-endian.
 *
 *   +RPT: LLLL IIIIIIIIIIIIIIII 7 bytes MMMM values YYYYMMDDhhmmss NNNN #
 *   +ACK: LLLL …                        answer to a command
 *
 *   L  length of all of it      I  IMEI: each byte two digits, the last one      M  which values there are      N  number
 *
 *   values  bit 1: a byte; bit 2: voltage, 2 bytes; bit 3: battery, a byte; two bytes; bit 4: the number of positions, a byte
 *           (1 without it); bit 8: so many of  F Q VVVV GGGG HHHH AAAAAAAA OOOOOOOO YYYYMMDDhhmmss [4 bytes]
 *
 *   F  bit 1: it is a fix, 4 bytes follow; year 0: there is none      G  heading             Q  HDOP
 *   A, O  latitude, longitude, 1e-6 degrees      V  speed, km/h            H  altitude, m
 *
 * Nothing is answered.
 */
import {
  ByteReader,
  DecodeError,
  dop,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  utc,
} from '../kit/index.ts'

export default {
  name: 'hyn600',
  devices: 'HYN600',
  integrity: { none: 'no checksum fits the frames' },
  tcp: { port: 5258, frame: lengthField({ start: ['+RPT:', '+ACK:'], at: 5, width: 2, add: 0, end: '#' }) },
  decode,
} satisfies Protocol

const HAS_COUNT = 0x10
const HAS_POSITIONS = 0x100
const KNOWN = 0x11e
const HAS_FIX = 0x02

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const type = r.ascii(5)
  if (type !== '+RPT:' && type !== '+ACK:') throw new DecodeError('unsupported', 'the frame begins with no type')
  const device = imei(r.skip(2).slice(8))
  if (type === '+ACK:') return { device, none: 'command answer' }
  const values = r.skip(7).u16()
  if ((values & HAS_POSITIONS) === 0) return { device, none: 'status' }
  if ((values & ~KNOWN) !== 0) return { device, fixes: [] }
  for (const [bit, width] of WIDTHS) if ((values & bit) !== 0) r.skip(width)
  const count = r.skip(2) && (values & HAS_COUNT) !== 0 ? r.u8() : 1
  const fixes: Fix[] = []
  for (let i = 0; i < count; i++) {
    const fix = position(r)
    if (fix) fixes.push(fix)
  }
  return fixes.length > 0 ? { device, fixes } : { device, none: 'no fix' }
}

const WIDTHS = [
  [0x02, 1],
  [0x04, 2],
  [0x08, 1],
] as const

function imei(bytes: Buffer): string {
  const digits = Array.from(bytes, (byte, i) => String(byte).padStart(i < 7 ? 2 : 1, '0')).join('')
  if (digits.length !== 15) throw new DecodeError('malformed', 'the frame has no IMEI')
  return digits
}

function position(r: ByteReader): Fix | undefined {
  const flags = r.u8()
  const hdop = dop(r.u8())
  const speed = kmh(r.u16())
  const course = heading(r.u16())
  const altitude = r.i16()
  const latitude = r.i32() / 1e6
  const longitude = r.i32() / 1e6
  const [year, month, day, hour, minute, second] = [r.u16(), r.u8(), r.u8(), r.u8(), r.u8(), r.u8()]
  if ((flags & HAS_FIX) !== 0) r.skip(4)
  if (year === 0) return undefined
  const time = utc(year, month, day, hour, minute, second)
  return { time, latitude, longitude, valid: (flags & HAS_FIX) !== 0, altitude, speed, heading: course, hdop }
}
