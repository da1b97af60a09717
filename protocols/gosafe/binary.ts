import {
  ByteReader,
  crc16Xmodem,
  DecodeError,
  enveloped,
  type Message,
  maskedFix,
  type Session,
  secondsSince,
  verified,
} from '../kit/index.ts'
import { REPLY } from './text.ts'

const since2000 = secondsSince(2000)
/** Bit of the first byte. */
const BATCH = 0x40
/** Blocks of a record, by the bits of its mask. */
const SYSTEM = 1
const GPS = 2

/** The message of the content between two flags. @throws DecodeError */
export function binary(content: Buffer, session: Session): Message {
  const r = new ByteReader(verified(content, { sum: crc16Xmodem, from: 0, width: 2 }, session))
  if (r.u8() & BATCH) throw new DecodeError('unsupported', 'the frame is a batch, as Proma Sat sends it')
  r.skip(1)
  const device = String(r.uint(3) * 2 ** 32 + r.u32())
  const time = since2000(r.u32())
  const blocks = r.u16()
  return enveloped({ device, reply: REPLY }, () => {
    if ((blocks & GPS) === 0) return { none: 'no place' }
    if (blocks & SYSTEM) r.skip(r.u8())
    const fix = maskedFix(r.part(r.u8()), time)
    return { fixes: fix ? [fix] : [] }
  })
}
