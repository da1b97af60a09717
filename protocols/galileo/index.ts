/*
 * Galileosky GLONASS/GPS, Base Block, 7x, 10: "Galileosky protocol" (table of tags in the user's manuals, §"Structure of
 * packets"). Little-endian. TCP.
 *
 *   01 LLLL tags CCCC       packet; LLLL bit 15: more is waiting in the archive, bits 14–0: bytes of the tags
 *   08 LLLL records CCCC    compressed packet of records  M{10} n t{n} values
 *   07 LLLL photo CCCC      photo
 *   01 LLLL 01 001C x{4} I x{9} … 02 LLLL tags      Iridium short burst data, big-endian, without a checksum
 *
 *   tags: a tag of one byte and its value; a tag that comes again begins the next record.
 *   03  IMEI, text     20  unix seconds      30  place: source and satellites (4 bits each), latitude, longitude, 1e-6°
 *   33  speed (0.1 km/h), course (0.1°)      34  altitude, m      35  HDOP, 0.1
 *   40  state, bit 0: vibrates as in motion, bit 9: vehicle is started      41, 42  external power, own battery, mV
 *   90  the driver's key, an integer
 *   M   1 bit, seconds since the beginning of the year (25), no fix (1), longitude (22), latitude (21), alarm and others (10)
 *   C   CRC-16/MODBUS of all before it       Answer: 02 CCCC, to photos 07 CCCC; without it the packet comes again
 *
 * Source 0: satellites, 2: cells; others: no fix. With an unknown tag the rest of a packet cannot be read.
 */
import {
  crc16Modbus,
  DecodeError,
  enveloped,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  type Stream,
  verified,
} from '../kit/index.ts'
import { iridium, isIridium } from './iridium.ts'
import { compressed, messageOf, records } from './records.ts'

const PACKET = 0x01
const PHOTO = 0x07
const COMPRESSED = 0x08
const ACK = 0x02
const MORE = 0x8000

const iridiumFrame = lengthField({ start: PACKET, at: 1, width: 2, add: 3, most: 2048 })

export default {
  name: 'galileo',
  devices: 'Galileosky GLONASS/GPS 5, Base Block, 7x, 10',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/MODBUS', covers: (frame) => (isIridium(frame) === true ? [0, 0] : [3, -2]) },
  tcp: { port: 5034, frame: frameLength },
  decode,
} satisfies Protocol

function frameLength(bytes: Buffer, stream: Stream): number {
  if (bytes.length === 0) return 0
  const kind = bytes[0]
  if (kind !== PACKET && kind !== PHOTO && kind !== COMPRESSED) return -1
  const isOfIridium = isIridium(bytes)
  if (isOfIridium === true) return iridiumFrame(bytes, stream)
  if (bytes.length < 3 || isOfIridium === 'maybe') return 0
  const length = 3 + (bytes.readUInt16LE(1) & ~MORE) + 2
  return bytes.length < length ? 0 : length
}

function decode(frame: Buffer, session: Session): Message {
  if (frame.length < 5) throw new DecodeError('truncated')
  if (isIridium(frame) === true) return iridium(frame)
  const content = verified(frame, { sum: crc16Modbus, from: 0, width: 2, endian: 'little' }, session).subarray(3)
  const [low, high] = [frame[frame.length - 2], frame[frame.length - 1]]
  const reply = Buffer.from([frame[0] === PHOTO ? PHOTO : ACK, low, high])
  switch (frame[0]) {
    case PACKET:
      return enveloped({ reply }, () => messageOf(records(content)))
    case COMPRESSED:
      return enveloped({ reply }, () => messageOf(compressed(content, session.now)))
    case PHOTO:
      return { none: 'photo', reply }
    default:
      throw new DecodeError('unsupported')
  }
}
