/*
 * Autotrack. No specification is known: inferred from a login and its answer. Little-endian, but for the checksum:
 *
 *   F1F1F1F1 TT LLLL content CCCC
 *
 *   T  33: the login; other types are not known, and stored
 *   L  bytes of content                C  CRC-16/XMODEM of everything before it
 *
 *   33  IIIIIIIIIIIIIIII ????????      I  id, shown in hexadecimal
 *
 * Answer to a login: the same with type 65.
 */
import {
  ByteReader,
  ByteWriter,
  crc16Xmodem,
  DecodeError,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  verified,
} from '../kit/index.ts'

const START = Buffer.from([0xf1, 0xf1, 0xf1, 0xf1])

export default {
  name: 'autotrack',
  devices: 'Autotrack trackers',
  integrity: { checksum: 'CRC-16/XMODEM', covers: [0, -2] },
  tcp: { port: 5172, frame: lengthField({ start: START, at: 5, width: 2, endian: 'little', add: 9 }) },
  decode,
} satisfies Protocol

const LOGIN = 0x33
const ANSWER = 0x65

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc16Xmodem, from: 0, width: 2 }, session))
  if (!r.slice(4).equals(START)) throw new DecodeError('unsupported', 'the frame does not begin with F1 four times')
  if (r.u8() !== LOGIN) return {}
  const content = r.ahead(2).slice()
  const device = r.skip(2).hex(8)
  const w = new ByteWriter().bytes(START).u8(ANSWER).u16le(content.length).bytes(content)
  return { device, none: 'login', reply: w.crc16(crc16Xmodem).toBuffer() }
}
