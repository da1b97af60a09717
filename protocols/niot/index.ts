/*
 * NIOT trackers: no specification is known: inferred from frames, which are like those of KHD. Big-endian.
 *
 *   58 58 TT LLLL IIIIIIIIIIIIIIII content XX 0D
 *
 *   L  length behind it      I  IMEI, packed decimals      X  XOR of everything before it
 *
 *   80, and others that begin like it
 *       YYMMDDhhmmss AAAAAAAA OOOOOOOO ???? GGGG F MMMMMMMM J????? N B UUUU ?? V …
 *
 *   YYMMDDhhmmss, G  packed decimals      A, O  latitude, longitude, 1/30000 minute, the highest bit: south, west
 *   G  heading     F  bit 7: a fix        M  mileage     N  satellites     U, B  external voltage, battery, 0.1 V
 *   J  bit 7: ignition off, as in KHD
 *   V  speed, km/h; ? is open
 *
 * Answer: 58 58 21 0005 X T 00, XOR, 0D.
 */
import {
  ByteReader,
  ByteWriter,
  bcdYmd,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  isBcdYmd,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  packedNumber,
  type Session,
  said,
  signMagnitude,
  verified,
  xor,
} from '../kit/index.ts'

export default {
  name: 'niot',
  devices: 'NIOT trackers',
  acknowledges: 'fixes',
  integrity: { checksum: 'XOR', covers: [0, -2] },
  tcp: { port: 5210, frame: lengthField({ start: 'XX', at: 3, width: 2, add: 5 }) },
  decode,
} satisfies Protocol

const POSITION = 0x80
const ANSWER = 0x21
const HAS_FIX = 0x80
const IGNITION_OFF = 0x80

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: xor, from: 0, width: 1, trailing: 1 }, session))
  if (r.u16() !== 0x5858) throw new DecodeError('unsupported', 'the frame does not begin with 58 58')
  const type = r.u8()
  const device = r.skip(2).bcd(8).replace(/^0+/, '')
  const w = new ByteWriter()
    .u16(0x5858)
    .u8(ANSWER)
    .u16(5)
    .u8(frame[frame.length - 2])
    .u8(type)
    .u8(0)
  const reply = w.xor().u8(0x0d).toBuffer()
  return type === POSITION || beginsLikePosition(frame, r.position)
    ? enveloped({ device, reply }, () => ({ fixes: [position(r)] }))
    : { device, reply }
}

/** Whether a date of the calendar, a place on Earth and a course stand where a position has them. */
function beginsLikePosition(frame: Buffer, at: number): boolean {
  if (frame.length < at + LEAST || !isBcdYmd(frame, at)) return false
  const [latitude, longitude] = [6, 10].map((offset) => frame.readUInt32BE(at + offset) & 0x7fff_ffff)
  return (
    latitude <= 90 * PER_DEGREE &&
    longitude <= 180 * PER_DEGREE &&
    /^[0-3]\d{3}$/.test(frame.toString('hex', at + 16, at + 18))
  )
}

/** Bytes of a position up to its speed, and units of a degree. */
const [LEAST, PER_DEGREE] = [32, 1_800_000]

function position(r: ByteReader): Fix {
  const time = bcdYmd(r)
  const latitude = signMagnitude(r.u32(), 32) / PER_DEGREE
  const longitude = signMagnitude(r.u32(), 32) / PER_DEGREE
  const course = heading(packedNumber(r.skip(2).hex(2)))
  const valid = (r.u8() & HAS_FIX) !== 0
  const ignition = (r.skip(4).u8() & IGNITION_OFF) === 0
  const satellites = r.skip(2).u8()
  const power = said({ ignition, battery_voltage: r.u8() / 10, external_voltage: r.u16() / 10 })
  return { time, latitude, longitude, valid, speed: kmh(r.skip(1).u8()), heading: course, satellites, said: power }
}
