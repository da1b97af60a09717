/*
 * Cellocator (PowerFleet) CR200, CR300, CelloTrack, CelloTrack Nano: "CR300 wireless communication protocol". Little-endian.
 *
 *   MCGP 00 IIIIIIII KKKK N … 70 bytes in all               status; answer: MCGP 04 I N and zeros, 28 bytes in all
 *   MCGP 0B IIIIIIII KKKK N P LLLL 00000000 module… C       modular message; answer: module 09 in a modular message
 *
 *   I  unit id       N  message numerator        L  length from behind L to before C
 *   K  control       P  packet control           C  sum of all bytes behind MCGP
 *
 *   status, from byte 41 on   M M S OOOOOOOO AAAAAAAA HHHHHHHH VVVVVVVV GGGG ss mm hh DD MM YYYY C
 *   module  TT LLLL data      06: q M M S OOOOOOOO AAAAAAAA HHHHHHHH VVVV g       07: v ss mm hh DD MM YY
 *
 *   M  modes of the fix       O, A  longitude, latitude, 1e-8 radians; of MCPG (the letters otherwise): 1e-7 degrees
 *   S  satellites             H  altitude, cm     V  speed, cm/s     G  heading, 1e-3 radians
 *
 * Module 06 is inferred from frames: what q and g say is open.
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  EndSearch,
  type Fix,
  heading,
  Marks,
  type Message,
  type Protocol,
  radians,
  type Session,
  sum8,
  tlv,
  utc,
  verified,
} from '../kit/index.ts'

export default {
  name: 'cellocator',
  devices: 'Cellocator CR200, CR300, CelloTrack, CelloTrack Nano, Cello-IQ',
  acknowledges: 'fixes',
  accuracy: 'none',
  integrity: { checksum: 'sum8', covers: [4, -1] },
  escaping: 'none',
  tcp: { port: 5033, frame: frameLength },
  udp: { port: 5033 },
  decode,
} satisfies Protocol

const STATUS = 0
const PROGRAMMING = 3
const LOGGER = 7
const MODULAR = 0x0b
const LENGTHS = new Map([
  [STATUS, 70],
  [PROGRAMMING, 31],
  [LOGGER, 70],
])
/** Of a modular message: bytes before its modules, and where their length stands. */
const MODULAR_HEAD = 15
const MODULAR_LENGTH = 13
const LOCATION = 6
const TIME = 7

const STARTS = ['MCGP', 'MCPG']
const starts = new Marks(STARTS)
const nextStart = new EndSearch(STARTS)

/** Frames of types whose length is not known end where the next one begins. */
function frameLength(bytes: Buffer, session: Session): number {
  if (starts.lengthAt(bytes, 0) === 0) return -starts.next(bytes, 1)
  if (bytes.length < 5) return 0
  const length = bytes[4] === MODULAR ? modularLength(bytes) : LENGTHS.get(bytes[4])
  if (length === undefined) return Math.max(0, nextStart.after(bytes, 5, session) - 4)
  return bytes.length < length ? 0 : length
}

function modularLength(bytes: Buffer): number {
  if (bytes.length < MODULAR_HEAD) return MODULAR_HEAD
  return MODULAR_HEAD + bytes.readUInt16LE(MODULAR_LENGTH) + 1
}

function decode(frame: Buffer, session: Session): Message {
  const start = frame.toString('latin1', 0, 4)
  if (!STARTS.includes(start)) throw new DecodeError('unsupported', 'the frame does not begin with MCGP')
  const r = new ByteReader(verified(frame, { sum: sum8, from: 4, width: 1 }, session))
  const type = r.u8()
  const device = String(r.u32le())
  const numerator = r.skip(2).u8()
  const reply = type === MODULAR ? modularAnswer(device, numerator) : answer(device, numerator)
  if (type === STATUS) return { device, fixes: [status(r, start === 'MCPG')], reply }
  if (type === MODULAR) return { device, ...modules(r), reply }
  return { device, none: type === PROGRAMMING ? 'command answer' : undefined, reply }
}

function answer(device: string, numerator: number): Buffer {
  const w = new ByteWriter().ascii('MCGP').u8(4).u32le(Number(device)).hex('000000000000').u8(numerator)
  return w.hex('0000000000000000000000').sum8(4).toBuffer()
}

function modularAnswer(device: string, numerator: number): Buffer {
  const w = new ByteWriter().ascii('MCGP').u8(MODULAR).u32le(Number(device)).u8(numerator)
  return w.hex('00000000').u8(0x80).u16le(10).hex('00000000').hex('090300000000').sum8(4).toBuffer()
}

function status(r: ByteReader, isInDegrees: boolean): Fix {
  const angle = (value: number) => (isInDegrees ? value / 1e7 : radians(value / 1e8))
  const satellites = r.skip(31).u8()
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
