/*
 * Xexun P02, X05 and other devices of version 3: "Xexun API" 260614 has the envelope; the blocks are inferred from frames. TCP,
 * big-endian.
 *
 *   FC LLLL vv 20 SS IIIIIIIIIIIIIIII (tag length value)… CCCC CF   answer: the same with 00: accepted, in place of the blocks
 *   64  TTTTTTTT AAAAAAAAAAAAAAAA OOOOOOOOOOOOOOOO HHHHHHHH xx nn …    without blocks: login
 *   6A  pp …    66  cells    6E  versions
 *
 *   L  length from v to the blocks       T  unix seconds                     n  satellites
 *   S  serial number                     A, O  degrees, doubles; FF…: no fix  p  battery, %
 *   I  IMEI, packed decimals             H  metres, a float
 *   C  CRC-16/CCITT-FALSE from v on
 */
import {
  ByteReader,
  ByteWriter,
  crc16CcittFalse,
  DecodeError,
  enveloped,
  type Fix,
  finite,
  lengthField,
  type Message,
  type Protocol,
  type Said,
  type Session,
  said,
  tlv,
  verified,
} from '../kit/index.ts'

export default {
  name: 'xexun3',
  devices: 'Xexun P02, X05',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/CCITT-FALSE', covers: [3, -3] },
  tcp: { port: 5264, frame: lengthField({ start: 0xfc, at: 1, width: 2, add: 6, end: 0xcf }) },
  decode,
} satisfies Protocol

const UPLOAD = 0x20
const [GPS, STATE] = [0x64, 0x6a]
/** Blocks without a position. */
const KNOWN = new Set([STATE, 0x66, 0x6e])

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc16CcittFalse, from: 3, width: 2, trailing: 1 }, session))
  const head = r.slice(11)
  const device = head.toString('hex', 3).replace(/^0+(?=\d{15})/, '')
  const reply = new ByteWriter().u8(0xfc).u16(12).bytes(head).u8(0).crc16(crc16CcittFalse, 3).u8(0xcf).toBuffer()
  if (head[1] !== UPLOAD) return { device, reply }
  return r.left === 0 ? { device, none: 'login', reply } : enveloped({ device, reply }, () => content(r))
}

function content(r: ByteReader): Pick<Message, 'fixes' | 'none' | 'said'> {
  const fixes: Fix[] = []
  let says: Said | undefined
  let none: string | undefined
  for (const { tag, value } of tlv(r, { tag: 1, length: 1 })) {
    if (tag === GPS) {
      const fix = positionOf(value)
      if (fix) fixes.push(fix)
      else none = 'no fix'
    } else if (!KNOWN.has(tag)) return fixes.length > 0 ? { fixes } : {}
    else none ??= 'status'
    if (tag === STATE) says = said({ battery_percent: value.u8() })
  }
  if (none === undefined && fixes.length === 0) throw new DecodeError('truncated', 'a block is longer than the frame')
  if (fixes.length === 0) return { none, said: says }
  fixes[fixes.length - 1].said = says
  return { fixes }
}

function positionOf(r: ByteReader): Fix | undefined {
  const time = r.u32() * 1000
  const latitude = r.f64()
  const longitude = r.f64()
  const altitude = finite(r.f32())
  const satellites = r.skip(1).u8()
  if (Number.isNaN(latitude) || Number.isNaN(longitude)) return undefined
  return { time, latitude, longitude, valid: true, altitude, satellites }
}
