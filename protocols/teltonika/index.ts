/*
 * Teltonika FMB, FMC, FMM, FMT, TFT, TMT, GH …: "Teltonika Data Sending Protocols" (wiki.teltonika-gps.com). Big-endian.
 *
 *   TCP    LLLL I…                                           login: its length, the IMEI in ASCII; answer 01, or 00: refused
 *          00000000 DDDDDDDD KK NN record… NN CCCCCCCC       answer: NNNNNNNN, the records accepted, or the packet comes again
 *          FF…                                               pings, no answer
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
 *
 * A packet whose checksum fits and whose records cannot be read, or are of an unknown codec, is answered with its N. Codec 7 has
 * no element of a place alone: a record without coordinates is no fix. Commands are not answered. What is said: elements.ts;
 * the text GTSL|x|x|x|I|… of a reader on the serial port, in codec 0D, names the driver's card I (inferred from a frame).
 *
 * Over MQTT a packet of TCP, or Codec JSON (json.ts), is published to <imei>/data; over HTTP comes Codec JSON.
 */
import {
  ByteReader,
  crc16Arc,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Match,
  type Message,
  type Protocol,
  parseJson,
  type Said,
  type Session,
  type Settings,
  said,
  verify,
} from '../kit/index.ts'
import { SPEAKING, withDrivers, withElement, withShort } from './elements.ts'
import { gh3000Record } from './gh3000.ts'
import { readDocument, readRequest, readsGnssSpeed } from './json.ts'

export default {
  name: 'teltonika',
  devices: 'Teltonika FMB, FMC, FMM, FMU, FMP, FMT, TFT, TMT, GH5200 …',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/ARC', covers: [8, -4] },
  tcp: { port: 5027, frame: frameLength, starts },
  udp: { port: 5027 },
  http: { port: 5028 },
  decode,
  request: readRequest,
} satisfies Protocol

const PING = 0xff
const BRACE = 0x7b
/** The byte behind the id of a datagram is 1, by older documents 0: at most this. */
const DATAGRAM = 0x01
const HDOP = 182
const GNSS_SPEED = 24
const ACCEPTED = Buffer.from([0x01])
const REFUSED = Buffer.from([0x00])

/** Bytes of the envelope before the content, and after it. */
const [HEAD, TAIL] = [8, 4]
/** An IMEI has 15 digits; other text is no login. */
const LONGEST_LOGIN = 64
/** Of a record of codec 7 without its parts, and of a command without its text. */
const SHORTEST_CONTENT = 8
/** How many zeros a packet may begin with: four, and those of a length below 256 or 65,536. */
const [LEAST_ZEROS, MOST_ZEROS] = [6, 7]

/** The widths, in bytes, of what a codec's records are made of. */
interface Layout {
  /** Of an IO element's id. */
  readonly id: 1 | 2
  /** Of the event before the IO elements. */
  readonly event: number
  /** Of the number of IO elements in a group. */
  readonly count: 1 | 2
  /** Whether a group follows whose values carry their length. */
  readonly hasVariable: boolean
}

const LAYOUTS = new Map<number, Layout>([
  [0x08, { event: 1, count: 1, id: 1, hasVariable: false }],
  [0x8e, { event: 2, count: 2, id: 2, hasVariable: true }],
  [0x10, { event: 3, count: 1, id: 2, hasVariable: false }],
])
const CODEC_8 = 0x08
const GH3000 = 0x07
/**
 * Commands and their answers. They hold no position and get no answer: a camera (type 0D of codec 12) offers a photo, and
 * sends it over the device's SIM card only when a server asks for it. The specification has no refusal.
 */
const COMMANDS = new Set([0x0c, 0x0d, 0x0e, 0x0f])

/** Length of the first frame of a stream: pings, a login, a datagram or a packet. */
function frameLength(bytes: Buffer): number {
  if (bytes[0] === PING) return pings(bytes)
  if (bytes.length < 5) return 0
  const length = bytes.readUInt16BE()
  if (length === 0) return packetLength(bytes)
  const isLogin = length <= LONGEST_LOGIN && isText(bytes[2])
  if (!isLogin && bytes[4] !== DATAGRAM) return -1
  return bytes.length < 2 + length ? 0 : 2 + length
}

/** Length of the packet that begins with zeros. Zeros that begin none, and those in front of one, are noise. */
function packetLength(bytes: Buffer): number {
  const nonZero = bytes.findIndex((byte) => byte !== 0)
  const zeros = nonZero < 0 ? bytes.length : nonZero
  if (zeros > MOST_ZEROS) return MOST_ZEROS - zeros
  if (nonZero < 0 || bytes.length <= HEAD) return 0
  const length = bytes.readUInt32BE(4)
  // A codec is no text: that is the IMEI of a login.
  if (zeros < LEAST_ZEROS || length < SHORTEST_CONTENT || isText(bytes[HEAD])) return -1
  return bytes.length < HEAD + length + TAIL ? 0 : HEAD + length + TAIL
}

