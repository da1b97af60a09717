import {
  ByteReader,
  crc16Xmodem,
  DecodeError,
  enveloped,
  type Message,
  maskedRecords,
  type Session,
  verified,
} from '../kit/index.ts'
import { REPLY } from './text.ts'

/** Bit of the first byte. */
const PROMA_SAT = 0x40
/** The second byte of a frame with several records, behind their length and number. */
const RECORDS = 0x04

/** The message of the content between two flags. @throws DecodeError */
export function binary(content: Buffer, session: Session): Message {
  const r = new ByteReader(verified(content, { sum: crc16Xmodem, from: 0, width: 2 }, session))
  if (r.u8() & PROMA_SAT) throw new DecodeError('unsupported', 'the frame is one of Proma Sat')
  const type = r.u8()
  const device = String(r.uint(3) * 2 ** 32 + r.u32())
  return enveloped({ device, reply: REPLY }, () => maskedRecords(r, type === RECORDS ? r.skip(2).u8() : 1))
}
