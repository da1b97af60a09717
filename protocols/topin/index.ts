/*
 * Topin and ZhongXun G02, T8S, 02F and other Wi-Fi trackers: "ZhongXun Topin Locator Communication Protocol" 180612
 * (scribd.com/document/756962096), the altitude since its V1.2 (scribd.com/document/867198847); 08 with a position, 18, 1A, 1B and 94
 * to 99 are inferred from frames. Big-endian.
 *
 *   78 78 NN TT content 0D 0A
 *
 *   N  a length that is wrong in many frames, or of cells the number of access points: not used
 *
 *   01  login: IMEI, packed decimals                            answer 78 78 01 01 0D 0A
 *   10, 11  YYMMDDhhmmss S AAAAAAAA OOOOOOOO V GGGG [HHHH xx]   answer N T YYMMDDhhmmss
 *   08  YYMMDDhhmmss DD MMMMMM DD MMMMMM …  (without content: heartbeat, no answer)
 *   17, 18, 1A, 1B, 69  YYMMDDhhmmss, access points and cells   answer N T YYMMDDhhmmss
 *   13  B …  status                                               answer: the same
 *   94, 99  vibration, SOS;  82, 83  charger connected, removed
 *   30  asks for the time                                       answer 07 30 YYYY MM DD hh mm ss
 *
 *   B  battery, %     S  satellites, low four bits     V  speed, km/h     G  bit 12: a fix, 11: west, 10: north; heading in the low ten bits
 *   A, O  latitude, longitude, 1/30000 minute           D, M  degrees, 0 to 127, and millionths of them
 *   H  altitude, m
 *
 * A time is one byte each, in reports of cells packed decimals.
 */
import {
  ByteReader,
  ByteWriter,
  bytesYmd,
  concoxFix,
  DecodeError,
  EndSearch,
  enveloped,
  type Fix,
  type Message,
  type Protocol,
  type Said,
  type Session,
  type Stream,
  said,
} from '../kit/index.ts'

const LOGIN = 0x01
const GPS = 0x10
const STORED_GPS = 0x11
const ALARM = 0x08
const STATUS = 0x13
const TIME = 0x30
const CELLS = new Set([0x17, 0x18, 0x1a, 0x1b, 0x69])
/** Types of events without content, which are not answered. */
const EVENTS = new Map<number, Said>([
  [0x82, { charging: true }],
  [0x83, { charging: false }],
  [0x94, { alarms: ['vibration'] }],
  [0x99, { alarms: ['sos'] }],
])

/** Bytes of an altitude, and of the end. */
const [ALTITUDE, CRLF] = [2, 2]

const crlf = new EndSearch('\r\n')

export default {
  name: 'topin',
  devices: 'Topin and ZhongXun G02, T8S, 02F',
  acknowledges: 'some',
  tcp: { port: 5199, frame: frameLength },
  decode,
} satisfies Protocol

/** A frame ends with the first CR LF behind the least length of its type. */
function frameLength(bytes: Buffer, stream: Stream): number {
  if (bytes.length < 2) return 0
  if (bytes[0] !== 0x78 || bytes[1] !== 0x78) return -1
  if (bytes.length < 4) return 0
  const type = bytes[3]
  const least = type === GPS || type === STORED_GPS ? 22 : CELLS.has(type) ? 10 + 7 * bytes[2] : 4
  return bytes.length < least ? 0 : crlf.after(bytes, least, stream)
}

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  if (r.u16() !== 0x7878) throw new DecodeError('unsupported', 'the frame does not begin with 78 78')
  const length = r.u8()
  const type = r.u8()
  const isEmpty = r.left <= 2
  if (type === LOGIN) return { device: r.bcd(8).replace(/^0+/, ''), none: 'login', reply: answer(1, type) }
  if (type === GPS || type === STORED_GPS)
    return enveloped({ reply: echoed(frame, length, type) }, () => ({ fixes: [position(r)] }))
  if (type === ALARM) return isEmpty ? { none: 'heartbeat' } : alarm(r)
  if (CELLS.has(type)) return { none: 'cells', reply: echoed(frame, length, type) }
  if (type === STATUS)
    return {
      none: 'status',
      said: said({ battery_percent: r.left > 2 ? r.u8() : undefined }),
      reply: Buffer.from(frame),
    }
  if (type === TIME) return { none: 'time', reply: clock(session.now) }
  const event = EVENTS.get(type)
  return event ? { none: 'status', said: event } : {}
}

/** Behind the oldest layout stands nothing but CR LF. */
function position(r: ByteReader): Fix {
  const fix = concoxFix(r)
  return r.left < ALTITUDE + CRLF ? fix : { ...fix, altitude: r.i16() }
}

function answer(length: number, type: number, content: Uint8Array = new Uint8Array()): Buffer {
  return new ByteWriter().u16(0x7878).u8(length).u8(type).bytes(content).ascii('\r\n').toBuffer()
}

/** The answer that repeats the six bytes of time of a frame. */
function echoed(frame: Buffer, length: number, type: number): Buffer {
  return answer(length, type, new ByteReader(frame).skip(4).slice(6))
}

function clock(now: number): Buffer {
  const at = new Date(now)
  const w = new ByteWriter()
    .u16(at.getUTCFullYear())
    .u8(at.getUTCMonth() + 1)
    .u8(at.getUTCDate())
  return answer(7, TIME, w.u8(at.getUTCHours()).u8(at.getUTCMinutes()).u8(at.getUTCSeconds()).toBuffer())
}

/** Which way the millionths of degrees below 0 count, and how degrees above 127 are written, no frame shows. */
function alarm(r: ByteReader): Message {
  const time = bytesYmd(r)
  const [latitude, northMillionths, longitude, eastMillionths] = [r.i8(), r.u24(), r.i8(), r.u24()]
  if (latitude < 0 || longitude < 0) return { fixes: [] }
  const place = { latitude: latitude + northMillionths / 1e6, longitude: longitude + eastMillionths / 1e6 }
  return { fixes: [{ time, ...place, valid: true }] }
}
