/*
 * Orion Technology OBDtrac, VTi10: no specification is known: inferred from frames. Little-endian where nothing else is said.
 *
 *   PW 00 FF IIIIIIII 4 bytes AAAAAAAA OOOOOOOO HHHH GGGG VVVV YYMMDDhhmmss S 9 bytes NN value… Q CCCC
 *
 *   F  bit 6: an answer is wanted           H  altitude, 0.1 m      S  satellites     N  values, each a tag, the length of
 *   I  id, big-endian                       G  heading              Q  number            all of it, data
 *   A, O  latitude, longitude: ddmm.mmmm without the point          V  speed, 0.1 km/h
 *   C  CRC-16/XMODEM of everything before it
 *
 * Answer: 2A CCCC Q.
 */
import {
  ByteReader,
  ByteWriter,
  bytesYmd,
  crc16Xmodem,
  DecodeError,
  type Fix,
  degreesMinutes,
  heading,
  kmh,
  Marks,
  type Message,
  type Protocol,
  type Session,
  verified,
  enveloped,
} from '../kit/index.ts'

export default {
  name: 'orion',
  devices: 'Orion OBDtrac, VTi10',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/XMODEM', covers: [0, -2] },
  tcp: { port: 5070, frame: frameLength },
  decode,
} satisfies Protocol

const starts = new Marks('PW')
/** Bytes before the number of values. */
const HEAD = 43
const WANTS_ANSWER = 0x40

function frameLength(bytes: Buffer): number {
  if (starts.lengthAt(bytes, 0) === 0) return -starts.next(bytes, 1)
  if (bytes.length <= HEAD) return 0
  let end = HEAD + 1
  for (let left = bytes[HEAD]; left > 0; left--) {
    if (bytes.length < end + 2) return 0
    end += Math.max(2, bytes[end + 1])
  }
  return bytes.length < end + 3 ? 0 : end + 3
}

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: crc16Xmodem, from: 0, width: 2, endian: 'little' }, session))
  if (r.ascii(2) !== 'PW') throw new DecodeError('unsupported', 'the frame does not begin with PW')
  const wantsAnswer = (r.skip(1).u8() & WANTS_ANSWER) !== 0
  const device = String(r.u32())
  const answer = new ByteWriter()
    .u8(0x2a)
    .bytes(frame.subarray(-2))
    .u8(frame[frame.length - 3])
    .toBuffer()
  return enveloped({ device, reply: wantsAnswer ? answer : undefined }, () => ({ fixes: [fixOf(r)] }))
}

function fixOf(r: ByteReader): Fix {
  const latitude = degreesMinutes(r.skip(4).i32le() / 1e4)
  const longitude = degreesMinutes(r.i32le() / 1e4)
  const altitude = r.i16le() / 10
  const course = heading(r.u16le())
  const speed = kmh(r.u16le() / 10)
  const time = bytesYmd(r)
  const satellites = r.u8()
  return { time, latitude, longitude, valid: satellites > 0, altitude, heading: course, speed, satellites }
}
