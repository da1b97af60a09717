/*
 * OBD dongles that begin with 55 55. No specification is known: inferred from a login and one position. Big-endian. TCP.
 *
 *   5555 NNNN I{15} TT LLLL content K AAAA
 *
 *   N  number     T  type                    K  a checksum of unknown kind: 00 in answers
 *   I  IMEI       L  bytes of the content
 *
 *   01  login: answer 02, 01 and six zeros
 *   03  nnnn xx UUUUUUUU xx{3} oooooo yyyyyy SC{3} sf     position; answer 04, n
 *
 *   n  number of the position     o, y  longitude, latitude, 1e-5 degrees, without their signs     s  satellites, four bits
 *   U  unix seconds               SC  flags (4 bits), speed (10, 0.1 mph), course (10, degrees)    f  flags, four bits
 *
 * A position is read where its flags are those of the known one: 0, and f 4: north and west. What others stand for is not
 * known: such frames are kept as they are.
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  EndSearch,
  enveloped,
  type Fix,
  heading,
  Marks,
  type Message,
  mph,
  type Protocol,
  type Stream,
  splitBits,
} from '../kit/index.ts'

export default {
  name: 'obddongle',
  devices: 'OBD dongles that begin with 55 55',
  acknowledges: 'fixes',
  integrity: { none: 'the kind of its checksum is not known' },
  tcp: { port: 5115, frame: frameLength },
  decode,
} satisfies Protocol

const LOGIN = 0x01
const POSITION = 0x03
const NORTH_WEST = 4

/** Bytes up to the content, and behind it. */
const HEAD = 22
const TAIL = 3
const END = Buffer.of(0xaa, 0xaa)
const starts = new Marks('UU')
const ends = new EndSearch(END)

/** The known position has a wrong length: a frame without an end at its length goes on to the next end. */
function frameLength(bytes: Buffer, stream: Stream): number {
  const start = starts.lengthAt(bytes, 0)
  if (start === 0) return -starts.next(bytes, 1)
  if (start < 0 || bytes.length < HEAD) return 0
  const end = HEAD + bytes.readUInt16BE(HEAD - 2) + TAIL
  if (bytes.length < end) return 0
  return bytes.subarray(end - 2, end).equals(END) ? end : ends.after(bytes, end, stream)
}

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  if (r.u16() !== 0x5555) throw new DecodeError('unsupported', 'the frame does not begin with 55 55')
  const head = r.ahead(-2).slice(19)
  const device = r.skip(2).imei()
  const type = r.u8()
  r.skip(2)
  if (type === LOGIN) return { device, none: 'login', reply: answer(head, 0x02, Buffer.of(1, 0, 0, 0, 0, 0, 0)) }
  if (type !== POSITION) return { device }
  const number = r.slice(2)
  return enveloped({ device, reply: answer(head, 0x04, number) }, () => {
    const fix = positionOf(r.skip(1))
    return { fixes: fix ? [fix] : [] }
  })
}

/** Undefined where its flags are not those that are known. */
function positionOf(r: ByteReader): Fix | undefined {
  const time = r.u32() * 1000
  const longitude = -r.skip(3).u24() / 1e5
  const latitude = r.u24() / 1e5
  const [flags, speed, course] = splitBits(r.u24(), 4, 10, 10)
  const [satellites, hemispheres] = splitBits(r.u8(), 4, 4)
  if (flags !== 0 || hemispheres !== NORTH_WEST) return undefined
  return { time, latitude, longitude, valid: true, speed: mph(speed / 10), heading: heading(course), satellites }
}

function answer(head: Buffer, type: number, content: Buffer): Buffer {
  const w = new ByteWriter().bytes(head).u8(type).u16(content.length).bytes(content)
  return w.u8(0).hex('aaaa').toBuffer()
}
