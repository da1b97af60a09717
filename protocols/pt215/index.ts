/*
 * PT215 wristband. No specification is known: inferred from frames, which resemble those of the Topin trackers.
 *
 *   58 58 NN TT content 0D 0A          N  length behind it without the end; too long by two in a login
 *
 *   01  login: IMEI, packed decimals, 01; answer 58 58 01 01 0D 0A          08  heartbeat
 *   10  YYMMDDhhmmss S AAAAAAAA OOOOOOOO V GGGG; answer 58 58 N 10 YYMMDDhhmmss 0D 0A
 *
 *   S  satellites, low four bits     V  speed, km/h     G  bit 12: a fix, 11: west, 10: north; heading in the low ten bits
 *   A, O  latitude, longitude, 1/30000 minute
 *
 * Position frames are those of the Topin trackers, which begin with 78 78.
 */
import {
  ByteReader,
  ByteWriter,
  concoxFix,
  DecodeError,
  EndSearch,
  enveloped,
  type Message,
  type Protocol,
  type Stream,
} from '../kit/index.ts'

const LOGIN = 0x01
const HEARTBEAT = 0x08
const GPS = 0x10

const crlf = new EndSearch('\r\n')

export default {
  name: 'pt215',
  devices: 'PT215',
  acknowledges: 'fixes',
  tcp: { port: 5197, frame: frameLength },
  decode,
} satisfies Protocol

function frameLength(bytes: Buffer, stream: Stream): number {
  if (bytes.length < 2) return 0
  if (bytes[0] !== 0x58 || bytes[1] !== 0x58) return -1
  if (bytes.length < 4) return 0
  const least = bytes[3] === GPS ? 22 : 4
  return bytes.length < least ? 0 : crlf.after(bytes, least, stream)
}

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  if (r.u16() !== 0x5858) throw new DecodeError('unsupported', 'the frame does not begin with 58 58')
  const length = r.u8()
  const type = r.u8()
  if (type === LOGIN) return { device: r.bcd(8).replace(/^0+/, ''), none: 'login', reply: answer(1, type) }
  if (type === HEARTBEAT) return { none: 'heartbeat' }
  if (type !== GPS) return {}
  return enveloped({ reply: answer(length, type, frame.subarray(4, 10)) }, () => ({ fixes: [concoxFix(r)] }))
}

function answer(length: number, type: number, content: Uint8Array = new Uint8Array()): Buffer {
  return new ByteWriter().u16(0x5858).u8(length).u8(type).bytes(content).ascii('\r\n').toBuffer()
}
