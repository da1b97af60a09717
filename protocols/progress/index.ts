/*
 * Progress 7s. No specification is at hand: inferred from a login. Little-endian:
 *
 *   TTTT LLLL NNNNNNNN content CCCCCCCC
 *
 *   T  2: the login; other types are not known, and stored     L  bytes behind N     C  CRC-32 of everything before it
 *
 *   login: three texts, each with its length in 16 bits before it: a number, IMEI, IMSI; the last one is the id
 */
import { ByteReader, crc32, lengthField, type Message, type Protocol, type Session, verified } from '../kit/index.ts'

export default {
  name: 'progress',
  devices: 'Progress 7s',
  integrity: { checksum: 'CRC-32', covers: [0, -4] },
  tcp: { port: 5012, frame: lengthField({ at: 2, width: 2, endian: 'little', add: 8 }) },
  decode,
} satisfies Protocol

const LOGIN = 2

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc32, from: 0, width: 4, endian: 'little' }, session))
  if (r.u16le() !== LOGIN) return {}
  r.skip(6)
  r.skip(r.u16le())
  r.skip(r.u16le())
  return { device: r.ascii(r.u16le()), none: 'login' }
}
