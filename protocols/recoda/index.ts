/*
 * Recoda. No specification is known: inferred from frames without a position. TCP, little-endian.
 *
 *   KKKKKKKK LLLLLLLL content
 *   content of 20001001   xxxxxxxx id(12) …             registration
 *   content of 00001001   none                          heartbeat
 *
 *   L  length of the frame      id  text
 */
import { ByteReader, lengthField, type Message, type Protocol } from '../kit/index.ts'

export default {
  name: 'recoda',
  devices: 'Recoda',
  tcp: { port: 5151, frame: lengthField({ start: 0x01, at: 4, width: 4, endian: 'little', add: 0 }) },
  decode,
} satisfies Protocol

const REGISTRATION = 0x2000_1001
const HEARTBEAT = 0x0000_1001

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const kind = r.u32le()
  r.skip(4)
  if (kind === HEARTBEAT) return { none: 'heartbeat' }
  if (kind !== REGISTRATION) return {}
  const device = r.skip(4).ascii(12).replace(/\0.*$/s, '').trim()
  return device === '' ? {} : { device, none: 'login' }
}
