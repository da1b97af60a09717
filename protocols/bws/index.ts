/*
 * BWS. No specification is known: inferred from one frame and its answer. Big-endian:
 *
 *   00 IIIIIIII TT NN SSSSSSSS AAAAAAAA OOOOOOOO UU VV GGGG EEEE BB …
 *
 *   I  id, shown in hexadecimal     A, O  latitude, longitude, 1/360000 degree     G  heading, 1/10 degree
 *   T  01: a position               U     satellites                               V  speed, km/h
 *   E  external voltage, 0.1 V      B     battery, 0.1 V
 *   N  number                       S     unix seconds
 *
 * Answer: 00 I 40 N, and the lowest eight bits of the sum of what follows the first byte of I (a guess).
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  said,
} from '../kit/index.ts'

export default {
  name: 'bws',
  devices: 'BWS trackers',
  acknowledges: 'fixes',
  udp: { port: 5260 },
  decode,
} satisfies Protocol

const POSITION = 0x01
const ANSWER = 0x40

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  if (r.u8() !== 0) throw new DecodeError('unsupported', 'the frame does not begin with 00')
  const device = r.hex(4)
  const type = r.u8()
  const reply = new ByteWriter().u8(0).hex(device).u8(ANSWER).u8(r.u8()).sum8(2).toBuffer()
  return type === POSITION ? enveloped({ device, reply }, () => ({ fixes: [position(r)] })) : { device, reply }
}

function position(r: ByteReader): Fix {
  const time = r.u32() * 1000
  const latitude = r.i32() / 360_000
  const longitude = r.i32() / 360_000
  const satellites = r.u8()
  const moved = { speed: kmh(r.u8()), heading: heading(r.u16() / 10) }
  const told = r.left < 3 ? undefined : said({ external_voltage: r.u16() / 10, battery_voltage: r.u8() / 10 })
  return { time, latitude, longitude, valid: true, ...moved, satellites, said: told }
}
