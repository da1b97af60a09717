/*
 * Smokey. No specification is known: inferred from frames of one kind, without a position. UDP, big-endian.
 *
 *   534D vv KK IIIIIIIIIIIIIIII … NN … CCCC             answer: 534D vv 01 IIIIIIIIIIIIIIII TTTTTTTT NN 00 CCCC
 *   kind 00: the cell, of which NN is the 21st byte
 *
 *   I  device, eight bytes      T  seconds since 2000, UTC      C  XOR of all pairs of bytes, and F5A0
 */
import { ByteReader, ByteWriter, DecodeError, type Message, type Protocol, type Session } from '../kit/index.ts'

export default {
  name: 'smokey',
  devices: 'Smokey',
  integrity: { none: 'the one of the frames is known for answers alone' },
  udp: { port: 5125 },
  decode,
} satisfies Protocol

const CELL = 0x00
const ANSWER = 0x01
const YEAR_2000 = Date.UTC(2000, 0, 1)
const INITIAL = 0xf5a0

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  if (r.u16() !== 0x534d) throw new DecodeError('unsupported', 'the frame does not begin with SM')
  const version = r.u8()
  const kind = r.u8()
  const id = r.slice(8)
  const device = id.toString('hex')
  if (kind !== CELL) return { device }
  const seconds = Math.floor((session.now - YEAR_2000) / 1000)
  const answer = new ByteWriter().ascii('SM').u8(version).u8(ANSWER).bytes(id).u32(seconds)
  answer.u8(r.skip(8).u8()).u8(0)
  return { device, none: 'cells', reply: answer.u16(pairs(answer.toBuffer())).toBuffer() }
}

function pairs(bytes: Buffer): number {
  let sum = INITIAL
  for (let i = 0; i + 1 < bytes.length; i += 2) sum ^= bytes.readUInt16LE(i)
  return sum
}
