/*
 * PST trackers (Brazil): no specification is known: inferred from frames. Big-endian.
 *
 *   ( IIIIIIII V NNNNNNNN T content CCCC )      escapes: 28, 29 and 27 as 27 08, 27 09 and 27 07
 *
 *   I  id     V  version     N  number     T  type     C  CRC-16/XMODEM of everything before it
 *
 *   05  BBBBBBBB F NN (tag, length, value)…      tag 10: BBBBBBBB AAAAaaaa OOOOoooo V G HHHH …    0D: battery, 5 %
 *
 *   B  from the highest bit on: year of the century (6), month (4), day (5), hour (5), minute (6), second (6)
 *   A, O  latitude, longitude, minutes, the highest bit: south, west; a, o  their ten-thousandths
 *   F  bit 7: ignition
 *   V  speed, knots     G  heading, 2 degrees     H  altitude, m
 *
 * Answer to every frame: ( I V N 00 T C ). The escapes are inferred from the flags alone: no frame shows them.
 */
import {
  ByteReader,
  ByteWriter,
  crc16Xmodem,
  EndSearch,
  enveloped,
  type Fix,
  heading,
  knots,
  type Message,
  type Protocol,
  readableFixes,
  type Said,
  type Session,
  type Stream,
  said,
  splitBits,
  tlv,
  unescape,
  utc,
  verified,
} from '../kit/index.ts'

const OPEN = 0x28
const CLOSE = 0x29
const ESCAPE = 0x27
const CODES = new Map([
  [0x07, ESCAPE],
  [0x08, OPEN],
  [0x09, CLOSE],
])
const close = new EndSearch(CLOSE)

export default {
  name: 'pst',
  devices: 'PST trackers',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/XMODEM', covers: [0, -2] },
  escaping: { escape: ESCAPE, codes: CODES },
  tcp: { port: 5207, frame: frameLength },
  udp: { port: 5207 },
  decode,
} satisfies Protocol

const REPORT = 0x05
const POSITION = 0x10
/** A number above 20, as FE, says that it is not known. */
const BATTERY = 0x0d
const IGNITION = 0x80

/** What stands between the parentheses is a frame; these are skipped. */
function frameLength(bytes: Buffer, stream: Stream): number {
  if (bytes[0] === OPEN || bytes[0] === CLOSE) return -1
  return Math.max(0, close.after(bytes, 1, stream) - 1)
}

function decode(frame: Buffer, session: Session): Message {
  const bytes = unescape(frame, ESCAPE, CODES)
  const r = new ByteReader(verified(bytes, { sum: crc16Xmodem, from: 0, width: 2 }, session))
  const head = r.hex(9)
  const device = String(Number.parseInt(head.slice(0, 8), 16))
  const type = r.u8()
  const answer = new ByteWriter().hex(head).u8(0).u8(type).crc16(crc16Xmodem).toBuffer()
  const reply = wrapped(answer)
  return type === REPORT ? enveloped({ device, reply }, () => report(r)) : { device, reply }
}

function wrapped(answer: Buffer): Buffer {
  const pairs = [...answer].flatMap((byte) => (byte >= ESCAPE && byte <= CLOSE ? [ESCAPE, byte - 0x20] : [byte]))
  return Buffer.from([OPEN, ...pairs, CLOSE])
}

function report(r: ByteReader): Message {
  const ignition = (r.skip(4).u8() & IGNITION) !== 0
  let battery_percent: number | undefined
  const positions: ByteReader[] = []
  for (const { tag, value } of tlv(r.skip(1), { tag: 1, length: 1 })) {
    // The battery stands in front of the position.
    if (tag === BATTERY) battery_percent = value.u8() * 5
    if (tag === POSITION) positions.push(value)
  }
  const besides = said({ ignition, battery_percent })
  return readableFixes(positions, (value) => position(value, besides), { none: 'no place', said: besides })
}

function position(r: ByteReader, besides: Said | undefined): Fix {
  const [year, month, day, hour, minute, second] = splitBits(r.u32(), 6, 4, 5, 5, 6, 6)
  const latitude = angle(r)
  const longitude = angle(r)
  const speed = knots(r.u8())
  const course = heading(r.u8() * 2)
  const time = utc(year, month, day, hour, minute, second)
  return { time, latitude, longitude, valid: true, speed, heading: course, altitude: r.i16(), said: besides }
}

function angle(r: ByteReader): number {
  const minutes = r.u16()
  const degrees = ((minutes & 0x7fff) + r.u16() / 1e4) / 60
  return minutes & 0x8000 ? -degrees : degrees
}
