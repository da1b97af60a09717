/*
 * Dolphin: no specification is known, inferred from one frame. Little-endian. TCP.
 *
 *   ABAB xxxx SSSS x{6} I{8} LLLL0000 x{4} content
 *
 *   S  number     I  IMEI     L  length of the content, which is Protocol Buffers: field 1, again and again, is a position
 *   position: 1 latitude, 2 longitude (floats), 3 altitude (float, m), 4 satellites, 5 speed (float, km/h), 6 course (float),
 *   7 HDOP, 8 unix seconds (fixed32)
 *
 * Answer: ABAB xxxx S 0000 0200 02000000 00000000 0801
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  dop,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  readableFixes,
} from '../kit/index.ts'

export default {
  name: 'dolphin',
  devices: 'Dolphin',
  acknowledges: 'fixes',
  integrity: { none: 'the kind of its checksum is not known' },
  tcp: {
    port: 5219,
    frame: lengthField({ start: Buffer.of(0xab, 0xab), at: 20, width: 4, endian: 'little', add: 28 }),
  },
  decode,
} satisfies Protocol

/** How a field of Protocol Buffers is written. */
const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const FIXED32 = 5
const POSITION = 1

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  if (r.u16() !== 0xabab) throw new DecodeError('unsupported')
  const head = r.slice(4)
  const device = r.skip(6).digits64le()
  const reply = new ByteWriter().u16(0xabab).bytes(head).hex('0000020002000000000000000801').toBuffer()
  return enveloped({ device, reply }, () => readableFixes(positionsIn(r.skip(8)), fixOf, { none: 'no place' }))
}

function positionsIn(content: ByteReader): ByteReader[] {
  const positions: ByteReader[] = []
  while (content.left > 0) {
    const key = content.varint()
    if (key === ((POSITION << 3) | BYTES)) positions.push(content.part(content.varint()))
    else skip(content, key & 7)
  }
  return positions
}

function fixOf(r: ByteReader): Fix {
  const fix: Partial<Fix> = {}
  while (r.left > 0) readField(r.varint(), r, fix)
  const { time, latitude, longitude } = fix
  if (time === undefined || latitude === undefined || longitude === undefined)
    throw new DecodeError('malformed', 'a position without a time or a place')
  return { ...fix, time, latitude, longitude, valid: true }
}

function readField(key: number, r: ByteReader, fix: Partial<Fix>): void {
  switch (key) {
    case (1 << 3) | FIXED32:
      fix.latitude = float(r)
      break
    case (2 << 3) | FIXED32:
      fix.longitude = float(r)
      break
    case (3 << 3) | FIXED32:
      fix.altitude = float(r)
      break
    case (4 << 3) | VARINT:
      fix.satellites = r.varint()
      break
    case (5 << 3) | FIXED32:
      fix.speed = kmh(float(r))
      break
    case (6 << 3) | FIXED32:
      fix.heading = heading(float(r))
      break
    case (7 << 3) | VARINT:
      fix.hdop = dop(r.varint())
      break
    case (8 << 3) | FIXED32:
      fix.time = r.u32le() * 1000
      break
    default:
      skip(r, key & 7)
  }
}

function float(r: ByteReader): number {
  const value = r.f32le()
  if (!Number.isFinite(value)) throw new DecodeError('malformed', 'a number that is not finite')
  return value
}

function skip(r: ByteReader, kind: number): void {
  if (kind === VARINT) r.varint()
  else if (kind === FIXED64) r.skip(8)
  else if (kind === BYTES) r.skip(r.varint())
  else if (kind === FIXED32) r.skip(4)
  else throw new DecodeError('malformed', `a field of kind ${kind}`)
}
