/*
 * ThinkPower TL904A and others. No specification is known: inferred from frames. TCP, big-endian.
 *
 *   KK NN LLLL content CCCC             answer: the next kind, N, and a checksum; to a login with the content 00: accepted
 *   01  login      xx xx (length, text)…   the first text is the IMEI       03  heartbeat, empty
 *   05  records    count of (TTTTTTTT 01 AAAAAAAA OOOOOOOO xxxxxxxx)        position; or (TTTTTTTT 02 ee): event
 *
 *   N  number      L  length of the content      T  unix seconds      A, O  latitude, longitude, 1e-7°
 *   C  CRC-16/CCITT-FALSE of all bytes before it
 */
import {
  ByteReader,
  ByteWriter,
  crc16CcittFalse,
  DecodeError,
  enveloped,
  type Fix,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  verified,
} from '../kit/index.ts'

export default {
  name: 'thinkpower',
  devices: 'ThinkPower TL904A and others',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/CCITT-FALSE', covers: [0, -2] },
  tcp: { port: 5228, frame: lengthField({ at: 2, width: 2, add: 6 }) },
  decode,
} satisfies Protocol

const LOGIN = 1
const HEARTBEAT = 3
const RECORDS = 5
const POSITION = 1
const EVENT = 2

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc16CcittFalse, from: 0, width: 2 }, session))
  const kind = r.u8()
  const number = r.u8()
  r.skip(2)
  const answer = (...content: number[]) =>
    new ByteWriter()
      .u8(kind + 1)
      .u8(number)
      .u16(content.length)
      .bytes(content)
      .crc16(crc16CcittFalse)
      .toBuffer()
  if (kind === LOGIN) return { device: loginId(r.skip(2)), none: 'login', reply: answer(0) }
  if (kind === HEARTBEAT) return { none: 'heartbeat', reply: answer() }
  if (kind === RECORDS) return enveloped({ reply: answer() }, () => recordsOf(r))
  return {}
}

function loginId(r: ByteReader): string {
  const id = r.ascii(r.u8())
  if (!/^\d+$/.test(id)) throw new DecodeError('malformed', 'the login has no IMEI')
  return id
}

/** Without the records behind one of a type whose length is not known. */
function recordsOf(r: ByteReader): Pick<Message, 'fixes' | 'none' | 'unreadable'> {
  const fixes: Fix[] = []
  const count = r.u8()
  for (let index = 0; index < count; index++) {
    const time = r.u32() * 1000
    const type = r.u8()
    if (type === POSITION) {
      fixes.push({ time, latitude: r.i32() / 1e7, longitude: r.i32() / 1e7, valid: true })
      r.skip(4)
    } else if (type === EVENT) r.skip(1)
    else return { fixes, unreadable: fixes.length > 0 ? [index] : undefined }
  }
  return fixes.length > 0 ? { fixes } : { none: 'no place' }
}
