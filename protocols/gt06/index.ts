/*
 * Concox, Jimi and their many clones: "GPS Tracker Communication Protocol (GT06)" and its successors. Big-endian.
 *
 *   7878 LL   TT content… SSSS CCCC 0D0A
 *   7979 LLLL TT content… SSSS CCCC 0D0A
 *
 *   L  length from T to C     S  serial number            Login 01: IMEI as 8 bytes of packed decimals [KKKK ZZZZ], its kind
 *   T  type: see location.ts  C  CRC-16/X-25, L to S      and its zone: hours × 100 + minutes in bits 15–4, bit 3: west
 *   Answer, where there is one: 7878 05 TT SSSS CCCC 0D0A; to a request for an address, 2A, by "GPS Tracker Communication
 *   Protocol" of the JM-VL03, V1.1.2: 7979 LLLL 97 NN 00000000 'ADDRESS&&' address '&&' phone '##' SSSS CCCC 0D0A
 *
 * Frames of the Zhongxun family (WiFi and cells in place of a fix, 17 or 69) carry no serial number and no checksum, and L
 * counts access points; they are answered with 7878 00 TT and their six bytes of time. See README.md.
 */
import {
  ByteReader,
  ByteWriter,
  crc16X25,
  DecodeError,
  EndSearch,
  enveloped,
  type Match,
  type Message,
  type Protocol,
  type Session,
  type Stream,
  StreamState,
  verify,
} from '../kit/index.ts'
import { location } from './location.ts'

export default {
  name: 'gt06',
  devices: 'Concox and Jimi GT06N, GT06E, JM-VL03, WeTrack2, AT4, JC400, and clones of them',
  acknowledges: 'some',
  integrity: { checksum: 'CRC-16/X-25', covers: [3, -4] },
  tcp: { port: 5023, frame: frameLength, starts },
  udp: { port: 5023, frame: frameLength },
  decode,
} satisfies Protocol

const [SHORT, LONG] = [0x78, 0x79]
const END = Buffer.from([0x0d, 0x0a])
const laterEnd = new EndSearch(END)

/** Serial number, checksum, end. */
const TAIL = 6

/** Bytes of the shortest whole frame with a position: lenient tests have shorter ones, which lost their serial number. */
const POSITION = 28

/** In this file the type TT of a long frame (79 79) is written 79TT. */
const LONG_TYPE = 0x7900
const [LOGIN, TIME, ADDRESS, ADDRESS_ANSWER] = [0x01, 0x8a, 0x2a, 0x97]
/** Bytes of a login of the Zhongxun family, of the id, a version byte and the end; and of a login with kind and zone. */
const [ZHONGXUN_LOGIN, ZONED_LOGIN] = [15, 22]
const WIFI = new Set([0x17, 0x69])
/** Types of short frames without an answer: all others have one. */
const UNANSWERED = new Set([0x34, 0x81])
/** Types of long frames with an answer, and how that answer starts. */
const ANSWERED = new Map([
  [0x7932, LONG],
  [0x7933, LONG],
  [0x7970, SHORT],
  [0x79f1, SHORT],
  [0x79f2, SHORT],
])

/** How far local time is ahead of UTC by the login of a session, ms. */
const zones = new StreamState<number>()

/** Clones send wrong lengths: a frame without an end at its length goes on to the next end. */
function frameLength(bytes: Buffer, stream: Stream): number {
  if (bytes.length < 2) return isStart(bytes[0]) ? 0 : -bytes.length
  if (!isStart(bytes[0]) || bytes[1] !== bytes[0]) return -noise(bytes)
  const head = bytes[0] === LONG ? 4 : 3
  if (bytes.length < head) return 0
  if (isZhongxunLogin(bytes)) return ZHONGXUN_LOGIN
  const end = head + (head === 3 ? bytes[2] : bytes.readUInt16BE(2))
  if (bytes.length < end + 2) return 0
  return isEnd(bytes, end) ? end + 2 : laterEnd.after(bytes, end, stream)
}

const isEnd = (bytes: Buffer, at: number) => bytes[at] === END[0] && bytes[at + 1] === END[1]
const isStart = (byte: number) => byte === SHORT || byte === LONG
const isZhongxunLogin = (bytes: Buffer) => bytes[2] === 0x0d && bytes[3] === LOGIN && isEnd(bytes, ZHONGXUN_LOGIN - 2)