/** A run of pings is one frame: a sender of nothing else costs no more than its bytes. */
function pings(bytes: Buffer): number {
  let end = 1
  while (bytes[end] === PING) end++
  return end
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
  if (frame[0] === PING) return { none: 'ping' }
  if (frame[0] === BRACE) return readDocument(parseJson(frame.toString()), session)
  if (frame.length < HEAD || frame.readUInt32BE() !== 0)
    return frame[4] <= DATAGRAM ? datagram(frame, session) : login(frame)
  if (frame.length < HEAD + TAIL) throw new DecodeError('truncated')
  const content = frame.subarray(HEAD, session.lenient ? undefined : -TAIL)
  if (!session.lenient) {
    const length = frame.readUInt32BE(4)
    if (length !== content.length)
      throw new DecodeError('malformed', `length field is ${length}, content has ${content.length} bytes`)
    verify(frame.readUInt32BE(frame.length - TAIL) === crc16Arc(content), session)
  }
  if (COMMANDS.has(content[0])) return { none: 'command', said: cardIn(content) }
  const reply = Buffer.alloc(4)
  reply[3] = content[1]
  return enveloped({ reply }, () => records(content, new ByteReader(content), session.settingsOf()))
}

function login(frame: Buffer): Message {
  return { device: imei(new ByteReader(frame)), none: 'login', reply: ACCEPTED, refusal: REFUSED }
}

function imei(r: ByteReader): string {
  const id = r.ascii(r.u16())
  if (!/^[!-~]+$/.test(id)) throw new DecodeError('malformed', 'the IMEI is not text')
  return id
}

function datagram(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  const device = imei(r.skip(6))
  const reply = Buffer.from([0, 5, ...frame.subarray(2, 6), r.ahead(1).u8()])
  return enveloped({ device, reply }, () => records(frame, r, session.settingsOf(device)))
}

const SERIAL = 0x0d
const CARD = /GTSL(?:\|\d+){3}\|(\d+)\|/

/** The driver's card in text from the serial port. */
function cardIn(content: Buffer): Said | undefined {
  return content[0] === SERIAL ? said({ driver: CARD.exec(content.toString('latin1'))?.[1] }) : undefined
}

/** The records of a packet, at the cursor over its bytes: their fixes; all of codec 7 may be without a place. */
function records(bytes: Buffer, r: ByteReader, settings: Settings): Pick<Message, 'fixes' | 'none' | 'said'> {
  const codec = r.uint(1)
  const known = LAYOUTS.get(codec)
  if (!known && codec !== GH3000) throw new DecodeError('unsupported', `codec ${codec}`)
  const options = {
    bytes,
    hasLong: codec === CODEC_8 && settings.extended === true,
    hasGnssSpeed: readsGnssSpeed(settings),
  }
  const count = r.uint(1)
  const fixes: Fix[] = []
  // What the last record says, if it has no place.
  let unplaced: Said | undefined
  for (let i = 0; i < count; i++) {
    if (known) fixes.push(record(r, known, options))
    else {
      const { fix, said: says } = gh3000Record(r)
      if (fix) fixes.push(fix)
      unplaced = fix ? undefined : says
    }
  }
  const countAtEnd = r.uint(1)
  if (countAtEnd !== count)
    throw new DecodeError('malformed', `${count} records at the beginning, ${countAtEnd} at the end`)
  return fixes.length > 0 ? { fixes, said: unplaced } : { none: 'no place', said: unplaced }
}

/** The bytes of records, and what the settings of the device say of them. */
interface RecordOptions {
  /** What the cursor reads. */
  readonly bytes: Buffer
  /** Whether a group of 16-byte values follows: codec 8 of devices with the setting `extended`. */
  readonly hasLong: boolean
  readonly hasGnssSpeed: boolean
}

function record(r: ByteReader, layout: Layout, { bytes, hasLong, hasGnssSpeed }: RecordOptions): Fix {
  const { count, id, hasVariable } = layout
  const time = r.u64()
  r.take(1)
  const longitude = r.i32() / 1e7
  const latitude = r.i32() / 1e7
  const altitude = r.i16()
  const angle = heading(r.uint(2))
  const satellites = r.uint(1)
  let speed = kmh(r.uint(2))
  let hdop: number | undefined
  // Of the IO elements, two of those with 2-byte values belong to the fix.
  r.take(layout.event + count)
  let n = r.uint(count)
  let says = withShort({ bytes, at: r.take(n * (id + 1)), n, idWidth: id })
  for (n = r.uint(count); n > 0; n--) {
    const element = r.uint(id)
    const value = r.u16()
    if (element === HDOP && value > 0) hdop = value / 10
    else if (hasGnssSpeed && element === GNSS_SPEED) speed = kmh(value)
    else if (SPEAKING[element] === 1) says = withElement(element, value, says)
  }
  r.take(r.uint(count) * (id + 4))
  n = r.uint(count)
  says = withDrivers({ bytes, at: r.take(n * (id + 8)), n, idWidth: id }, says)
  if (hasLong) r.take(r.uint(count) * (id + 16))
  for (n = hasVariable ? r.uint(2) : 0; n > 0; n--) {
    r.take(2)
    r.take(r.uint(2))
  }
  const valid = satellites > 0
  return { time, latitude, longitude, valid, altitude, speed, heading: angle, satellites, hdop, said: says }
}
