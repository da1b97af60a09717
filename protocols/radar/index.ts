/*
 * Radar. No specification is known: inferred from one frame. Big-endian:
 *
 *   36 18 IIIIIIII TT SSSSSSSS ?? LLLL ?? … record… CCCC       22 bytes up to the first record
 *
 *   ???? MMMMMMMMMMMMMMMM RRRR SSSSSSSS FFFFFFFF AAAAAAAA OOOOOOOO VVVV GGGG HHHH UU …
 *
 *   I  id            M  which fields follow: those that are read are there with 07FF in front
 *   L  all bytes     R  bytes of the record     F  unix seconds of the fix     A, O  latitude, longitude, 1/360000 degree
 *   T  01            V  speed, km/h (a guess)   G  heading, 1/10 degree        H  altitude, m
 *   S  unix seconds  U  satellites, in the upper four bits                     C  CRC-16/CCITT-FALSE of everything before it
 *
 * Nothing is answered.
 */
import {
  ByteReader,
  crc16CcittFalse,
  DecodeError,
  eachReadable,
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

const START = Buffer.from([0x36, 0x18])

export default {
  name: 'radar',
  devices: 'Radar trackers',
  integrity: { checksum: 'CRC-16/CCITT-FALSE', covers: [0, -2] },
  tcp: { port: 5188, frame: lengthField({ start: START, at: 12, width: 2, add: 0 }) },
  decode,
} satisfies Protocol

const POSITIONS = 0x01
const HEAD = 22
const WITH_PLACE = 0x07ff
/** The bytes of a record up to its length. */
const RECORD_HEAD = 12

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc16CcittFalse, from: 0, width: 2 }, session))
  if (r.u16() !== START.readUInt16BE()) throw new DecodeError('unsupported', 'the frame does not begin with 36 18')
  const device = String(r.u32())
  if (r.u8() !== POSITIONS) return { device }
  r.skip(HEAD - r.position)
  const records: ByteReader[] = []
  while (r.left > RECORD_HEAD) records.push(r.part(Math.max(RECORD_HEAD, r.ahead(RECORD_HEAD - 2).u16())))
  return enveloped({ device }, () => {
    const { good, unreadable } = eachReadable(records, position)
    return good.length > 0 ? { fixes: good, unreadable } : { none: 'no place' }
  })
}

function position(r: ByteReader): Fix {
  if (r.skip(2).u16() !== WITH_PLACE) throw new DecodeError('unsupported', 'a record with other fields')
  const time = r.skip(12).u32() * 1000
  const latitude = r.i32() / 360_000
  const longitude = r.i32() / 360_000
  const speed = kmh(r.u16())
  const course = heading(r.u16() / 10)
  const altitude = r.i16()
  return { time, latitude, longitude, valid: true, altitude, speed, heading: course, satellites: r.u8() >> 4 }
}
