/*
 * NIOT trackers: no specification is known: inferred from frames, which are like those of KHD. Big-endian.
 *
 *   58 58 TT LLLL IIIIIIIIIIIIIIII content XX 0D
 *
 *   L  length behind it      I  IMEI, packed decimals      X  XOR of everything before it
 *
 *   80, and others that begin like it
 *       YYMMDDhhmmss AAAAAAAA OOOOOOOO ???? GGGG F MMMMMMMM ?????? N S UUUU B V …
 *
 *   YYMMDDhhmmss, G  packed decimals      A, O  latitude, longitude, 1/30000 minute, the highest bit: south, west
 *   G  heading     F  bit 7: a fix        M  mileage     N  satellites     S, U, B  signal, voltage, battery
 *   V  speed, km/h; what stands in front of G is open
 *
 * Answer: 58 58 21 0005 X T 00, XOR, 0D.
 */
import {
  ByteReader,
  ByteWriter,
  bcdYmd,
  DecodeError,
  type Fix,
  heading,
  isBcdYmd,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Session,
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
    ? { device, fixes: [position(r)], reply }
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
  const course = heading(Number(r.skip(2).bcd(2)))
  const valid = (r.u8() & HAS_FIX) !== 0
  const satellites = r.skip(7).u8()
  return { time, latitude, longitude, valid, speed: kmh(r.skip(4).u8()), heading: course, satellites }
}
