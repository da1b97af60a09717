/*
 * Transync. No specification is known: inferred from frames. TCP, big-endian.
 *
 *   3A3A xx xx LL IIIIIIIIIIIIIIII xxxx KK YYMMDDhhmmss AAAAAAAA OOOOOOOO SS CCCC … 2323
 *
 *   I  IMEI, packed decimals      K  10: position             S  km/h
 *   L  length                     A, O  1/1,800,000 degree    C  degrees
 *
 * The length falls two bytes short of frames in which it is the same as that of others: the end is the first 2323 behind it.
 * South and west have not been seen. Nothing is answered.
 */
import {
  ByteReader,
  bytesYmd,
  DecodeError,
  EndSearch,
  heading,
  kmh,
  Marks,
  type Message,
  type Protocol,
  type Stream,
} from '../kit/index.ts'

export default {
  name: 'transync',
  devices: 'Transync',
  tcp: { port: 5247, frame: frameLength },
  decode,
} satisfies Protocol

const POSITION = 0x10
const PER_DEGREE = 1_800_000
const starts = new Marks('::')
const ends = new EndSearch('##')

function frameLength(bytes: Buffer, stream: Stream): number {
  if (starts.lengthAt(bytes, 0) === 0) return -starts.next(bytes, 1)
  return bytes.length < 5 || bytes.length < bytes[4] + 5 ? 0 : ends.after(bytes, bytes[4] + 3, stream)
}

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  if (r.u16() !== 0x3a3a) throw new DecodeError('unsupported', 'the frame does not begin with 3A3A')
  const device = r
    .skip(3)
    .bcd(8)
    .replace(/^0+(?=\d{15})/, '')
  if (r.skip(2).u8() !== POSITION) return { device }
  const time = bytesYmd(r)
  const latitude = r.i32() / PER_DEGREE
  const longitude = r.i32() / PER_DEGREE
  const speed = kmh(r.u8())
  return { device, fixes: [{ time, latitude, longitude, valid: true, speed, heading: heading(r.u16()) }] }
}
