/*
 * Castel (Sinocastel) IDD-212, IDD-213, IDD-218 … (OBD), MPIP-620, PT-690: "NEW OBD SMART Communication Protocol" Rev. 4.25
 * (2014) and "OBD Smart Communication Samples" V4.28; other types are inferred from frames. Little-endian but for the type. TCP and UDP.
 *
 *   4040 LLLL VV I{20} TTTT content CCCC 0D0A          2424 LLLL I{20} TTTT content CCCC 0D0A (older)
 *
 *   L  length of all      I  id, text, then 00             C  CRC-16/X-25 of all before it
 *   V  03, 04: OBD; others: trackers (05 MPIP, 0C PT-690)     T  type
 *
 *   OBD: types with the state of the vehicle S{34}, then a count n and n positions P{19}
 *     1001 S n P…         login; answer 9001 FFFFFFFF 0000, unix seconds
 *     1002 S n P…         logout                 4001 x S n P…    positions
 *     4007 A{4} S n P…    alarm; answer C007 A   401F x A{4} S n P…  alarm
 *     4009 u{4} P         position in sleep      1003             heartbeat; answer 9003
 *   Trackers: 4001 P, 4206 x n P…; answers 8001, 8206            Older: 2001 x{4} u{4} x P; answer 1001 00000000 FF{8}
 *
 *   P  DD MM YY hh mm ss, latitude and longitude (u32, milliseconds of arc), speed (u16, cm/s), course (u16, 0.1°), flags:
 *      bit 0 east, bit 1 north, bits 2–3 kind of fix (0: none), bits 4–7 satellites
 *   u  unix seconds of the report     x  not read     In types that are not drawn here, P is looked for.
 */
import {
  ByteReader,
  ByteWriter,
  bytesDmy,
  crc16X25,
  DecodeError,
  type Fix,
  heading,
  isBytesDmy,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  verified,
} from '../kit/index.ts'

/** A datagram may hold several. */
const packets = lengthField({
  start: ['@@', '$$'],
  at: 2,
  width: 2,
  endian: 'little',
  add: 0,
  end: '\r\n',
  most: 4096,
})

export default {
  name: 'castel',
  devices: 'Sinocastel IDD-212, IDD-213, IDD-218 (OBD), MPIP-618, MPIP-620, PT-690',
  acknowledges: 'some',
  integrity: { checksum: 'CRC-16/X-25', covers: [4, -4] },
  tcp: { port: 5086, frame: packets },
  udp: { port: 5086, frame: packets },
  decode,
} satisfies Protocol

const OLDER = 0x24
const OBD = new Set([0x03, 0x04])
/** Bytes of the state of the vehicle. */
const STATE = 34
/** Bytes of a position. */
const POSITION = 19
/** Types of OBD without a position: readings of the vehicle, answers to commands. */
const NONE = new Map([
  [0x4002, 'OBD'],
  [0x4003, 'OBD'],
  [0x4004, 'OBD'],
  [0x4005, 'OBD'],
  [0x4006, 'OBD'],
  [0x4008, 'cells'],
  [0x9001, 'login'],
  [0xa002, 'command answer'],
])

function decode(frame: Buffer, session: Session): Message {
  if (frame.length < 12) throw new DecodeError('truncated')
  const packet = frame.subarray(0, frame.readUInt16LE(2))
  const place = { sum: crc16X25, from: 0, width: 2, endian: 'little', trailing: 2 } as const
  const r = new ByteReader(verified(packet, place, session)).skip(4)
  const version = packet[0] === OLDER ? undefined : r.u8()
  const device = r.ahead().part(20).asciiUntil(0)
  const id = r.slice(20)
  const type = r.u16()
  const answer = (code: number, content: Uint8Array | readonly number[] = []) => reply({ version, id, code, content })
  if (version === undefined) return { device, ...older(type, r, answer) }
  if (!OBD.has(version)) return { device, ...tracker(type, r, answer) }
  return { device, ...obd(type, r, { answer, now: session.now }) }
}

type Answer = (code: number, content?: Uint8Array | readonly number[]) => Buffer

