/*
 * KHD KG100, KG200, KG300, KC200 and clones: "KHD GPS Tracker GPRS Communication Standard Protocol" V2.02 has the types; their
 * content is inferred from frames. "2929 Protocol and Data Transfer Format" V2.0 (BSJ): over UDP. Big-endian, packed decimals.
 *
 *   29 29 TT LLLL IIIIIIII content XX 0D
 *
 *   L  length behind it      I  id, shown in hexadecimal      X  XOR of everything before it
 *
 *   80, 81, 82, 85, 8E, A3  YYMMDDhhmmss AAAAAAAA OOOOOOOO VVVV GGGG F mileage3 S x{3} y{8} [EEEE tags]
 *   B1                      login; other types hold a position where they begin like one
 *
 *   A, O  latitude, longitude: dddmm.mmm, the highest bit: south, west     V  speed, km/h    G  heading    F  bit 7: a fix
 *   S     bit 7: ignition off                                         E  of A3: length of tags, each with a length; 20: charge, %
 *
 * Answer to B1 and 8E, over UDP to all: 29 29 21 0005 X T, the first byte behind I, XOR, 0D.
 */
import {
  ByteReader,
  ByteWriter,
  bcdYmd,
  DecodeError,
  degreesMinutes,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  optionalNumber,
  type Protocol,
  packedNumber,
  type Said,
  type Session,
  said,
  tlv,
  verified,
  xor,
} from '../kit/index.ts'

const packet = lengthField({ start: '))', at: 3, width: 2, add: 5 })

export default {
  name: 'khd',
  devices: 'KHD KG100, KG200, KG300',
  acknowledges: 'some',
  integrity: { checksum: 'XOR', covers: [0, -2] },
  tcp: { port: 5058, frame: packet },
  udp: { port: 5058, frame: packet },
  decode,
} satisfies Protocol

const POSITIONS = new Set([0x80, 0x81, 0x82, 0x85, 0x8e, 0xa3])
/** Content that begins with a date and two angles. */
const POSITION = /^\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{6}(?:[0189]\d{7}){2}/
const LOGIN = 0xb1
const ANSWERED = new Set([LOGIN, 0x8e])
const ANSWER = 0x21
const HAS_FIX = 0x80

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: xor, from: 0, width: 1, trailing: 1 }, session))
  if (r.u16() !== 0x2929) throw new DecodeError('unsupported', 'the frame does not begin with 29 29')
  const type = r.u8()
  const device = r.skip(2).hex(4)
  const reply = session.transport === 'udp' || ANSWERED.has(type) ? answer(frame, type) : undefined
  if (POSITIONS.has(type) || (type !== LOGIN && POSITION.test(frame.toString('hex', 9, 28))))
    return enveloped({ device, reply }, () => ({ fixes: [position(r, type)] }))
  return { device, none: type === LOGIN ? 'login' : undefined, reply }
}

function answer(frame: Buffer, type: number): Buffer {
  const w = new ByteWriter()
    .u16(0x2929)
    .u8(ANSWER)
    .u16(5)
    .u8(frame[frame.length - 2])
    .u8(type)
    .u8(frame[9])
  return w.xor().u8(0x0d).toBuffer()
}

function position(r: ByteReader, type: number): Fix {
  const time = bcdYmd(r)
  const latitude = angle(r)
  const longitude = angle(r)
  const speed = optionalNumber(packedNumber(r.hex(2)), kmh)
  const course = heading(packedNumber(r.hex(2)))
  const valid = (r.u8() & HAS_FIX) !== 0
  return { time, latitude, longitude, valid, speed, heading: course, said: saidOf(r, type) }
}

function saidOf(r: ByteReader, type: number): Said | undefined {
  if (r.left < MILEAGE + 1) return undefined
  const ignition = (r.skip(MILEAGE).u8() & IGNITION_OFF) === 0
  if (type !== TAGGED || r.left < TAGS + 2) return { ignition }
  for (const { tag, value } of tlv(r.skip(TAGS + 2), { tag: 1, length: 1 }))
    if (tag === CHARGE && value.left > 0) return said({ ignition, battery_percent: value.u8() })
  return { ignition }
}

/** Bytes of the mileage, and of what stands between the ignition and the tags. */
const [MILEAGE, TAGS] = [3, 11]
const IGNITION_OFF = 0x80
const [TAGGED, CHARGE] = [0xa3, 0x20]

/** Degrees of dddmmmmm in packed decimals; 8 more in the first digit: south or west. */
function angle(r: ByteReader): number {
  const first = r.u8()
  if ((first & 0x0f) > 9) throw new DecodeError('malformed', 'an angle is not packed decimals')
  const tens = ((first & 0x70) >> 4) * 10 + (first & 0x0f)
  const degrees = degreesMinutes(tens * 1000 + r.bcdByte() * 10 + r.bcdByte() / 10 + r.bcdByte() / 1000)
  return first >= 0x80 ? -degrees : degrees
}
