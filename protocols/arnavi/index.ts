/*
 * Arnavi 3, 4, 5, Essential, Integral: "Arnavi binary protocol" (flespi.com/protocols/arnavi) and the older text. Little-endian.
 *
 *   FF 22 IIIIIIIIIIIIIIII                   header; 22: answer 7B 00 00 7D; 23, 25: answer 7B 04 00 CC TTTTTTTT 7D;
 *   FF 24 IIIIIIIIIIIIIIII EEEEEEEEEEEEEEEE          24: answer 7B 7D
 *   5B NN packet… 5D                         package; answer 7B 00 NN 7D, or it comes again        5B FD 00 5D  ping
 *   packet  PP LLLL TTTTTTTT data CC
 *
 *   I  IMEI      N  number of the package      L  length of the data      C  sum of T and the data
 *   E  id of an extension device               T  unix seconds
 *
 *   P  01, 06: tags, each a byte and 4 of value: 03, 04 latitude and longitude, float32, degrees; 05 heading (2°), altitude
 *      (10 m), satellites of two systems (4 bits each), speed (knots); 97 HDOP, 0.01; 01 battery16, external16, mV;
 *      06 01 of inputs, bit 0 of the next byte: ignition (inferred)     03: text
 *
 *   $AV,V4,id,… 11 fields …,fix,satellites,altitude,geoid,hhmmss,ddmm.mmmmN,dddmm.mmmmE,knots,course,ddmmyy,…*CC
 *            of the 11: number, external voltage, battery (0.01 V), 2 fields, ignition, …
 *   $AV,V2,…  $AV,V3,…      the same with other fields in front, and without altitude and geoid
 *   $AV,V3D,…   $AV,V6SD,…   no position           C  XOR behind $
 */
import {
  ByteReader,
  ByteWriter,
  between,
  DecodeError,
  dialects,
  dop,
  eachReadable,
  enveloped,
  type Fix,
  heading,
  knots,
  type Message,
  type Protocol,
  type Said,
  type Session,
  said,
  sum8,
  verify,
} from '../kit/index.ts'
import { line } from './line.ts'

const HEADER = 0xff
const PACKAGE = 0x5b
const PACKAGE_END = 0x5d
const EXTENDED = 0x24

const framing = dialects([
  { when: HEADER, frame: headerLength },
  { when: PACKAGE, frame: packageLength },
  { when: '$', frame: between('$', '\r\n') },
])

export default {
  name: 'arnavi',
  devices: 'Arnavi 3, 4, 5, Essential, Integral',
  acknowledges: 'some',
  integrity: { checksum: 'sum8', covers: coveredOf },
  tcp: { port: 5100, frame: framing.frame },
  decode,
} satisfies Protocol

/** Bytes of a packet beside its data: kind, length, time, checksum. */
const PACKET_FRAME = 8
const PING = 0xfd
const TAGS = new Set([1, 6])
const TEXT = 3
const LATITUDE = 3
const LONGITUDE = 4
const MOTION = 5
const HDOP = 0x97
const VOLTAGES = 1
const INPUTS = 6

function headerLength(bytes: Buffer): number {
  if (bytes.length < 2) return 0
  const length = bytes[1] === EXTENDED ? 18 : 10
  return bytes.length < length ? 0 : length
}

function packageLength(bytes: Buffer): number {
  if (bytes.length < 3) return 0
  if (bytes[1] === PING && (bytes[3] ?? PACKAGE_END) === PACKAGE_END) return bytes.length < 4 ? 0 : 4
  let at = 2
  while (at < bytes.length && bytes[at] !== PACKAGE_END) {
    if (bytes.length < at + 3) return 0
    at += PACKET_FRAME + bytes.readUInt16LE(at + 1)
  }
  return at < bytes.length ? at + 1 : 0
}

