/*
 * Devices with the "flexible report": no specification is known, inferred from frames. Big-endian. UDP, no checksum.
 *
 *   7D 01 IIIIIIIIIIIIIIII x{2} T{4} x{2} LLLL MMMMMMMM xx T{4} yyyyyyyy oooooooo SS CCCC HHHH x{2} VVVV BBBB x{4} KK …
 *
 *   I  0 and the IMEI     M  which fields follow: with others than 7FFFFFFF they are not read
 *   T  of the report, of the position: seconds, minutes, hours, days, months (of 31 days), years since 2000, mixed radix
 *   y  latitude + 90, o  longitude + 180, 1e-6 degrees     S  km/h     C  degrees     H  metres
 *   V  external voltage, mV     B  battery, mV     K  inputs, in front of the cell; bit 1: ignition
 *
 * Answer: 7E 0002 E00F
 */
import {
  ByteReader,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  type Said,
  said,
  utc,
} from '../kit/index.ts'

export default {
  name: 'flexiblereport',
  devices: 'Devices with the flexible report',
  acknowledges: 'fixes',
  udp: { port: 5227 },
  decode,
} satisfies Protocol

const REPORT = 0x7d01
const ALL_FIELDS = 0x7fffffff
const ACK = Buffer.from('7e0002e00f', 'hex')

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  if (r.u16() !== REPORT) throw new DecodeError('unsupported')
  const device = r.bcd(8).replace(/^0(?=\d{15})/, '')
  const mask = r.skip(10).u32()
  if (mask !== ALL_FIELDS) return { device, fixes: [], reply: ACK }
  return enveloped({ device, reply: ACK }, () => ({ fixes: [fixOf(r.skip(1))] }))
}

function fixOf(r: ByteReader): Fix {
  const time = timeOf(r.u32())
  const latitude = r.u32() / 1e6 - 90
  const longitude = r.u32() / 1e6 - 180
  const speed = kmh(r.u8())
  const course = heading(r.u16())
  return { time, latitude, longitude, valid: true, speed, heading: course, altitude: r.i16(), said: saidOf(r) }
}

function saidOf(r: ByteReader): Said | undefined {
  if (r.left < 6) return undefined
  const external_voltage = r.skip(2).u16() / 1000
  const battery_voltage = r.u16() / 1000
  return said({
    external_voltage,
    battery_voltage,
    ignition: r.left < 5 ? undefined : (r.skip(4).u8() & IGNITION) !== 0,
  })
}

const IGNITION = 2

function timeOf(value: number): number {
  const part = (unit: number, of: number) => Math.floor(value / unit) % of
  const day = 86_400
  const month = 31 * day
  return utc(
    2000 + part(12 * month, 200),
    1 + part(month, 12),
    1 + part(day, 31),
    part(3600, 24),
    part(60, 60),
    part(1, 60),
  )
}