function obd(type: number, r: ByteReader, { answer, now }: { answer: Answer; now: number }): Message {
  switch (type) {
    case 0x1001: {
      const seconds = new ByteWriter().hex('ffffffff0000').u32le(Math.floor(now / 1000))
      return { ...positions(r.skip(STATE), 'login'), reply: answer(0x9001, seconds.toBuffer()) }
    }
    case 0x1002:
      return positions(r.skip(STATE), 'logout')
    case 0x1003:
      return { none: 'heartbeat', reply: answer(0x9003) }
    case 0x4001:
      return positions(r.skip(1 + STATE), 'no place')
    case 0x4007: {
      const index = r.slice(4)
      return { ...positions(r.skip(STATE), 'no place'), reply: answer(0xc007, index) }
    }
    case 0x4009:
      return one(r.skip(4))
    case 0x401f:
      return positions(r.skip(5 + STATE), 'no place')
    default:
      return NONE.has(type) ? { none: NONE.get(type) } : found(r)
  }
}

function tracker(type: number, r: ByteReader, answer: Answer): Message {
  if (type === 0x4001) return { ...one(r), reply: answer(0x8001) }
  if (type === 0x4206) return { ...positions(r.skip(1), 'no place'), reply: answer(0x8206) }
  return type === 0x1003 ? { none: 'heartbeat', reply: answer(0x9003) } : found(r)
}

function older(type: number, r: ByteReader, answer: Answer): Message {
  if (type !== 0x2001) return found(r)
  return { ...one(r.skip(9)), reply: answer(0x1001, [0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]) }
}

/** A count and as many positions; `none`: what it is without one. */
function positions(r: ByteReader, none: string): Message {
  const fixes: Fix[] = []
  for (let count = r.u8(); count > 0; count--) {
    const fix = fixOf(r)
    if (fix) fixes.push(fix)
  }
  return fixes.length > 0 ? { fixes } : { none }
}

function one(r: ByteReader): Message {
  const fix = fixOf(r)
  return fix ? { fixes: [fix] } : { none: 'no fix' }
}

/** The position in content whose layout is not known, where one is found. */
function found(r: ByteReader): Message {
  const content = r.slice()
  for (let at = 0; at + POSITION <= content.length; at++)
    if (isPosition(content, at)) return one(new ByteReader(content, at))
  return {}
}

/** Whether a date of the calendar, a place on Earth, a course and a fix begin at an index. */
function isPosition(bytes: Buffer, at: number): boolean {
  if (!isBytesDmy(bytes, at)) return false
  if (bytes.readUInt32LE(at + 6) > 90 * ARC || bytes.readUInt32LE(at + 10) > 180 * ARC) return false
  return bytes.readUInt16LE(at + 16) <= 3600 && (bytes[at + 18] & 12) !== 0
}

/** Milliseconds of arc in a degree. */
const ARC = 3_600_000

/** Undefined where the device's clock was never set. */
function fixOf(r: ByteReader): Fix | undefined {
  if (r.ahead().u16() === 0) {
    r.skip(POSITION)
    return undefined
  }
  const time = bytesDmy(r)
  const latitude = r.u32le() / ARC
  const longitude = r.u32le() / ARC
  const speed = r.u16le() / 100
  const course = heading(r.u16le() / 10)
  const flags = r.u8()
  return {
    time,
    latitude: flags & 2 ? latitude : -latitude,
    longitude: flags & 1 ? longitude : -longitude,
    valid: (flags & 12) !== 0,
    speed,
    heading: course,
    satellites: flags >> 4,
  }
}

interface Reply {
  readonly version: number | undefined
  readonly id: Uint8Array
  readonly code: number
  readonly content: Uint8Array | readonly number[]
}

function reply({ version, id, code, content }: Reply): Buffer {
  const head = version === undefined ? [] : [version]
  const w = new ByteWriter().ascii('@@').u16le(30 + head.length + content.length)
  return w.bytes(head).bytes(id).u16(code).bytes(content).crc16le(crc16X25).ascii('\r\n').toBuffer()
}
