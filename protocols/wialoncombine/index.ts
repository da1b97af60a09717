/*
 * Wialon Combine 1.0.3 (Gurtam: "Wialon Combine communication protocol"), TCP and UDP, big-endian. The document was not at hand:
 * written from its summaries, tried with no device.
 *
 *   2424 KK NNNN LLLL content CCCC        answer: 4040 RR NNNN           L with its first bit set takes four bytes
 *   2424 02 NNNN                          keep-alive
 *   content of 00   vv tt id [password]                       login
 *   content of 01   (TTTTTTTT count (kind sub-record)…)…      messages
 *
 *   sub-record 1    AAAAAAAA OOOOOOOO SSSS DDDD HHHH n PPPP   position
 *   sub-records 0 custom values, 2 inputs and outputs, 3 picture, 4 cells: passed over
 *
 *   t  types of id and password, a nibble each: 1, 2, 3 numbers of 2, 4, 8 bytes, 4 text ending with 00, 0 none
 *   R  0 accepted, 1 refused             A, O  1e-6°     D  degrees     n  satellites
 *   T  unix seconds                      S  km/h         H  metres      P  HDOP, 0.01
 *   C  CRC-16/ARC of all bytes before it
 *
 * The lengths of other sub-records are not known: a message ends before them, and those behind it in the packet are named as
 * unreadable.
 */
import {
  ByteReader,
  ByteWriter,
  crc16Arc,
  DecodeError,
  type Message,
  type Protocol,
  type Session,
  verified,
} from '../kit/index.ts'
import { messagesOf } from './messages.ts'

export default {
  name: 'wialoncombine',
  devices: 'trackers that can be set to Wialon Combine',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/ARC', covers: [3, -2] },
  tcp: { port: 5290, frame: frameLength },
  udp: { port: 5290, frame: frameLength },
  decode,
} satisfies Protocol

const LOGIN = 0
const DATA = 1
const KEEP_ALIVE = 2
const ACCEPTED = 0
const REFUSED = 1
const MOST = 65_536

function frameLength(bytes: Buffer): number {
  if (bytes[0] !== 0x24 || (bytes.length > 1 && bytes[1] !== 0x24) || bytes[2] > KEEP_ALIVE) return -1
  if (bytes.length < 5) return 0
  if (bytes[2] === KEEP_ALIVE) return 5
  if (bytes.length < 9) return 0
  const isLong = bytes[5] >= 0x80
  const length = isLong ? (bytes.readUInt32BE(5) & 0x7fff_ffff) + 11 : bytes.readUInt16BE(5) + 9
  if (length > MOST) return -1
  return bytes.length < length ? 0 : length
}

function decode(frame: Buffer, session: Session): Message {
  const head = new ByteReader(frame)
  if (head.u16() !== 0x2424) throw new DecodeError('unsupported', 'the frame does not begin with 2424')
  const kind = head.u8()
  const serial = head.u16()
  const reply = answer(ACCEPTED, serial)
  if (kind === KEEP_ALIVE) return { none: 'heartbeat', reply }
  const r = new ByteReader(verified(frame, { sum: crc16Arc, from: 0, width: 2 }, session)).skip(5)
  r.skip(r.peek() >= 0x80 ? 4 : 2)
  if (kind === LOGIN) return { ...loginOf(r.skip(1)), none: 'login', reply, refusal: answer(REFUSED, serial) }
  return kind === DATA ? { ...messagesOf(r), reply } : { reply }
}

function answer(code: number, serial: number): Buffer {
  return new ByteWriter().u16(0x4040).u8(code).u16(serial).toBuffer()
}

/** The nibbles in the order that reads the content to its end. */
function loginOf(r: ByteReader): { device: string; secret?: string } {
  const types = r.u8()
  const [high, low] = [types >> 4, types & 0x0f]
  for (const [id, password] of low === 0
    ? [[high, 0]]
    : high === 0
      ? [[low, 0]]
      : [
          [high, low],
          [low, high],
        ]) {
    const content = r.at(r.position)
    try {
      const device = valueOf(content, id)
      const secret = valueOf(content, password) || undefined
      if (content.left === 0 && device !== '') return { device, secret }
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
    }
  }
  throw new DecodeError('malformed', 'the login has no id')
}

function valueOf(r: ByteReader, type: number): string {
  if (type === 0) return ''
  if (type === 4) return r.asciiUntil(0)
  if (type === 3) return r.digits64()
  if (type > 4) throw new DecodeError('unsupported', `an id of type ${type}`)
  return String(type === 1 ? r.u16() : r.u32())
}
