/*
 * Teltonika FMB, FMC, FMM, FMT, TFT, TMT, GH …: "Teltonika Data Sending Protocols" (wiki.teltonika-gps.com). Big-endian.
 *
 *   TCP    LLLL I…                                           login: its length, the IMEI in ASCII; answer 01, or 00: refused
 *          00000000 DDDDDDDD KK NN record… NN CCCCCCCC       answer: NNNNNNNN, the records accepted, or the packet comes again
 *          FF                                                ping, no answer
 *   UDP    LLLL PPPP 01 AA JJJJ I… KK NN record… NN          answer: 0005 PPPP 01 AA NN
 *   record TTTTTTTTTTTTTTTT QQ OOOOOOOO YYYYYYYY HHHH GGGG SS VVVV io        (of codec 7: gh3000.ts)
 *   io     EE [RR] XX, then for the sizes 1, 2, 4, 8: XX of (id, value); codec 8E: then XX of (id, length16, value)
 *
 *   D  length from K to the second N            T  ms UTC             H  altitude, m      E  id of the event
 *   K  codec: 08, 8E (E, X, ids of 16 bits),    Q  priority           G  heading, degrees R  codec 16: why it was made
 *      10 (E, ids of 16 bits); 07; 0C to 0F:    O  longitude, 1e-7°   S  satellites; 0: no fix, O Y H are of the last one
 *      commands and their answers               Y  latitude, 1e-7°    V  speed, km/h      X  how many follow
 *   N  records; twice the same                  C  CRC-16/ARC from K to the second N, in its low half
 *   P, A  ids of the datagram and its packet    J  length of the IMEI
 */
import {
  ByteReader,
  crc16Arc,
  DecodeError,
  type Fix,
  heading,
  kmh,
  type Match,
  type Message,
  type Protocol,
  type Session,
  type Settings,
} from '../kit/index.ts'
import { gh3000Fix } from './gh3000.ts'

export default {
  name: 'teltonika',
  devices: 'Teltonika FMB, FMC, FMM, FMU, FMP, FMT, TFT, TMT, GH5200 …',
  acknowledges: 'fixes',
  tcp: { port: 5027, frame: frameLength, starts },
  udp: { port: 5027 },
  decode,
} satisfies Protocol

const PING = 0xff
const DATAGRAM = 0x01
const HDOP = 182
const GNSS_SPEED = 24
const ACCEPTED = Buffer.from([0x01])
const REFUSED = Buffer.from([0x00])

/** Bytes of the envelope before the content, and after it. */
const HEAD = 8
const TAIL = 4

/** What a codec's records look like. */
interface Layout {
  readonly id: 1 | 2
  readonly event: number
  readonly count: 1 | 2
  /** A group of values that come with their length follows. */
  readonly variable?: boolean
  /** A group of 16-byte values follows: of codec 8 in devices with the setting `extended`. */
  readonly long?: boolean
  /** IO element 24 is the GNSS speed, whatever source the record's own has: in FMB and its kin, where `model` says so. */
  readonly gnssSpeed?: boolean
}

const LAYOUTS = new Map<number, Layout>([
  [0x08, { event: 1, count: 1, id: 1 }],
  [0x8e, { event: 2, count: 2, id: 2, variable: true }],
  [0x10, { event: 3, count: 1, id: 2 }],
])
const GH3000 = 0x07
/**
 * Commands and their answers. No position is among them, and nothing is answered: a camera (type 0D of codec 12) offers a
 * photo, and sends it over the device's SIM card only when a server asks for it. The specification has no refusal.
 */
const COMMANDS = new Set([0x0c, 0x0d, 0x0e, 0x0f])

/** A stream that is out of step has nothing to find the next packet by: of a length of 0 no end is ever found. */
function frameLength(bytes: Buffer): number {
  if (bytes[0] === PING) return 1
  if (bytes.length < 5) return 0
  const length = bytes.readUInt16BE()
  if (length > 0) return isText(bytes[2]) || bytes[4] === DATAGRAM ? whole(bytes, 2 + length) : -1
  if (bytes.readUInt16BE(2) !== 0) return -1
  if (bytes.length < HEAD || bytes.readUInt32BE(4) === 0) return 0
  return whole(bytes, HEAD + bytes.readUInt32BE(4) + TAIL)
}

function whole(bytes: Buffer, length: number): number {
  return bytes.length < length ? 0 : length
}