/** How many bytes there are before the next possible start of a frame. */
function noise(bytes: Buffer): number {
  let at = 1
  while (at < bytes.length && !(isStart(bytes[at]) && (bytes[at + 1] ?? bytes[at]) === bytes[at])) at++
  return at
}

/** A conversation begins with a login. */
function starts(bytes: Buffer): Match {
  const fits = [SHORT, SHORT, undefined, LOGIN].every((byte, i) => byte === undefined || (bytes[i] ?? byte) === byte)
  return fits ? (bytes.length < 4 ? 'maybe' : 'yes') : 'no'
}

function decode(frame: Buffer, session: Session): Message {
  const head = frame[0] === LONG ? 4 : 3
  if (isWifi(frame))
    return { none: 'wifi', reply: Buffer.concat([frame.subarray(0, 2), Buffer.of(0), frame.subarray(3, 10), END]) }
  if (frame.length < head + 1 + TAIL) throw new DecodeError('truncated')
  if (!session.lenient) verify(frame.readUInt16BE(frame.length - 4) === crc16X25(frame.subarray(2, -4)), session)
  const type = frame[head] | (head === 4 ? LONG_TYPE : 0)
  const isCut = session.lenient && head === 3 && frame.length < POSITION
  const content = frame.subarray(head + 1, isCut ? frame.length : -TAIL)
  const serial = frame.readUInt16BE(frame.length - TAIL)
  const reply = type === ADDRESS ? address(content, serial) : answer(type, serial, session.now)
  if (type === LOGIN) return { device: login(content, frame.length, session), none: 'login', reply }
  const { model, timeZone } = session.settingsOf()
  // A time zone that is configured is applied later, when the fix is placed.
  const ahead = timeZone === undefined ? (zones.of(session) ?? 0) : 0
  return enveloped({ reply }, () => location(type, content, { model, ahead }))
}

/** Whether a frame is of the Zhongxun family: it has no end at its length, and the access points that L counts fit in. */
function isWifi(frame: Buffer): boolean {
  if (frame[0] !== SHORT || !WIFI.has(frame[3]) || frame.length <= 12 + 7 * frame[2]) return false
  return isEnd(frame, frame.length - 2) && !isEnd(frame, 3 + frame[2])
}

/** The device's id. The zone, where a frame is long enough for one, holds for the session. */
function login(content: Buffer, length: number, session: Session): string {
  const r = new ByteReader(content)
  const id = r.bcd(8)
  const ahead = length >= ZONED_LOGIN ? zone(r.skip(2).u16()) : 0
  if (ahead === 0) zones.drop(session)
  else zones.set(session, ahead)
  return id.startsWith('0') ? id.slice(1) : id
}

/** Local time less UTC, ms; 0 of a zone that does not exist: clones put anything in its place, such as the SIM card's number. */
function zone(bits: number): number {
  const value = bits >> 4
  const minutes = value % 100
  const ahead = Math.trunc(value / 100) * 60 + minutes
  if (ahead > 14 * 60 || !ZONE_MINUTES.has(minutes)) return 0
  return (bits & 8 ? -ahead : ahead) * 60_000
}

/** Beside its hours, a zone that exists has none, a half or three quarters of one. */
const ZONE_MINUTES = new Set([0, 30, 45])

/** That no address is known, for the phone number that asked for it by SMS: without an answer the tracker asks again. */
function address(content: Buffer, serial: number): Buffer {
  const phone = content.toString('latin1', 18, 39).replaceAll(/\D/g, '')
  const text = Buffer.from(`\0\0\0\0ADDRESS&&NA&&${phone}##`)
  const w = new ByteWriter()
    .u8(LONG)
    .u8(LONG)
    .u16(text.length + 6)
    .u8(ADDRESS_ANSWER)
    .u8(text.length)
    .bytes(text)
  return w.u16(serial).crc16(crc16X25, 2).bytes(END).toBuffer()
}

function answer(type: number, serial: number, now: number): Buffer | undefined {
  const start = type < LONG_TYPE ? !UNANSWERED.has(type) && SHORT : ANSWERED.get(type)
  if (!start) return undefined
  const w = new ByteWriter().u8(start).u8(start)
  if (start === LONG) w.u8(0)
  w.u8(type === TIME ? 11 : 5).u8(type)
  if (type === TIME) w.ymdhms(now)
  return w.u16(serial).crc16(crc16X25, 2).bytes(END).toBuffer()
}
