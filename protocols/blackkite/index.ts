/*
 * BlackKite: a dialect of the Galileosky protocol, inferred from frames. Little-endian. TCP.
 *
 *   01 LLLL tags CCCC       answer 02 CCCC; LLLL without bit 15: bytes of the tags
 *
 *   tags: a tag of one byte and its value; a tag that comes again begins the next record.
 *   03  IMEI, text     20  unix seconds     30  place: satellites (bits 3–0) and source (bits 7–4, 0: a fix), latitude and
 *   longitude, 1e-6°   33  speed (0.1 km/h), course (0.1°)     34  altitude, m     40, 45, 46, 5x  other things, two bytes
 *   C   CRC-16/MODBUS of all before it. With an unknown tag the rest of a packet cannot be read.
 */
import {
  ByteReader,
  crc16Modbus,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  type Session,
  verified,
} from '../kit/index.ts'

export default {
  name: 'blackkite',
  devices: 'BlackKite',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/MODBUS', covers: [3, -2] },
  tcp: { port: 5091, frame: frameLength },
  decode,
} satisfies Protocol

const START = 0x01
const ACK = 0x02
const IMEI = 0x03

function frameLength(bytes: Buffer): number {
  if (bytes.length > 0 && bytes[0] !== START) return -1
  if (bytes.length < 3) return 0
  const length = 3 + (bytes.readUInt16LE(1) & 0x7fff) + 2
  return bytes.length < length ? 0 : length
}

function decode(frame: Buffer, session: Session): Message {
  const content = verified(frame, { sum: crc16Modbus, from: 0, width: 2, endian: 'little' }, session)
  if (content[0] !== START) throw new DecodeError('unsupported')
  const r = new ByteReader(content).skip(3)
  const envelope: Envelope = { reply: Buffer.concat([Buffer.of(ACK), frame.subarray(-2)]) }
  return enveloped(envelope, () => ({ ...recordsOf(r, envelope), device: envelope.device }))
}

/** The device is known once its tag is read. */
interface Envelope {
  readonly reply: Buffer
  device?: string
}

function recordsOf(r: ByteReader, envelope: Envelope): Message {
  const fixes: Fix[] = []
  const seen = new Uint16Array(256)
  let draft: Partial<Fix> = {}
  let isWhole = true
  for (let record = 1; isWhole && r.left > 0; ) {
    const tag = r.u8()
    if (seen[tag] === record) {
      addFix(fixes, draft)
      draft = {}
      record++
    }
    seen[tag] = record
    if (tag === IMEI) envelope.device = r.ascii(15)
    else isWhole = readTag(tag, r, draft)
  }
  addFix(fixes, draft)
  if (!isWhole) return { fixes, unreadable: fixes.length > 0 ? [fixes.length] : undefined }
  return fixes.length > 0 ? { fixes } : { none: 'no place' }
}

/** Reads the value of a tag; false of a tag whose length is not known. */
function readTag(tag: number, r: ByteReader, draft: Partial<Fix>): boolean {
  switch (tag) {
    case 0x20:
      draft.time = r.u32le() * 1000
      return true
    case 0x30: {
      const kind = r.u8()
      draft.valid = kind >> 4 === 0
      draft.satellites = kind & 15
      draft.latitude = r.i32le() / 1e6
      draft.longitude = r.i32le() / 1e6
      return true
    }
    case 0x33:
      draft.speed = kmh(r.u16le() / 10)
      draft.heading = heading(r.u16le() / 10)
      return true
    case 0x34:
      draft.altitude = r.i16le()
      return true
    case 0x40:
    case 0x45:
    case 0x46:
      r.skip(2)
      return true
    default:
      if (tag >> 4 !== 5) return false
      r.skip(2)
      return true
  }
}

function addFix(fixes: Fix[], fix: Partial<Fix>): void {
  if (fix.time !== undefined && fix.latitude !== undefined) fixes.push(fix as Fix)
}
