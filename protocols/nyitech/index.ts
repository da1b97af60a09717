/*
 * Nyitech OBD trackers: no specification is known: inferred from frames. Little-endian.
 *
 *   @@ LLLL id, 12 characters TTTT content CCCC 0D 0A
 *
 *   L  length of all of it      T  type: before the position stand in 1001 nothing, in 2001 and 2002 9 bytes, in 2003 14;
 *      in other types a position with a fix is looked for
 *   C  a checksum that is not known
 *
 *   position  DDMMYYhhmmss F AAAAAAAA OOOOOOOO VVVV GGGG HHHH      (F, A, O: latitude, longitude)
 *
 *   F  low two bits: a fix; bit 2: north; bit 3: east     V  speed, cm/s     G  course, 0.1 degrees     H  altitude, 0.1 m
 *   A, O  1/3600000 degree                                Nothing is answered.
 */
import {
  ByteReader,
  bytesDmy,
  DecodeError,
  type Fix,
  heading,
  isBytesDmy,
  lengthField,
  type Message,
  type Protocol,
} from '../kit/index.ts'

export default {
  name: 'nyitech',
  devices: 'Nyitech OBD trackers',
  integrity: { none: 'how its checksum is computed is not known' },
  tcp: { port: 5182, frame: lengthField({ start: '@@', at: 2, width: 2, endian: 'little', add: 0, end: '\r\n' }) },
  decode,
} satisfies Protocol

const BYTES_BEFORE = new Map([
  [0x1001, 0],
  [0x2001, 9],
  [0x2002, 9],
  [0x2003, 14],
])

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame.subarray(0, -4))
  if (r.ascii(2) !== '@@') throw new DecodeError('unsupported', 'the frame does not begin with @@')
  const device = r.skip(2).ascii(12)
  if (!/^[\w-]+$/.test(device)) throw new DecodeError('malformed', 'there is no id')
  const before = BYTES_BEFORE.get(r.u16le())
  if (before !== undefined) return { device, fixes: [position(r.skip(before))] }
  const found = positionWithin(r.slice())
  return found ? { device, fixes: [found] } : { device }
}

/** The position in content whose layout is not known: a date of the calendar, a place on Earth and a course with a fix. */
function positionWithin(content: Buffer): Fix | undefined {
  for (let at = 0; at + POSITION <= content.length; at++)
    if (isPosition(content, at)) return position(new ByteReader(content, at))
  return undefined
}

function isPosition(bytes: Buffer, at: number): boolean {
  if (!isBytesDmy(bytes, at) || bytes[at + 6] > FLAGS || (bytes[at + 6] & FIXED) === 0) return false
  if (bytes.readUInt32LE(at + 7) > 90 * ARC || bytes.readUInt32LE(at + 11) > 180 * ARC) return false
  return bytes.readUInt16LE(at + 17) <= 3600
}

/** Bytes of a position. */
const POSITION = 21
/** Bits of F: all that are known, and those that say that there is a fix. */
const [FLAGS, FIXED] = [0x0f, 0x03]
/** Milliseconds of arc in a degree. */
const ARC = 3_600_000

function position(r: ByteReader): Fix {
  const time = bytesDmy(r)
  const flags = r.u8()
  const latitude = (r.u32le() / ARC) * ((flags & 0x04) !== 0 ? 1 : -1)
  const longitude = (r.u32le() / ARC) * ((flags & 0x08) !== 0 ? 1 : -1)
  const speed = r.u16le() / 100
  const course = heading(r.u16le() / 10)
  return { time, latitude, longitude, valid: (flags & FIXED) !== 0, speed, heading: course, altitude: r.i16le() / 10 }
}
