import { ByteReader, type Message } from '../kit/index.ts'
import { messageOf, records } from './records.ts'

const HEADER = Buffer.from([0x01, 0x00, 0x1c])
const PAYLOAD = 0x02

/** Whether bytes are a message of Iridium: a header element of 28 bytes follows the length. */
export function isIridium(bytes: Buffer): boolean | 'maybe' {
  if (bytes[0] !== 0x01) return false
  const found = bytes.subarray(3, 6)
  return found.equals(HEADER.subarray(0, found.length)) && (found.length === 3 || 'maybe')
}

/** The message of a short burst: elements of a type and a length. @throws DecodeError */
export function iridium(frame: Buffer): Message {
  const r = new ByteReader(frame).skip(6)
  const header = new ByteReader(r.slice(28))
  const device = header.skip(4).ascii(15)
  while (r.left >= 3) {
    const type = r.u8()
    const content = r.slice(r.u16())
    if (type === PAYLOAD) return { ...messageOf(records(content)), device }
  }
  return { device, none: 'no place' }
}
