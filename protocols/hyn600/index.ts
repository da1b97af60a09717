/*
 * HYN 600 and its relatives: no specification is known: inferred from frames. Big-endian.
 *
 *   +RPT: LLLL IIIIIIIIIIIIIIII 3 bytes EE 3 bytes MMMM values YYYYMMDDhhmmss NNNN #
 *   +ACK: LLLL …                        answer to a command
 *
 *   L  length of all of it      I  IMEI: each byte two digits, the last one      M  which values there are      N  number
 *
 *   values  bit 1: a byte; bit 2: own battery, mV, 2 bytes; bit 3: its charge, %, a byte; a byte, one of inputs (bit 0: ignition);
 *           bit 4: the number of positions, a byte (1 without it); bit 8: so many of
 *           F Q VVVV GGGG HHHH AAAAAAAA OOOOOOOO YYYYMMDDhhmmss [4 bytes]
 *           then [cell: 11 bytes, if bit 4 is set] 4 bytes, supply, 0.01 V, 2 bytes, a byte (bit 1: moving)
 *
 *   E  event: 07 accident, 0E with 01 behind it: supply lost
 *   F  bit 1: it is a fix, 4 bytes follow; year 0: there is none      G  heading             Q  HDOP
 *   A, O  latitude, longitude, 1e-6 degrees      V  speed, km/h            H  altitude, m
 *
 * Nothing is answered.
 */
import {
  alarmsOf,
  ByteReader,
  DecodeError,
  dop,
  eachReadable,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Said,
  said,
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
/** Bytes of a position without what follows one that is a fix. */
const POSITION = 23

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const type = r.ascii(5)
  if (type !== '+RPT:' && type !== '+ACK:') throw new DecodeError('unsupported', 'the frame begins with no type')
  const device = imei(r.skip(2).slice(8))
  if (type === '+ACK:') return { device, none: 'command answer' }
  return enveloped({ device }, () => report(r))
}

function report(r: ByteReader): Message {
  const [event, detail] = [r.skip(3).u8(), r.u8()]
  const values = r.skip(2).u16()
  if ((values & HAS_POSITIONS) === 0) return { none: 'status' }
  if ((values & ~KNOWN) !== 0) return { fixes: [] }
  const isSet = (bit: number) => (values & bit) !== 0
  if (isSet(0x02)) r.skip(1)
  const voltage = isSet(0x04) ? r.u16() / 1000 : undefined
  const charge = isSet(0x08) ? r.u8() : undefined
  const ignition = (r.skip(1).u8() & 1) !== 0
  const count = isSet(HAS_COUNT) ? r.u8() : 1
  const entries = Array.from({ length: count }, () => r.part(r.peek() & HAS_FIX ? POSITION + 4 : POSITION))
  const { good, unreadable } = eachReadable(entries, position)
  const fixes = good.filter((fix) => fix !== undefined)
  const alarms = alarmsOf(event === 0x07 && 'accident', event === 0x0e && detail === 1 && 'power_cut')
  const besides = said({
    ...supplyAndMotion(r, isSet(HAS_COUNT)),
    ignition,
    battery_voltage: voltage,
    battery_percent: charge,
    alarms,
  })
  const last = fixes.at(-1)
  if (!last) return { none: 'no fix', said: besides, unreadable }
  last.said = besides
  return { fixes, unreadable }
}

function supplyAndMotion(r: ByteReader, hasCell: boolean): Said {
  const before = hasCell ? 15 : 4
  if (r.left < before + 3 + TAIL) return {}
  return { external_voltage: r.skip(before).u16() / 100, moving: (r.u8() & 2) !== 0 }
}

/** The time of the report, its number and the end. */
const TAIL = 10

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
  if (year === 0) return undefined
  const time = utc(year, month, day, hour, minute, second)
  return { time, latitude, longitude, valid: (flags & HAS_FIX) !== 0, altitude, speed, heading: course, hdop }
}
