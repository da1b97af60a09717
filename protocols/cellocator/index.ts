/*
 * Cellocator (PowerFleet) CR200, CR300, CelloTrack, CelloTrack Nano: "CR300 wireless communication protocol". Little-endian.
 *
 *   MCGP 00 IIIIIIII KKKK N … 70 bytes in all               status; answer: MCGP 04 I N and zeros, 28 bytes in all
 *   MCGP 0B IIIIIIII KKKK N P LLLL 00000000 module… C       modular message; answer: module 09 in a modular message
 *   MCGP 09 IIIIIIII KKKK N P LL module… C                  its older form, whose modules are not known; answer as to a status
 *
 *   I  unit id       N  message numerator        L  length from behind L to before C
 *   K  control       P  packet control           C  sum of all bytes behind MCGP
 *
 *   status, from byte 41 on   M M S OOOOOOOO AAAAAAAA HHHHHHHH VVVVVVVV GGGG ss mm hh DD MM YYYY C
 *   module  TT LLLL data      06: q M M S OOOOOOOO AAAAAAAA HHHHHHHH VVVV g       07: v ss mm hh DD MM YY
 *
 *   status, bytes 17 and 18: details, and why it was sent (some reasons are alarms); byte 20, bit 5: ignition; byte 23, bit 7: charging
 *
 *   M  modes of the fix       O, A  longitude, latitude, 1e-8 radians; of MCPG (the letters otherwise): 1e-7 degrees
 *   S  satellites             H  altitude, cm     V  speed, cm/s     G  heading, 1e-3 radians
 *
 * Module 06 is inferred from frames: what q and g say is open. In messages of types that are not known what a status ends with
 * is looked for, from M on.
 */
import {
  type Alarm,
  alarmsOf,
  ByteReader,
  ByteWriter,
  DecodeError,
  EndSearch,
  enveloped,
  type Fix,
  heading,
  Marks,
  type Message,
  type Protocol,
  radians,
  said,
  type Session,
  type Stream,
  sum8,
  tlv,
  utc,
  verified,
} from '../kit/index.ts'

export default {
  name: 'cellocator',
  devices: 'Cellocator CR200, CR300, CelloTrack, CelloTrack Nano, Cello-IQ',
  acknowledges: 'fixes',
  integrity: { checksum: 'sum8', covers: [4, -1] },
  tcp: { port: 5033, frame: frameLength },
  udp: { port: 5033, frame: frameLength },
  decode,
} satisfies Protocol

const STATUS = 0
const PROGRAMMING = 3
const LOGGER = 7
const SHORT_MODULAR = 9
const MODULAR = 0x0b
const LENGTHS = new Map([
  [STATUS, 70],
  [PROGRAMMING, 31],
  [LOGGER, 70],
])
/** Of modular messages: bytes before the modules and what follows the length, and where their length stands. */
const MODULAR_HEAD = 15
const SHORT_MODULAR_HEAD = 14
const MODULAR_LENGTH = 13
const LOCATION = 6
const TIME = 7

const STARTS = ['MCGP', 'MCPG']
const starts = new Marks(STARTS)
const nextStart = new EndSearch(STARTS)

/** Frames of types whose length is not known end where the next one begins. */
function frameLength(bytes: Buffer, stream: Stream): number {
  if (starts.lengthAt(bytes, 0) === 0) return -starts.next(bytes, 1)
  if (bytes.length < 5) return 0
  const length = lengthOf(bytes)
  if (length === undefined) return Math.max(0, nextStart.after(bytes, 5, stream) - 4)
  return bytes.length < length ? 0 : length
}

/** Undefined of a type whose length is not known. */
function lengthOf(bytes: Buffer): number | undefined {
  if (bytes[4] === SHORT_MODULAR) return shortModularLength(bytes)
  if (bytes[4] !== MODULAR) return LENGTHS.get(bytes[4])
  if (bytes.length < MODULAR_HEAD) return MODULAR_HEAD
  return MODULAR_HEAD + bytes.readUInt16LE(MODULAR_LENGTH) + 1
}

/** Undefined where the checksum does not fit at the length of the modules. */
function shortModularLength(bytes: Buffer): number | undefined {
  if (bytes.length < SHORT_MODULAR_HEAD) return SHORT_MODULAR_HEAD
  const length = SHORT_MODULAR_HEAD + bytes[MODULAR_LENGTH] + 1
  const isWhole = bytes.length >= length
  return isWhole && sum8(bytes.subarray(4, length - 1)) !== bytes[length - 1] ? undefined : length
}

function decode(frame: Buffer, session: Session): Message {
  const start = frame.toString('latin1', 0, 4)
  if (!STARTS.includes(start)) throw new DecodeError('unsupported', 'the frame does not begin with MCGP')
  const r = new ByteReader(verified(frame, { sum: sum8, from: 4, width: 1 }, session))
  const type = r.u8()
  const device = String(r.u32le())
  const numerator = r.skip(2).u8()
  const reply = type === MODULAR ? modularAnswer(device, numerator) : answer(device, numerator)
  const isInDegrees = start === 'MCPG'
  return enveloped({ device, reply }, () => {
    if (type === STATUS) return { fixes: [statusFix(r, isInDegrees)] }
    if (type === MODULAR) return modules(r)
    if (type === PROGRAMMING) return { none: 'command answer' }
    const found = stampWithin(r.slice(), isInDegrees)
    return found ? { fixes: [found] } : {}
  })
}

