/*
 * Oigo (Oblivion) AG and AR trackers: no specification is known: inferred from frames. Big-endian, UDP.
 *
 *   7E LLLL NNNN IIIIIIIIIIIIIIII K 6 bytes [time] time AAAAAAAA OOOOOOOO S D V GGGG HHHH b UUUU BBBB …     K 04: one time, 00: two
 *   E IIIIIIIIIIIIIIII MMMMMMMMMMMMMMMM YM DD hh mm aaaaaaaa oooooooo hhhh GGGG V u b ss 3 bytes S …
 *
 * In other kinds K a time with a place and a course behind it is looked for.
 *
 *   L  length behind it     A, O  latitude + 90, longitude + 180, 1e-6 degrees     S  satellites, low four bits
 *   I  IMEI, decimals       a, o  latitude, longitude: ddmm.mmm without the point  D  HDOP, 0.1        M  IMSI
 *   time  YM DD hh mm ss    H  altitude, m; h  feet                                V  speed, km/h; behind oooooooo mph
 *   Y, M  year - 2010, month, four bits each                                       G  heading
 *   U, B  external voltage, battery, mV; of K 04 the battery stands in U, and B is open     u  external voltage, 0.1 V     b  one byte
 *
 * Nothing is answered.
 */
import {
  ByteReader,
  DecodeError,
  degreesMinutes,
  dop,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  mph,
  type Protocol,
  said,
  utc,
} from '../kit/index.ts'

export default {
  name: 'oigo',
  devices: 'Oigo AG and AR trackers',
  udp: { port: 5121 },
  decode,
} satisfies Protocol

const START = 0x7e
const TWO_TIMES = 0
const ONE_TIME = 4
const FOOT = 0.3048

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const isNew = r.u8() === START
  if (isNew) r.skip(4)
  const id = r.bcd(8)
  if (!/^0[1-9]|^00[1-9]/.test(id)) throw new DecodeError('malformed', `${id} is no IMEI`)
  return isNew
    ? enveloped({ device: id.slice(1) }, () => newPosition(r))
    : { device: id.slice(1), fixes: [oldPosition(r)] }
}

function newPosition(r: ByteReader): Message {
  const kind = r.u8()
  const before = kind === TWO_TIMES ? 11 : kind === ONE_TIME ? 6 : beforePosition(r.ahead().slice())
  if (before < 0) return { fixes: [] }
  r.skip(before)
  const time = timeOf(r)
  const latitude = r.u32() / 1e6 - 90
  const longitude = r.u32() / 1e6 - 180
  const satellites = r.u8() & 0x0f
  const hdop = dop(r.u8() / 10)
  const speed = kmh(r.u8())
  const course = heading(r.u16())
  const fix: Fix = {
    time,
    latitude,
    longitude,
    valid: true,
    satellites,
    hdop,
    speed,
    heading: course,
    altitude: r.i16(),
  }
  if (kind === TWO_TIMES && r.left >= 5)
    fix.said = said({ external_voltage: r.skip(1).u16() / 1000, battery_voltage: r.u16() / 1000 })
  else if (kind === ONE_TIME && r.left >= 3) fix.said = said({ battery_voltage: r.skip(1).u16() / 1000 })
  return { fixes: [fix] }
}

/** Where a time, a place on Earth and a course stand in content of a kind that is not known; −1: nowhere. */
function beforePosition(content: Buffer): number {
  for (let at = 0; at + POSITION <= content.length; at++) {
    const [month, day, hour, minute, second] = content.subarray(at, at + 5)
    const isDate = (month & 15) >= 1 && (month & 15) <= 12 && day >= 1 && day <= 31
    const isOnEarth = content.readUInt32BE(at + 5) <= 180e6 && content.readUInt32BE(at + 9) <= 360e6
    if (isDate && hour < 24 && minute < 60 && second < 60 && isOnEarth && content.readUInt16BE(at + 16) <= 360)
      return at
  }
  return -1
}

/** Bytes from the time to the altitude. */
const POSITION = 20

function timeOf(r: ByteReader): number {
  const yearAndMonth = r.u8()
  const [day, hour, minute] = [r.u8(), r.u8(), r.u8()]
  return utc(2010 + (yearAndMonth >> 4), yearAndMonth & 0x0f, day, hour, minute, r.u8())
}

/** @throws DecodeError `malformed` without a date: nothing else shows that a frame is one of these. */
function oldPosition(r: ByteReader): Fix {
  const yearAndMonth = r.skip(8).u8()
  if ((yearAndMonth & 0x0f) === 0) throw new DecodeError('malformed', 'there is no month')
  const [day, hour, minute] = [r.u8(), r.u8(), r.u8()]
  const latitude = degreesMinutes(r.i32() / 1000)
  const longitude = degreesMinutes(r.i32() / 1000)
  const altitude = r.i16() * FOOT
  const course = heading(r.u16())
  const speed = mph(r.u8())
  const more = said({ external_voltage: r.u8() / 10 })
  const second = r.skip(1).u8()
  const time = utc(2010 + (yearAndMonth >> 4), yearAndMonth & 0x0f, day, hour, minute, second)
  return {
    time,
    latitude,
    longitude,
    valid: true,
    altitude,
    heading: course,
    speed,
    satellites: r.skip(3).u8(),
    said: more,
  }
}
