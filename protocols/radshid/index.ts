/*
 * Radshid trackers (Iran): no specification is known: inferred from frames. Big-endian but the length.
 *
 *   LLLLLLLL 01 IIIIIIII NN record… CCCC      L  length behind it, little-endian     I  id     N  records
 *
 *   record  9 bytes TTTTTTTT V 13 bytes MM 00 AAAAAAAA OOOOOOOO HHHH GGGG S …    C  a checksum that is not known
 *
 *   T  unix seconds     A, O  latitude, longitude, 1e-7 degrees     S  satellites
 *   V  speed, km/h      H  altitude, m      G  heading
 *   M  groups of values: with A0 a record has 44 bytes, with E0 74; of others the length is not known
 *
 * Answer: 07000000 82 01, L, 01.
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
} from '../kit/index.ts'

export default {
  name: 'radshid',
  devices: 'Radshid trackers',
  acknowledges: 'fixes',
  integrity: { none: 'how its checksum is computed is not known' },
  tcp: { port: 5265, frame: lengthField({ at: 0, width: 4, endian: 'little', add: 4 }) },
  decode,
} satisfies Protocol

const RECORDS = 1
/** Where the groups stand in a record. */
const GROUPS = 27
const LENGTHS = new Map([
  [0xa0, 44],
  [0xe0, 74],
])

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame.subarray(0, -2))
  const length = r.u32le()
  if (length !== frame.length - 4) throw new DecodeError('malformed', `length field is ${length}`)
  const type = r.u8()
  const device = String(r.u32())
  if (type !== RECORDS) return { device }
  const reply = new ByteWriter().hex('070000008201').u32le(length).u8(1).toBuffer()
  return enveloped({ device, reply }, () => records(r))
}

function records(r: ByteReader): Message {
  const fixes: Fix[] = []
  for (let count = r.u8(); count > 0; count--) {
    const groups = r.at(r.position + GROUPS).peek()
    const width = LENGTHS.get(groups)
    if (width === undefined) return { fixes, unreadable: fixes.length > 0 ? [fixes.length] : undefined }
    fixes.push(record(new ByteReader(r.slice(width))))
  }
  return fixes.length > 0 ? { fixes } : { none: 'no place' }
}

function record(r: ByteReader): Fix {
  const time = r.skip(9).u32() * 1000
  const speed = kmh(r.u8())
  const latitude = r.skip(15).i32() / 1e7
  const longitude = r.i32() / 1e7
  const altitude = r.i16()
  const course = heading(r.u16())
  const satellites = r.u8()
  const place = { time, latitude, longitude, valid: true, altitude, satellites }
  return { ...place, speed, heading: course }
}
