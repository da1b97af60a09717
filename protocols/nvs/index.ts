/*
 * NVS trackers: no specification is known: inferred from frames. Big-endian.
 *
 *   LLLL text                                            login: the IMEI and a version; answer OK
 *   CCCCCCCC LLLL IIIIIIIIIIIIIIII KK NN record… RRRR    L  length of I to the last record     R  CRC-16/ARC of the same
 *
 *   record  TTTTTTTT P OOOOOOOO AAAAAAAA HHHH GGGG S VVVV 3 bytes, then for the sizes 1, 2, 4, 8: how many, (id, value)…
 *
 *   C  four bytes CC     I  IMEI              K, N  codec, records       T  unix seconds     P  priority
 *   G  heading           H  altitude, m       S  satellites              V  speed, km/h      O, A  1e-7 degrees
 */
import {
  ByteReader,
  crc16Arc,
  DecodeError,
  dialects,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  verified,
} from '../kit/index.ts'

const START = Buffer.from('cccccccc', 'hex')
const HEAD = 6

const framing = dialects([
  { when: START, frame: lengthField({ at: 4, width: 2, add: 8 }) },
  { frame: lengthField({ at: 0, width: 2, add: 2, least: 20, most: 66 }) },
])

export default {
  name: 'nvs',
  devices: 'NVS trackers',
  integrity: { checksum: 'CRC-16/ARC', covers: [HEAD, -2] },
  tcp: { port: 5101, frame: framing.frame },
  decode,
} satisfies Protocol

function decode(frame: Buffer, session: Session): Message {
  if (!frame.subarray(0, 4).equals(START)) return login(frame)
  const r = new ByteReader(verified(frame, { sum: crc16Arc, from: HEAD, width: 2 }, session))
  const device = r.digits64()
  return enveloped({ device }, () => {
    const count = r.skip(1).u8()
    const fixes: Fix[] = []
    for (let i = 0; i < count; i++) fixes.push(record(r))
    return fixes.length > 0 ? { fixes } : { none: 'no place' }
  })
}

function login(frame: Buffer): Message {
  const [, device] = /^(\d{15})\d+\.\d+$/.exec(frame.toString('latin1', 2)) ?? []
  if (device === undefined) throw new DecodeError('malformed', 'there is no IMEI with a version')
  return { device, none: 'login', reply: Buffer.from('OK') }
}

function record(r: ByteReader): Fix {
  const time = r.u32() * 1000
  const longitude = r.skip(1).i32() / 1e7
  const latitude = r.i32() / 1e7
  const altitude = r.i16()
  const course = heading(r.u16())
  const satellites = r.u8()
  const speed = kmh(r.u16())
  r.skip(3)
  for (const width of [1, 2, 4, 8]) r.skip(r.u8() * (1 + width))
  return { time, latitude, longitude, valid: true, altitude, heading: course, satellites, speed }
}
