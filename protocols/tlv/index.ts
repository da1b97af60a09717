/*
 * TLV (S668 and others). No specification is known: inferred from frames without a position. TCP; a frame ends with 00.
 *
 *   0K LL IMEI …            answer: 0K, ending with 00
 *
 *   K  letter: A heartbeat, C login with versions, B asks for something that is not known and is not answered
 *   L  length of what follows it
 */
import { ByteReader, DecodeError, endsWith, type Message, type Protocol } from '../kit/index.ts'

export default {
  name: 'tlv',
  devices: 'S668 and others',
  tcp: { port: 5146, frame: endsWith('\0') },
  decode,
} satisfies Protocol

const NONE = new Map([
  ['0A', 'heartbeat'],
  ['0C', 'login'],
])

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const kind = r.ascii(2)
  const device = /^0[A-Z]$/.test(kind) ? r.ascii(r.u8()) : ''
  if (!/^\d{15}$/.test(device)) throw new DecodeError('unsupported', 'the frame does not begin with a kind and an IMEI')
  const none = NONE.get(kind)
  return none === undefined ? { device } : { device, none, reply: Buffer.from(`${kind}\0`) }
}
