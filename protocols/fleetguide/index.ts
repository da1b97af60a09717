/*
 * FleetGuide. No specification is known: inferred from frames. Little-endian:
 *
 *   53 LLLL IIIIIIII TT content CCCC
 *
 *   L  bits 0–10 bytes of content, bit 14: it is packed     T  lower four bits: 1 a question, 4 data
 *   I  id                                                   C  CRC-16/CCITT-FALSE of what follows 53
 *
 *   content: entries of a length, a tag and so many bytes
 *   00  SSSSSSSS ??????                   S  seconds since 2010: a record begins
 *   04  AAAAAAAA OOOOOOOO GGGG UUVV HHHH  A, O  latitude, longitude, 90 and 180 degrees divided by 2³²; G  1/10 degree
 *                                         U  satellites, 5 bits; V  km/h, 11 bits; H  altitude, m
 *
 *   0C  PPPPPP                            P  power, 0.01 V (bits 0–11); battery, 0.01 V (bits 14–23)
 *
 *   packed: E bytes…     E  a byte that does not occur; in the bytes E N D stands for N bytes that stand D bytes earlier
 *
 * What stands for south and west is not known: all places are north and east.
 * Answer to a question: 53 00 38 I 02 01 00 C.
 */
import {
  ByteReader,
  ByteWriter,
  crc16CcittFalse,
  DecodeError,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  type Session,
  said,
  secondsSince,
  tlv,
  verified,
} from '../kit/index.ts'

export default {
  name: 'fleetguide',
  devices: 'FleetGuide trackers',
  integrity: { checksum: 'CRC-16/CCITT-FALSE', covers: [1, -2] },
  udp: { port: 5254 },
  decode,
} satisfies Protocol

const START = 0x53
const QUESTION = 1
const DATA = 4
const PACKED = 0x4000
const TIME = 0x00
const PLACE = 0x04
const POWER = 0x0c
const DEGREES = 90 / 2 ** 32
const since2010 = secondsSince(2010)

function decode(frame: Buffer, session: Session): Message {
  if (frame[0] !== START) throw new DecodeError('unsupported', 'the frame does not begin with 53')
  const r = new ByteReader(verified(frame, { sum: crc16CcittFalse, from: 1, width: 2, endian: 'little' }, session))
  const flags = r.u16le()
  const id = r.u32le()
  const device = String(id)
  const type = r.u8() & 0x0f
  if (type === QUESTION) return { device, none: 'login', reply: answer(id) }
  if (type !== DATA) return { device }
  const content = r.slice(flags & 0x7ff)
  const fixes = positions(new ByteReader(flags & PACKED ? unpacked(content) : content))
  return fixes.length > 0 ? { device, fixes } : { device, none: 'no place' }
}

function answer(id: number): Buffer {
  return new ByteWriter().u8(START).u16le(0x3800).u32le(id).hex('020100').crc16le(crc16CcittFalse, 1).toBuffer()
}

function positions(r: ByteReader): Fix[] {
  const fixes: Fix[] = []
  let time: number | undefined
  for (const { tag, value } of tlv(r, { tag: 1, length: 1, order: 'length, tag' })) {
    if (tag === TIME) time = since2010(value.u32le())
    else if (tag === PLACE && time !== undefined) fixes.push(position(time, value))
    else if (tag === POWER && fixes.length > 0) fixes.push({ ...(fixes.pop() as Fix), said: powerIn(value) })
  }
  return fixes
}

function position(time: number, r: ByteReader): Fix {
  const latitude = r.u32le() * DEGREES
  const longitude = r.u32le() * DEGREES * 2
  const course = heading(r.u16le() / 10)
  const both = r.u16le()
  const speed = kmh(both & 0x7ff)
  return { time, latitude, longitude, valid: true, altitude: r.i16le(), speed, heading: course, satellites: both >> 11 }
}

function powerIn(r: ByteReader): Fix['said'] {
  const bits = r.u24le()
  return said({ external_voltage: (bits & 0xfff) / 100, battery_voltage: (bits >> 14) / 100 })
}

/** What was packed, at most 16 KB. @throws DecodeError */
function unpacked(content: Buffer): Buffer {
  const r = new ByteReader(content)
  const escape = r.u8()
  const out = Buffer.alloc(MOST)
  let length = 0
  while (r.left > 0) {
    const byte = r.u8()
    const count = byte === escape ? r.u8() : 1
    const distance = byte === escape ? r.u8() : 0
    if (distance > length || length + count > MOST) throw new DecodeError('malformed', 'the frame cannot be unpacked')
    // Byte by byte: what is repeated may overlap what it becomes.
    for (let i = 0; i < count; i++, length++) out[length] = distance > 0 ? out[length - distance] : byte
  }
  return out.subarray(0, length)
}

const MOST = 16_384