function statusFix(r: ByteReader, isInDegrees: boolean): Fix {
  const detail = r.skip(5).u8()
  const reason = r.u8()
  const ignition = (r.skip(1).u8() & IGNITION) !== 0
  const charging = (r.skip(2).u8() & CHARGING) !== 0
  const alarm = reason === TOWING && detail === TOWING_ENDED ? undefined : ALARMS.get(reason)
  const says = said({ ignition, charging, alarms: alarmsOf(alarm) })
  return { ...stamp(r.skip(BEFORE_STAMP), isInDegrees), said: says }
}

const IGNITION = 0x20
const CHARGING = 0x80
const [TOWING, TOWING_ENDED] = [8, 2]
/** Reasons to send. */
const ALARMS = new Map<number, Alarm>([
  [TOWING, 'tow'],
  [15, 'accident'],
  [70, 'sos'],
  [80, 'power_cut'],
  [81, 'low_power'],
  [83, 'low_battery'],
  [87, 'power_restored'],
  [145, 'sos'],
  [158, 'tampering'],
])

/** Bytes of a status between the outputs and the modes of the fix, and of what follows from these on. */
const [BEFORE_STAMP, STAMP] = [17, 28]

function answer(device: string, numerator: number): Buffer {
  const w = new ByteWriter().ascii('MCGP').u8(4).u32le(Number(device)).hex('000000000000').u8(numerator)
  return w.hex('0000000000000000000000').sum8(4).toBuffer()
}

function modularAnswer(device: string, numerator: number): Buffer {
  const w = new ByteWriter().ascii('MCGP').u8(MODULAR).u32le(Number(device)).u8(numerator)
  return w.hex('00000000').u8(0x80).u16le(10).hex('00000000').hex('090300000000').sum8(4).toBuffer()
}

/** The fix in content whose layout is not known: a place on Earth, a course and a time of the calendar. */
function stampWithin(content: Buffer, isInDegrees: boolean): Fix | undefined {
  for (let at = 0; at + STAMP <= content.length; at++) {
    if (content.readUInt16LE(at + 19) > MOST_COURSE || !isClock(content, at + 21)) continue
    const found = stamp(new ByteReader(content, at), isInDegrees)
    if (Math.abs(found.latitude) <= 90 && Math.abs(found.longitude) <= 180) return found
  }
  return undefined
}

/** 1e-3 radians. */
const MOST_COURSE = 6284

function isClock(bytes: Buffer, at: number): boolean {
  const [second, minute, hour, day, month] = bytes.subarray(at, at + 5)
  const year = bytes.readUInt16LE(at + 5)
  const isDate = day >= 1 && day <= 31 && month >= 1 && month <= 12 && year >= 2010 && year < 2100
  return isDate && second < 60 && minute < 60 && hour < 24
}

function stamp(r: ByteReader, isInDegrees: boolean): Fix {
  const angle = (value: number) => (isInDegrees ? value / 1e7 : radians(value / 1e8))
  const satellites = r.skip(2).u8()
  const longitude = angle(r.i32le())
  const latitude = angle(r.i32le())
  const altitude = r.i32le() / 100
  const speed = r.u32le() / 100
  const course = heading(radians(r.u16le() / 1000))
  const [second, minute, hour, day, month] = [r.u8(), r.u8(), r.u8(), r.u8(), r.u8()]
  const time = utc(r.u16le(), month, day, hour, minute, second)
  return { time, latitude, longitude, valid: true, altitude, speed, heading: course, satellites }
}

function modules(r: ByteReader): Message {
  let place: Omit<Fix, 'time'> | undefined
  let time: number | undefined
  r.skip(7)
  for (const { tag, value } of tlv(r, { tag: 1, length: 2, endian: 'little' })) {
    if (tag === LOCATION) place = location(value)
    if (tag === TIME) time = timeOf(value)
  }
  if (!place) return { none: 'no place' }
  return { fixes: time === undefined ? [] : [{ time, ...place }] }
}

function location(r: ByteReader): Omit<Fix, 'time'> {
  const satellites = r.skip(3).u8()
  const longitude = radians(r.i32le() / 1e8)
  const latitude = radians(r.i32le() / 1e8)
  return { latitude, longitude, valid: true, altitude: r.i32le() / 100, speed: r.u16le() / 100, satellites }
}

function timeOf(r: ByteReader): number {
  const [second, minute, hour, day, month] = [r.skip(1).u8(), r.u8(), r.u8(), r.u8(), r.u8()]
  return utc(r.u8(), month, day, hour, minute, second)
}
