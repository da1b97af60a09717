/*
 * Naviset GT-10, GT-20, GT-40: no specification is known: inferred from frames. Little-endian.
 *
 *   TLLL content CCCC       L  length of the content, low 12 bits     T  type, high 4 bits     C  CRC-16/MODBUS before it
 *
 *   1     NNNN imei …       login
 *   else  NNNN MM record…   M  which groups of values each record has
 *
 *   record  RRRR S TTTTTTTT AAAAAAAA OOOOOOOO VVVV [? N GGGG HHHH D PPPP BBBB …]
 *
 *   T  unix seconds     A, O  latitude, longitude, 1e-6 degrees     V  speed, 0.1 km/h     N  satellites
 *   D  HDOP, 0.1        G  course, 0.1 degrees                      H  altitude, m
 *   P, B  external power and battery, mV
 *
 * Only records without groups (17 bytes) and with all six (180) were seen: of others the length is not known.
 * Answer to every frame: 01 CCCC.
 */
import {
  ByteReader,
  ByteWriter,
  crc16Modbus,
  dop,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  type Session,
  said,
  verified,
} from '../kit/index.ts'

export default {
  name: 'naviset',
  devices: 'Naviset GT-10, GT-20, GT-40',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/MODBUS', covers: [0, -2] },
  tcp: { port: 5194, frame: frameLength },
  decode,
} satisfies Protocol

const LOGIN = 1
const ALL_GROUPS = 0x3f
const RECORD_LENGTHS = new Map([
  [0, 17],
  [ALL_GROUPS, 180],
])

function frameLength(bytes: Buffer): number {
  if (bytes.length < 2) return 0
  const length = 4 + (bytes.readUInt16LE() & 0x0fff)
  return bytes.length < length ? 0 : length
}

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc16Modbus, from: 0, width: 2, endian: 'little' }, session))
  const reply = new ByteWriter().u8(1).bytes(frame.subarray(-2)).toBuffer()
  const type = r.u16le() >> 12
  r.skip(2)
  if (type === LOGIN) return { device: r.imei(), none: 'login', reply }
  return enveloped({ reply }, () => records(r))
}

function records(r: ByteReader): Message {
  const length = RECORD_LENGTHS.get(r.u8())
  if (length === undefined || r.left % length !== 0) return { fixes: [] }
  const fixes: Fix[] = []
  while (r.left > 0) fixes.push(record(new ByteReader(r.slice(length))))
  return fixes.length > 0 ? { fixes } : { none: 'no place' }
}

function record(r: ByteReader): Fix {
  const time = r.skip(3).u32le() * 1000
  const latitude = r.i32le() / 1e6
  const longitude = r.i32le() / 1e6
  const fix: Fix = { time, latitude, longitude, valid: true, speed: kmh(r.u16le() / 10) }
  if (r.left === 0) return fix
  const satellites = r.skip(1).u8()
  const course = heading(r.u16le() / 10)
  const altitude = r.i16le()
  const hdop = dop(r.u8() / 10)
  const besides = said({ external_voltage: r.u16le() / 1000, battery_voltage: r.u16le() / 1000 })
  return { ...fix, satellites, heading: course, altitude, hdop, said: besides }
}
