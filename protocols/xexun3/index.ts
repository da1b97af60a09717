/*
 * Xexun devices of a third generation. No specification is known: inferred from frames. TCP, big-endian.
 *
 *   FC LLLL vv KKKK IIIIIIIIIIIIIIII content CCCC CF            answer: the same without content, but 00: accepted
 *   content of 2006   bb ff TTTTTTTT AAAAAAAAAAAAAAAA OOOOOOOOOOOOOOOO HHHHHHHH xx nn x{9} pp …     2001  login
 *
 *   L  length from v to the content      T  unix seconds                     n  satellites
 *   I  IMEI, packed decimals             A, O  degrees, doubles
 *   C  CRC-16/CCITT-FALSE from v on      H  metres, a float                  f  bit 0: fix     p  battery, %
 */
import {
  ByteReader,
  ByteWriter,
  crc16CcittFalse,
  enveloped,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  said,
  verified,
} from '../kit/index.ts'

export default {
  name: 'xexun3',
  devices: 'Xexun of the third generation',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/CCITT-FALSE', covers: [3, -3] },
  tcp: { port: 5264, frame: lengthField({ start: 0xfc, at: 1, width: 2, add: 6, end: 0xcf }) },
  decode,
} satisfies Protocol

const LOGIN = 0x2001
const POSITION = 0x2006
const HAS_FIX = 1
/** Bytes between the satellites and the charge of the battery. */
const BEFORE_CHARGE = 9

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc16CcittFalse, from: 3, width: 2, trailing: 1 }, session))
  const head = r.slice(11)
  const device = head.toString('hex', 3).replace(/^0+(?=\d{15})/, '')
  const reply = new ByteWriter().u8(0xfc).u16(12).bytes(head).u8(0).crc16(crc16CcittFalse, 3).u8(0xcf).toBuffer()
  const kind = head.readUInt16BE(1)
  if (kind === LOGIN) return { device, none: 'login', reply }
  return kind === POSITION ? enveloped({ device, reply }, () => positionOf(r)) : { device, reply }
}

function positionOf(r: ByteReader): Pick<Message, 'fixes' | 'none'> {
  const flags = r.skip(1).u8()
  if ((flags & HAS_FIX) === 0) return { fixes: [] }
  const time = r.u32() * 1000
  const latitude = r.f64()
  const longitude = r.f64()
  const altitude = r.f32()
  const satellites = r.skip(1).u8()
  const percent = r.left > BEFORE_CHARGE ? r.skip(BEFORE_CHARGE).u8() : undefined
  const beside = said({ battery_percent: percent })
  return { fixes: [{ time, latitude, longitude, valid: true, altitude, satellites, said: beside }] }
}