/** The time and the data of the first packet, as each has a checksum of its own; a line in front of its star. */
function coveredOf(frame: Buffer): readonly [number, number] {
  if (frame[0] !== PACKAGE) return [1, Math.max(1, frame.lastIndexOf('*'))]
  return frame.length > 5 ? [5, 9 + frame.readUInt16LE(3)] : [0, 0]
}

function decode(frame: Buffer, session: Session): Message {
  if (frame[0] === HEADER) return header(new ByteReader(frame).skip(1), session)
  if (frame[0] === PACKAGE) return packets(frame, session)
  if (frame[0] === 0x24) return line(frame, session)
  throw new DecodeError('unsupported', 'the frame begins like no frame')
}

function header(r: ByteReader, { now }: Session): Message {
  const version = r.u8()
  if (version < 0x22 || version > 0x25) throw new DecodeError('unsupported', `header ${version}`)
  const device = r.digits64le()
  const w = new ByteWriter().u8(0x7b)
  if (version === 0x22) w.u16(0)
  else if (version !== EXTENDED) {
    const clock = new ByteWriter().u32le(now / 1000).toBuffer()
    w.u8(4).u8(0).u8(sum8(clock)).bytes(clock)
  }
  return { device, none: 'login', reply: w.u8(0x7d).toBuffer() }
}

function packets(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame).skip(1)
  const number = r.u8()
  const reply = new ByteWriter().hex('7b00').u8(number).u8(0x7d).toBuffer()
  if (number === PING) return { none: 'heartbeat', reply }
  return enveloped({ reply }, () => packetsOf(r, session))
}

function packetsOf(r: ByteReader, session: Session): Message {
  const parts: { kind: number; data: Buffer }[] = []
  while (r.left > 1) {
    const kind = r.u8()
    const data = r.slice(r.u16le() + 4)
    verify(sum8(data) === r.u8(), session)
    parts.push({ kind, data })
  }
  if (r.u8() !== PACKAGE_END) throw new DecodeError('malformed', 'the package has no end')
  const { good, unreadable } = eachReadable(
    parts.filter(({ kind }) => TAGS.has(kind)),
    ({ data }) => fixOf(new ByteReader(data)),
  )
  const fixes = good.filter((fix) => fix !== undefined)
  if (fixes.length > 0) return { fixes, unreadable }
  return { none: parts.every(({ kind }) => kind === TEXT || TAGS.has(kind)) ? 'no place' : undefined, unreadable }
}

/** The fix of a packet of tags; undefined without a place. */
function fixOf(r: ByteReader): Fix | undefined {
  const fix: Partial<Fix> & Pick<Fix, 'time' | 'valid'> = { time: r.u32le() * 1000, valid: true }
  let values: Said = {}
  while (r.left >= 5) {
    const tag = r.u8()
    if (tag === LATITUDE) fix.latitude = r.f32le()
    else if (tag === LONGITUDE) fix.longitude = r.f32le()
    else if (tag === MOTION) Object.assign(fix, motion(r))
    else if (tag === VOLTAGES)
      values = { ...values, battery_voltage: r.u16le() / 1000, external_voltage: r.u16le() / 1000 }
    else if (tag === INPUTS) values = { ...values, ...inputs(r) }
    else if (tag === HDOP) fix.hdop = dop(r.u32le() / 100)
    else r.skip(4)
  }
  const { latitude, longitude } = fix
  return latitude === undefined || longitude === undefined
    ? undefined
    : { ...fix, latitude, longitude, said: said(values) }
}

function inputs(r: ByteReader): Said {
  const [kind, states] = r.slice(4)
  return kind === 1 ? { ignition: (states & 1) !== 0 } : {}
}

function motion(r: ByteReader): Partial<Fix> {
  const course = heading(r.u8() * 2)
  const altitude = r.i8() * 10
  const satellites = r.u8()
  return { heading: course, altitude, satellites: (satellites & 0x0f) + (satellites >> 4), speed: knots(r.u8()) }
}
