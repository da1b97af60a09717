/*
 * Xirgo XT-2400. No specification is known: inferred from frames. UDP, big-endian; what a report has is set up in the device:
 * these are the two kinds that have been seen.
 *
 *   00 IIIIIIII nn TTTTTTTT AAAAAAAA OOOOOOOO HHHH SSSS CCCC ss PP VV …
 *   01 IIIIIIII nn xxxx TTTTTTTT AAAAAAAA OOOOOOOO HHHH xxxx PP ss …
 *
 *   V  external voltage, 0.1 V
 *   I  device      T  unix seconds      A, O  1e-6°      H  0.1 metres      C  0.1 degrees      s  satellites      P  HDOP, 0.1
 *
 * Nothing is answered. S is a speed whose unit is not known: it is not read.
 */
import { ByteReader, dop, heading, type Message, type Protocol, said } from '../kit/index.ts'

export default {
  name: 'xt2400',
  devices: 'Xirgo XT-2400',
  udp: { port: 5138 },
  decode,
} satisfies Protocol

const MOVING = 0
const STANDING = 1

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const kind = r.u8()
  const device = String(r.u32())
  r.skip(1)
  if (kind !== MOVING && kind !== STANDING) return { device }
  if (kind === STANDING) r.skip(2)
  const time = r.u32() * 1000
  const latitude = r.i32() / 1e6
  const longitude = r.i32() / 1e6
  const place = { time, latitude, longitude, valid: true, altitude: r.i16() / 10 }
  r.skip(2)
  if (kind === STANDING) {
    const hdop = dop(r.u8() / 10)
    return { device, fixes: [{ ...place, hdop, satellites: r.u8() }] }
  }
  const course = heading(r.u16() / 10)
  const satellites = r.u8()
  const hdop = dop(r.u8() / 10)
  const told = said({ external_voltage: r.left > 0 ? r.u8() / 10 : undefined })
  return { device, fixes: [{ ...place, heading: course, satellites, hdop, said: told }] }
}
