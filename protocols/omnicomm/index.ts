/*
 * Omnicomm Profi, Optim, Smart, Light: no specification is known: inferred from frames. Little-endian.
 *
 *   C0 TT LLLL content CCCC       escapes: C0 as DB DC, DB as DB DD
 *
 *   L  length of the content      C  CRC-16/CCITT-FALSE from T on, big-endian; in answers little-endian
 *
 *   80  IIIIIIII …                id; answer: type 85 with 00000000: the archive from its beginning on
 *   86  NNNNNNNN SSSSSSSS P (length16, record)…           N  number of the first record     S  seconds since 2009
 *
 *   record  Protocol Buffers: 2 { 1: seconds since 2009, 4: bit 0 ignition, 8: power, 0.1 V, 9: battery, % }
 *           5 { 1: latitude, 2: longitude, 3: speed, 4: heading, 5: satellites,
 *           6: altitude, 7: seconds since 2009 }; 1, 2: signed, 1e-7 degrees; 3: 0.1 km/h; 6: signed, 0.1 m
 *
 * A place without its own time has that of the record. Without that and without satellites it is none.
 */
import {
  ByteReader,
  ByteWriter,
  crc16CcittFalse,
  DecodeError,
  EndSearch,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  readableFixes,
  type Session,
  type Stream,
  said,
  secondsSince,
  unescape,
  verify,
  zigzag,
} from '../kit/index.ts'
import { fieldsOf } from './protobuf.ts'

const START = 0xc0
const ESCAPE = 0xdb
const CODES = new Map([
  [0xdc, START],
  [0xdd, ESCAPE],
])

export default {
  name: 'omnicomm',
  devices: 'Omnicomm Profi, Optim, Smart, Light',
  integrity: { checksum: 'CRC-16/CCITT-FALSE', covers: [1, -2] },
  escaping: { escape: ESCAPE, codes: CODES },
  tcp: { port: 5203, frame: frameLength },
  decode,
} satisfies Protocol

const IDENTIFICATION = 0x80
const REQUEST = 0x85
const ARCHIVE = 0x86
/** Bytes of a frame beside its content. */
const ENVELOPE = 6
const GENERAL = 2
const PLACE = 5
const timeOf = secondsSince(2009)
const starts = new EndSearch(START)

/** The length field counts bytes without their escapes: the frame ends where so many of them have come. */
function frameLength(bytes: Buffer, stream: Stream): number {
  if (bytes.length === 0) return 0
  if (bytes[0] !== START) return -(Math.max(0, starts.after(bytes, 0, stream) - 1) || bytes.length)
  let length = ENVELOPE
  let plain = 0
  for (let at = 0; at < bytes.length; at++) {
    if (at > 0 && bytes[at] === START) return -at
    const byte = bytes[at] === ESCAPE ? CODES.get(bytes[at + 1]) : bytes[at]
    if (byte === undefined && at + 1 === bytes.length) return 0
    if (byte !== undefined && bytes[at] === ESCAPE) at++
    if (plain === 2) length += byte ?? ESCAPE
    if (plain === 3) length += (byte ?? ESCAPE) << 8
    plain++
    if (plain === length) return at + 1
  }
  return 0
}

function decode(frame: Buffer, session: Session): Message {
  if (frame[0] !== START) throw new DecodeError('unsupported', 'the frame does not begin with C0')
  const bytes = Buffer.concat([frame.subarray(0, 1), unescape(frame.subarray(1), ESCAPE, CODES)])
  const r = new ByteReader(bytes).skip(1)
  const type = r.u8()
  const content = new ByteReader(r.slice(r.u16le()))
  verify(r.left === 2 && crc16CcittFalse(bytes.subarray(1, -2)) === r.u16(), session)
  if (type === IDENTIFICATION) return { device: String(content.u32le()), none: 'login', reply: request() }
  if (type !== ARCHIVE) return {}
  return content.left === 0 ? { none: 'status' } : archive(content.skip(9))
}

function request(): Buffer {
  const content = new ByteWriter().u8(REQUEST).u16le(4).u32le(0).crc16le(crc16CcittFalse).toBuffer()
  const pairs = [...content].flatMap((byte) =>
    byte === START ? [ESCAPE, 0xdc] : byte === ESCAPE ? [ESCAPE, 0xdd] : byte,
  )
  return Buffer.from([START, ...pairs])
}

function archive(r: ByteReader): Message {
  const records: Buffer[] = []
  while (r.left >= 2) records.push(r.slice(r.u16le()))
  return readableFixes(records, recordFix, { none: 'no place' })
}

/** The fix of a record; undefined without a place. */
function recordFix(record: Buffer): Fix | undefined {
  const groups = fieldsOf(record)
  const place = groups.get(PLACE)
  const time = place?.get(7) || groups.get(GENERAL)?.get(1)
  if (!place || time === undefined || (!place.get(7) && !place.get(5))) return undefined
  const number = (field: number) => place.get(field) ?? 0
  return {
    time: timeOf(time),
    latitude: zigzag(number(1)) / 1e7,
    longitude: zigzag(number(2)) / 1e7,
    valid: true,
    speed: kmh(number(3) / 10),
    heading: heading(number(4)),
    satellites: number(5),
    altitude: zigzag(number(6)) / 10,
    said: saidIn(groups.get(GENERAL)),
  }
}

function saidIn(general: ReadonlyMap<number, number> | undefined): Fix['said'] {
  const [state, power] = [general?.get(4), general?.get(8)]
  return said({
    ignition: state === undefined ? undefined : state % 2 === 1,
    external_voltage: power === undefined ? undefined : power / 10,
    battery_percent: general?.get(9),
  })
}
