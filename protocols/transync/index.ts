/*
 * Transync. No specification is known: inferred from frames. TCP, big-endian.
 *
 *   3A3A xx xx LL IIIIIIIIIIIIIIII xxxx KK YYMMDDhhmmss AAAAAAAA OOOOOOOO SS CCCC x{13} (tag length value)… 2323
 *
 *   I  IMEI, packed decimals      K  10: position             S  km/h
 *   L  length                     A, O  1/1,800,000 degree    C  degrees
 *   tag 02: the driver's card (inferred)
 *
 * The length falls two bytes short of frames in which it is the same as that of others: the end is the first 2323 behind it.
 * South and west have not been seen. Nothing is answered.
 */
import {
  ByteReader,
  bytesYmd,
  DecodeError,
  EndSearch,
  enveloped,
  type Fix,
  heading,
  kmh,
  Marks,
  type Message,
  type Protocol,
  type Said,
  type Stream,
  said,
  tlv,
} from '../kit/index.ts'

export default {
  name: 'transync',
  devices: 'Transync',
  tcp: { port: 5247, frame: frameLength },
  decode,
} satisfies Protocol

const POSITION = 0x10
const [BEFORE_TAGS, DRIVER] = [13, 2]
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
  return enveloped({ device }, () => (r.skip(2).u8() === POSITION ? { fixes: [fixOf(r)] } : {}))
}

function fixOf(r: ByteReader): Fix {
  const time = bytesYmd(r)
  const latitude = r.i32() / PER_DEGREE
  const longitude = r.i32() / PER_DEGREE
  const speed = kmh(r.u8())
  const course = heading(r.u16())
  return { time, latitude, longitude, valid: true, speed, heading: course, said: driverOf(r) }
}

function driverOf(r: ByteReader): Said | undefined {
  if (r.left < BEFORE_TAGS) return undefined
  for (const { tag, value } of tlv(r.skip(BEFORE_TAGS), { tag: 1, length: 1 }))
    if (tag === DRIVER) return said({ driver: value.hex(value.left) })
  return undefined
}
