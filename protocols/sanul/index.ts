/*
 * Sanul. No specification is known: inferred from a login and its answer. Little-endian, but for the checksum:
 *
 *   AA CCCC LLLL 01 TT 00… IIIIIIIIIIIIIII 00…
 *
 *   C  CRC-16/MODBUS of what follows L     T  00: the login; other types are not known, and stored
 *   L  bytes that follow it                I  IMEI, characters, from the 13th byte of the frame on
 *
 * Answer to a login: AA C 0F00 01 05, eleven times 00, 02 00.
 */
import {
  ByteReader,
  ByteWriter,
  crc16Modbus,
  DecodeError,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  verify,
} from '../kit/index.ts'

export default {
  name: 'sanul',
  devices: 'Sanul trackers',
  integrity: { checksum: 'CRC-16/MODBUS', covers: (frame) => [5, frame.length] },
  tcp: { port: 5186, frame: lengthField({ start: 0xaa, at: 3, width: 2, endian: 'little', add: 5 }) },
  decode,
} satisfies Protocol

const LOGIN = 0x00
const ANSWER = Buffer.from('010500000000000000000000000200', 'hex')

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  if (r.u8() !== 0xaa) throw new DecodeError('unsupported', 'the frame does not begin with AA')
  const sum = r.u16()
  verify(sum === crc16Modbus(frame.subarray(5)), session)
  const type = r.skip(3).u8()
  if (type !== LOGIN) return {}
  const device = r.skip(5).ascii(15)
  const w = new ByteWriter().u8(0xaa).u16(crc16Modbus(ANSWER)).u16le(ANSWER.length)
  return { device, none: 'login', reply: w.bytes(ANSWER).toBuffer() }
}
