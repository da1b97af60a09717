/*
 * NDTP 6. No specification is at hand: inferred from a login and its answer. Little-endian, but for the checksum:
 *
 *   7E7E LLLL FFFF CCCC 02 ???????? NNNN   SSSS TTTT BBBB RRRRRRRR content
 *
 *   L  bytes behind N     C  CRC-16/MODBUS of these     S, T  service and type: 0 and 64 are the login
 *   B  bit 0: wants an answer     R  number of the request
 *
 *   login: MMMM MMMM ???? IIII …, I: id       of all other types the layout is not known: they are stored
 *
 * Answer: 7E7E 0E00 0200 C 02 00000000 0000   0000 0000 0000 R 00000000.
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
  name: 'ndtpv6',
  devices: 'Navigator trackers with NDTP 6',
  acknowledges: 'some',
  accuracy: 'none',
  integrity: { checksum: 'CRC-16/MODBUS', covers: (frame) => [15, frame.length] },
  escaping: 'none',
  tcp: { port: 5243, frame: lengthField({ start: '~~', at: 2, width: 2, endian: 'little', add: 15 }) },
  decode,
} satisfies Protocol

const HEAD = 15
const LOGIN = 0x64
const WANTS_ANSWER = 1

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  if (r.u16() !== 0x7e7e) throw new DecodeError('unsupported', 'the frame does not begin with 7E7E')
  const sum = r.skip(4).u16()
  r.skip(HEAD - r.position)
  verify(sum === crc16Modbus(frame.subarray(HEAD)), session)
  const service = r.u16le()
  const type = r.u16le()
  const wantsAnswer = (r.u16le() & WANTS_ANSWER) !== 0
  const number = r.u32le()
  const reply = wantsAnswer ? answer(number) : undefined
  if (service !== 0 || type !== LOGIN) return { reply }
  return { device: String(r.skip(6).u16le()), none: 'login', reply }
}

function answer(number: number): Buffer {
  const content = new ByteWriter().hex('000000000000').u32le(number).u32(0).toBuffer()
  const w = new ByteWriter().hex('7e7e').u16le(content.length).hex('0200').u16(crc16Modbus(content))
  return w.hex('02000000000000').bytes(content).toBuffer()
}