function isText(byte: number): boolean {
  return byte > 0x20 && byte < 0x7f
}

/** A conversation begins with the login of an IMEI: 15 digits. */
function starts(bytes: Buffer): Match {
  const fits = bytes.subarray(0, 17).every((byte, i) => (i < 2 ? byte === (i && 15) : byte >= 0x30 && byte <= 0x39))
  return fits ? (bytes.length >= 3 ? 'yes' : 'maybe') : 'no'
}

function decode(frame: Buffer, session: Session): Message {
  if (frame[0] === PING) return {}
  if (frame.length >= HEAD && frame.readUInt32BE() === 0) return packet(frame, session)
  return frame[4] === DATAGRAM ? datagram(frame, session) : login(frame)
}

function login(frame: Buffer): Message {
  return { device: imei(new ByteReader(frame)), reply: ACCEPTED, refusal: REFUSED }
}

function imei(r: ByteReader): string {
  const id = r.ascii(r.u16())
  if (!/^[!-~]+$/.test(id)) throw new DecodeError('malformed', 'the IMEI is no text')
  return id
}

function packet(frame: Buffer, session: Session): Message {
  if (frame.length < HEAD + TAIL) throw new DecodeError('truncated')
  const content = session.lenient ? frame.subarray(HEAD) : verified(frame)
  if (COMMANDS.has(content[0])) return {}
  const { count, fixes } = records(new ByteReader(content), session)
  const reply = Buffer.alloc(4)
  reply[3] = count
  return { fixes, reply }
}

/** The content of a packet whose length and checksum are right. */
function verified(frame: Buffer): Buffer {
  const content = frame.subarray(HEAD, -TAIL)
  if (frame.readUInt32BE(4) !== content.length) throw new DecodeError('malformed', 'its length is another')
  if (frame.readUInt32BE(frame.length - TAIL) !== crc16Arc(content)) throw new DecodeError('checksum')
  return content
}

function datagram(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  const reply = Buffer.from([0, 5, frame[2], frame[3], DATAGRAM, frame[5], 0])
  const device = imei(r.skip(6))
  const { count, fixes } = records(r, session)
  reply[6] = count
  return { device, fixes, reply }
}

function records(r: ByteReader, { settings }: Session): { count: number; fixes: Fix[] } {
  const codec = r.u8()
  const layout = layoutOf(codec, settings)
  if (!layout && codec !== GH3000) throw new DecodeError('unsupported', `codec ${codec}`)
  const count = r.u8()
  const fixes: Fix[] = []
  for (let i = 0; i < count; i++) {
    const fix = layout ? record(r, layout) : gh3000Fix(r)
    if (fix) fixes.push(fix)
  }
  if (r.u8() !== count) throw new DecodeError('malformed', 'the numbers of records differ')
  return { count, fixes }
}

function layoutOf(codec: number, { extended, model = '' }: Settings): Layout | undefined {
  const layout = LAYOUTS.get(codec)
  return layout && { ...layout, long: codec === 0x08 && extended === true, gnssSpeed: /^FM[BCMPTU]/i.test(model) }
}

function record(r: ByteReader, layout: Layout): Fix {
  const time = r.u64()
  const longitude = r.skip(1).i32() / 1e7
  const latitude = r.i32() / 1e7
  const altitude = r.i16()
  const angle = heading(r.u16())
  const satellites = r.u8()
  const speed = kmh(r.u16())
  const fix: Fix = { time, latitude, longitude, valid: satellites > 0, altitude, speed, heading: angle, satellites }
  readIo(r.skip(layout.event), layout, fix)
  return fix
}

/** Moves past a record's IO elements; two of those with 2-byte values belong to the fix. */
function readIo(r: ByteReader, { count, id, variable, long, gnssSpeed }: Layout, fix: Fix): void {
  r.skip(count).skip(r.uint(count) * (id + 1))
  for (let n = r.uint(count); n > 0; n--) {
    const element = r.uint(id)
    const value = r.u16()
    if (element === HDOP && value > 0) fix.hdop = value / 10
    if (gnssSpeed && element === GNSS_SPEED) fix.speed = kmh(value)
  }
  r.skip(r.uint(count) * (id + 4)).skip(r.uint(count) * (id + 8))
  if (long) r.skip(r.uint(count) * (id + 16))
  if (variable) for (let n = r.u16(); n > 0; n--) r.skip(2).skip(r.u16())
}
