/*
 * Trackers of motor cycles. No specification is known: inferred from one frame. A line of hexadecimal digits, pairs of which
 * are bytes, most of them packed decimals:
 *
 *   IIIIIIII 7E7E0000 7E7E 0203 01 80 AAAAAAAA OOOOOOOOOO SSSS GGGG YYMMDDhhmmss …
 *
 *   I  id, 32 bits, low byte first     A, O  ddmm.mmmm, 0dddmm.mmmm     S  speed, 1/10 knot     G  heading, 1/10 degree
 *
 * The order of the parts of the date is a guess. What stands for south and west is not known: all places are north and east. Nothing is answered.
 */
import {
  ByteReader,
  DecodeError,
  digitsDegreesMinutes,
  enveloped,
  type Fix,
  heading,
  knots,
  line,
  type Message,
  optionalNumber,
  type Protocol,
  packedNumber,
  trimEnd,
  utcYmd,
} from '../kit/index.ts'

export default {
  name: 'motor',
  devices: 'trackers of motor cycles',
  tcp: { port: 5202, frame: line },
  decode,
} satisfies Protocol

const POSITION = 0x0203

function decode(frame: Buffer): Message {
  const text = trimEnd(frame).toString('latin1')
  if (!/^[0-9A-F]{8}7E7E00007E7E/i.test(text))
    throw new DecodeError('unsupported', 'the frame has no 7E7E behind the id')
  const r = new ByteReader(Buffer.from(text, 'hex'))
  const device = r.u32le().toString(16).padStart(8, '0')
  if (r.skip(6).u16() !== POSITION) return { device }
  return enveloped({ device }, () => ({ fixes: [positionOf(r)] }))
}

function positionOf(r: ByteReader): Fix {
  const latitude = digitsDegreesMinutes(r.skip(2).bcd(4), 2)
  const longitude = digitsDegreesMinutes(r.bcd(5).slice(1), 3)
  const speed = optionalNumber(packedNumber(r.hex(2)), (tenths) => knots(tenths / 10))
  const course = heading(optionalNumber(packedNumber(r.hex(2)), (tenths) => tenths / 10))
  const time = utcYmd(r.bcd(6))
  return { time, latitude, longitude, valid: true, speed, heading: course }
}
