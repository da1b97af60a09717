/*
 * Neomatica ADM50, ADM100, ADM300, ADM333, ADM700: no specification is known: inferred from frames. Little-endian.
 *
 *   DDDD LL TT content                    L  length of all of it
 *   imei DDDD LL TT content               the IMEI, 15 digits, in front of the first record
 *
 *   T = 03  IMEI, 15 digits               T, low two bits 0  FF CCCC SSSS AAAAAAAA OOOOOOOO GGGG VVVV X HHHH Q N UUUUUUUU EEEE BBBB …
 *
 *   F  firmware        S  status: bit 5: no fix            G  course, 0.1°       X  acceleration    N  satellites, low half
 *   C  counter         A, O  latitude, longitude, float32  V  speed, 0.1 km/h    Q  HDOP, 0.1       U  unix seconds
 *   D  number     E  external voltage, mV                   H  altitude, m       B  battery, mV
 *
 * Nothing is answered.
 */
import {
  ByteReader,
  dialects,
  dop,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
} from '../kit/index.ts'

/** Digits of the IMEI in front of a record. */
const IMEI = 15

const framing = dialects([
  { when: beginsWithImei, frame: (bytes) => lengthBehind(bytes, IMEI) },
  { frame: (bytes) => lengthBehind(bytes, 0) },
])

export default {
  name: 'adm',
  devices: 'Neomatica ADM50, ADM100, ADM300, ADM333, ADM700',
  tcp: { port: 5092, frame: framing.frame },
  decode,
} satisfies Protocol

const LOGIN = 3
const KIND = 0x03
const COMMAND_ANSWER_LENGTH = 0x84
const NO_FIX = 0x20

function beginsWithImei(bytes: Buffer): boolean | 'maybe' {
  const end = Math.min(bytes.length, IMEI)
  for (let i = 0; i < end; i++) if (bytes[i] < 0x30 || bytes[i] > 0x39) return false
  return end === IMEI || 'maybe'
}

function lengthBehind(bytes: Buffer, from: number): number {
  if (bytes.length < from + 3) return 0
  const length = bytes[from + 2]
  if (length < 4) return -(from + 1)
  return bytes.length < from + length ? 0 : from + length
}

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const device = beginsWithImei(frame) === true ? r.ascii(IMEI) : undefined
  const length = r.skip(2).u8()
  const type = r.u8()
  if (length === COMMAND_ANSWER_LENGTH) return { device, none: 'command answer' }
  if (type === LOGIN) return { device: r.imei(), none: 'login' }
  return (type & KIND) === 0 ? enveloped({ device }, () => ({ fixes: [report(r)] })) : { device }
}

function report(r: ByteReader): Fix {
  const status = r.skip(3).u16le()
  const latitude = r.f32le()
  const longitude = r.f32le()
  const course = heading(r.u16le() / 10)
  const speed = kmh(r.u16le() / 10)
  const altitude = r.skip(1).i16le()
  const hdop = dop(r.u8() / 10)
  const satellites = r.u8() & 0x0f
  const valid = (status & NO_FIX) === 0
  const time = r.u32le() * 1000
  const told = r.left < 4 ? undefined : { external_voltage: r.u16le() / 1000, battery_voltage: r.u16le() / 1000 }
  return { time, latitude, longitude, valid, heading: course, speed, altitude, hdop, satellites, said: told }
}
