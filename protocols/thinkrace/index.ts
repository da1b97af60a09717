/*
 * ThinkRace. No specification is known: inferred from frames. TCP, big-endian.
 *
 *   "HASIH014700148," KK LLLL content CCCC          14 characters of which the second says who sends
 *   content of 80   01 IIIIIIIIIIIIIII              login; answer "HRSIH…," 80 0002 8000 0000
 *   content of 90   TTTTTTTT ff AAAAAAAA OOOOOOOO SS HH …      position
 *
 *   I  id, text              f  bits: 1 fix, 2 north, 4 east                         S  km/h
 *   T  unix seconds          A, O  ddmm.mmmm, dddmm.mmmm, times 10,000               H  degrees
 *   L  length of content     C  sum of all bytes before it
 *
 * A heading above 255 degrees has not been seen. The bits of f are inferred from a fix in the north and east.
 */
import {
  ByteReader,
  degreesMinutes,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  sum16,
  verified,
} from '../kit/index.ts'

export default {
  name: 'thinkrace',
  devices: 'ThinkRace',
  integrity: { checksum: 'sum of 16 bits', covers: [0, -2] },
  tcp: { port: 5098, frame: lengthField({ start: 'HA', at: 16, width: 2, add: 20 }) },
  decode,
} satisfies Protocol

const LOGIN = 0x80
const POSITION = 0x90
const ACCEPTED = Buffer.from('80000280000000', 'hex')
const VALID = 1
const NORTH = 2
const EAST = 4

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: sum16, from: 0, width: 2 }, session))
  const head = r.ascii(15)
  const kind = r.u8()
  r.skip(2)
  if (kind === LOGIN) {
    const device = r.skip(1).ascii(r.left).trim()
    return { device, none: 'login', reply: Buffer.concat([Buffer.from(`HR${head.slice(2)}`, 'latin1'), ACCEPTED]) }
  }
  if (kind !== POSITION) return {}
  const time = r.u32() * 1000
  const flags = r.u8()
  const latitude = degreesMinutes(r.u32() / 1e4) * (flags & NORTH ? 1 : -1)
  const longitude = degreesMinutes(r.u32() / 1e4) * (flags & EAST ? 1 : -1)
  const speed = kmh(r.u8())
  return { fixes: [{ time, latitude, longitude, valid: (flags & VALID) !== 0, speed, heading: heading(r.u8()) }] }
}
