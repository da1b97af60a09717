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
 *     4007 A{4} S n P… m of (b, k, v{4})  alarms; answer C007 A; b: 01: begins; k: kind
 *     401F x A{4} S n P…  alarm                  4002 … 4006, 400B S…    readings
 *     4009 u{4} P         position in sleep      1003             heartbeat; answer 9003
 *   Trackers: 4001 P, 4206 x n P…; answers 8001, 8206            Older: 2001 x{4} u{4} x P; answer 1001 00000000 FF{8}
 *
 *   P  DD MM YY hh mm ss, latitude and longitude (u32, milliseconds of arc), speed (u16, cm/s), course (u16, 0.1°), flags:
 *      bit 0 east, bit 1 north, bits 2–3 kind of fix (0: none), bits 4–7 satellites
 *   S  bit 2 of its byte 24: ignition     u  unix seconds of the report     x  not read
 *      In types that are not drawn here, P is looked for.
 */
import {
  type Alarm,
  alarmsOf,
  ByteReader,
  ByteWriter,
  bytesDmy,
  crc16X25,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  isBytesDmy,
  lengthField,
  type Message,
  type Protocol,
  readableFixes,
  type Said,
  type Session,
  said,
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
/** Its third byte of flags. */
const IGNITION = 0x04
/** Bytes of an alarm. */
const ALARM = 6
const ALARMS: Readonly<Record<number, Alarm>> = {
  0x02: 'low_power',
  0x07: 'tow',
  0x0e: 'power_cut',
  0x10: 'sos',
  0x11: 'accident',
  0x12: 'tampering',
  0x1c: 'vibration',
}
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
/** Those that begin with the state of the vehicle. */
const STATE_ALONE = new Set([0x4002, 0x4003, 0x4004, 0x4005, 0x4006, 0x400b])

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
  const read = version === undefined ? older : OBD.has(version) ? obd : tracker
  return enveloped({ device, reply: replyTo(type, { version, answer, r, now: session.now }) }, () => read(type, r))
}

interface Answering {
  readonly version: number | undefined
  readonly answer: (code: number, content?: Uint8Array | readonly number[]) => Buffer
  readonly r: ByteReader
  readonly now: number
}

function replyTo(type: number, { version, answer, r, now }: Answering): Buffer | undefined {
  if (version === undefined)
    return type === 0x2001 ? answer(0x1001, [0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]) : undefined
  const isObd = OBD.has(version)
  switch (type) {
    case 0x1001: {
      const seconds = new ByteWriter().hex('ffffffff0000').u32le(Math.floor(now / 1000))
      return isObd ? answer(0x9001, seconds.toBuffer()) : undefined
    }
    case 0x1003:
      return answer(0x9003)
    case 0x4001:
      return isObd ? undefined : answer(0x8001)
    case 0x4007:
      return isObd ? answer(0xc007, r.ahead().slice(4)) : undefined
    case 0x4206:
      return isObd ? undefined : answer(0x8206)
    default:
      return undefined
  }
}

function obd(type: number, r: ByteReader): Message {
  switch (type) {
    case 0x1001:
      return withState(r, 'login')
    case 0x1002:
      return withState(r, 'logout')
    case 0x1003:
      return { none: 'heartbeat' }
    case 0x4001:
      return r.left <= STATE ? found(r) : withState(r.skip(1), 'no place')
    case 0x4007:
      return withState(r.skip(4), 'alarm')
    case 0x4009:
      return one(r.skip(4))
    case 0x401f:
      return withState(r.skip(5), 'no place')
    default:
      return {
        said: STATE_ALONE.has(type) ? state(r) : undefined,
        ...(NONE.has(type) ? { none: NONE.get(type) } : found(r)),
      }
  }
}

function tracker(type: number, r: ByteReader): Message {
  // Versions that are not known may be of OBD.
  if (type === 0x4001) return beginsPosition(r.ahead().slice(), 0) ? one(r) : withState(r.skip(1), 'no place')
  if (type === 0x4206) return positions(r.skip(1), 'no place')
  return type === 0x1003 ? { none: 'heartbeat' } : found(r)
}

function older(type: number, r: ByteReader): Message {
  if (type === 0x2001) return one(r.skip(9))
  return type === 0x1003 ? { none: 'heartbeat' } : found(r)
}

/** The state of the vehicle, then a count and as many positions, and of an alarm its list; `none`: what it is without one. */
function withState(r: ByteReader, none: string): Message {
  const { ignition } = state(r)
  const message = positions(r, none)
  const told = said({ ignition, alarms: none === 'alarm' ? alarms(r) : undefined })
  for (const fix of message.fixes ?? []) fix.said = told
  return message.fixes ? message : { ...message, said: told }
}

/** What the state of the vehicle says: its ignition. */
function state(r: ByteReader): Said {
  if (r.left < STATE) throw new DecodeError('truncated')
  const flags = r.skip(24).u8()
  r.skip(STATE - 25)
  return { ignition: (flags & IGNITION) !== 0 }
}

/** A list of alarms, behind the positions: those that begin. */
function alarms(r: ByteReader): readonly Alarm[] {
  const kinds: (Alarm | false | undefined)[] = []
  for (let count = r.left > 0 ? r.u8() : 0; count > 0 && r.left >= ALARM; count--) {
    const begins = r.u8() === 1
    kinds.push(begins && ALARMS[r.u8()])
    r.skip(ALARM - (begins ? 2 : 1))
  }
  return alarmsOf(...kinds)
}

/** A count and as many positions; where that is not what follows, the position that is found. `none`: what it is without one. */
function positions(r: ByteReader, none: string): Message {
  const rest = r.ahead()
  const count = r.u8()
  if (count * POSITION > r.left) return found(rest)
  const bytes = r.ahead().slice(count * POSITION)
  const places: number[] = []
  let dated = 0
  for (let at = 0; at < bytes.length; at += POSITION) {
    places.push(at)
    if (beginsPosition(bytes, at)) dated++
  }
  // A date that cannot be costs the other positions nothing.
  if (dated * 2 < count) return found(rest)
  r.skip(bytes.length)
  return readableFixes(places, (at) => fixOf(new ByteReader(bytes, at)), { none })
}

/** Whether a date of the calendar begins at an index, or that of a clock that was never set, and a position fits in. */
function beginsPosition(bytes: Buffer, at: number): boolean {
  return at + POSITION <= bytes.length && (bytes.readUInt16LE(at) === 0 || isBytesDmy(bytes, at))
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
  if (r.peek() === 0 && r.ahead(1).peek() === 0) {
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
    said: undefined,
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
