/*
 * NDTP 6, which order 212 (2012) of Rosalkogolregulirovanie prescribes. Its text was not at hand: the envelope is inferred from
 * a login and its answer; no frame with a position is known. Little-endian, but for the checksum:
 *
 *   7E7E LLLL FFFF CCCC 02 ???????? NNNN   SSSS TTTT BBBB RRRRRRRR content
 *
 *   L  bytes behind N     C  CRC-16/MODBUS of these     S, T  service and type: 0 and 64 are the login
 *   B  bit 0: wants an answer     R  number of the request
 *
 *   login: MMMM MMMM ???? IIII …, I: id
 *   S 1: cells, of which 00 nn UUUUUUUU OOOOOOOO AAAAAAAA F b VVVV vvvv GGGG dddd HHHH N P is looked for
 *
 *   U  unix seconds                        V, G  km/h, degrees     F  bit 7: fix, bits 6 and 5: east, north; others
 *   O, A  longitude, latitude, 1e-7°       H  metres, N satellites    are stored to be read later
 *
 * Answer: 7E7E 0E00 0200 C 02 00000000 0000   SSSS 0000 0000 R 00000000.
 */
import {
  ByteReader,
  ByteWriter,
  crc16Modbus,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  verify,
} from '../kit/index.ts'

export default {
  name: 'ndtpv6',
  devices: 'Navigator trackers with NDTP 6',
  acknowledges: 'some',
  integrity: { checksum: 'CRC-16/MODBUS', covers: (frame) => [15, frame.length] },
  tcp: { port: 5243, frame: lengthField({ start: '~~', at: 2, width: 2, endian: 'little', add: 15 }) },
  decode,
} satisfies Protocol

const HEAD = 15
const LOGIN = 0x64
const WANTS_ANSWER = 1
const POSITIONS = 1
/** Bytes of a cell with a position. */
const CELL = 28
const [HAS_FIX, NORTH_EAST] = [0x80, 0x60]
const EARLIEST = Date.UTC(2010, 0, 1) / 1000
const LATEST = Date.UTC(2060, 0, 1) / 1000

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  if (r.u16() !== 0x7e7e) throw new DecodeError('unsupported', 'the frame does not begin with 7E7E')
  const sum = r.skip(4).u16()
  r.skip(HEAD - r.position)
  verify(sum === crc16Modbus(frame.subarray(HEAD)), session)
  const service = r.u16le()
  const type = r.u16le()
  const wantsAnswer = (r.u16le() & WANTS_ANSWER) !== 0
  const number = r.u32le()
  const reply = wantsAnswer ? answer(service, number) : undefined
  if (service === POSITIONS) return { fixes: positions(r.slice()), reply }
  if (service !== 0 || type !== LOGIN) return { reply }
  return enveloped({ reply }, () => ({ device: String(r.skip(6).u16le()), none: 'login' }))
}

/** The cells of positions, whatever cells of other lengths stand between them. */
function positions(content: Buffer): Fix[] {
  const fixes: Fix[] = []
  for (let at = 0; at + CELL <= content.length; at++) {
    if (!isCell(content, at)) continue
    fixes.push(position(new ByteReader(content, at + 2)))
    at += CELL - 1
  }
  return fixes
}

/** Whether a time of our days, a place in the north-east, and a course stand where a cell has them. */
function isCell(bytes: Buffer, at: number): boolean {
  const time = bytes.readUInt32LE(at + 2)
  const isPlace = bytes.readUInt32LE(at + 6) <= 180e7 && bytes.readUInt32LE(at + 10) <= 90e7
  const isOfOurDays = bytes[at] === 0 && time > EARLIEST && time < LATEST
  return isOfOurDays && isPlace && (bytes[at + 14] & NORTH_EAST) === NORTH_EAST && bytes.readUInt16LE(at + 20) <= 360
}

function position(r: ByteReader): Fix {
  const time = r.u32le() * 1000
  const longitude = r.u32le() / 1e7
  const latitude = r.u32le() / 1e7
  const valid = (r.u8() & HAS_FIX) !== 0
  const speed = kmh(r.skip(1).u16le())
  const course = heading(r.skip(2).u16le())
  const altitude = r.skip(2).i16le()
  return { time, latitude, longitude, valid, altitude, speed, heading: course, satellites: r.u8() }
}

function answer(service: number, number: number): Buffer {
  const content = new ByteWriter().u16le(service).hex('00000000').u32le(number).u32(0).toBuffer()
  const w = new ByteWriter().hex('7e7e').u16le(content.length).hex('0200').u16(crc16Modbus(content))
  return w.hex('02000000000000').bytes(content).toBuffer()
}
