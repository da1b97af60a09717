/*
 * Drones with ArduPilot or PX4: MAVLink 2 (mavlink.io/en/guide/serialization.html), message GLOBAL_POSITION_INT. Little-endian.
 *
 *   FD LL FF GG NN SS CC MMMMMM payload RRRR [signature, 13 bytes]
 *
 *   L  length of the payload, without zeros at its end     S, C  system, component; the system is the device
 *   F  bit 0: signed     G  flags     N  number            R  CRC-16/MCRF4XX from L on, and a byte of the message's own
 *
 *   M = 33  TTTTTTTT AAAAAAAA OOOOOOOO HHHHHHHH RRRRRRRR XXXX YYYY ZZZZ GGGG
 *
 *   T  ms since the start: the arrival counts     H  altitude, mm     X, Y  speed to the north, to the east, cm/s
 *   A, O  latitude, longitude, 1e-7 degrees       G  heading, 0.01 degrees, 65535: not known
 *
 * The positions of all other messages are in this one as well. Nothing is answered.
 */
import {
  ByteReader,
  crc16Mcrf4xx,
  DecodeError,
  type Fix,
  heading,
  type Message,
  type Protocol,
  type Session,
  verify,
} from '../kit/index.ts'

export default {
  name: 'mavlink2',
  devices: 'drones with ArduPilot or PX4',
  integrity: { checksum: 'CRC-16/MCRF4XX', covers: (frame) => [HEAD, HEAD + (frame[1] ?? 0)] },
  udp: { port: 5224, frame: frameLength },
  decode,
} satisfies Protocol

const START = 0xfd
const HEAD = 10
const SIGNATURE = 13
const GLOBAL_POSITION = 33
const GLOBAL_POSITION_LENGTH = 28
/** The byte that this message adds to the checksum. */
const GLOBAL_POSITION_EXTRA = 104
const UNKNOWN_HEADING = 0xffff

function frameLength(bytes: Buffer): number {
  if (bytes.length < 3) return 0
  if (bytes[0] !== START) return -1
  const length = HEAD + bytes[1] + 2 + ((bytes[2] & 1) !== 0 ? SIGNATURE : 0)
  return bytes.length < length ? 0 : length
}

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  if (r.u8() !== START) throw new DecodeError('unsupported', 'the frame does not begin with FD')
  const length = r.u8()
  const device = String(r.skip(3).u8())
  const message = r.skip(1).u24le()
  const payload = r.slice(length)
  const checksum = r.u16le()
  if (message !== GLOBAL_POSITION) return { device, none: 'status' }
  const covered = Buffer.concat([frame.subarray(1, HEAD + length), Buffer.of(GLOBAL_POSITION_EXTRA)])
  verify(crc16Mcrf4xx(covered) === checksum, session)
  const whole = Buffer.alloc(Math.max(GLOBAL_POSITION_LENGTH, length))
  payload.copy(whole)
  return { device, fixes: [position(new ByteReader(whole), session.now)] }
}

function position(r: ByteReader, time: number): Fix {
  const latitude = r.skip(4).i32le() / 1e7
  const longitude = r.i32le() / 1e7
  const altitude = r.i32le() / 1000
  const speed = Math.hypot(r.skip(4).i16le(), r.i16le()) / 100
  const course = r.skip(2).u16le()
  const direction = course === UNKNOWN_HEADING ? undefined : heading(course / 100)
  return { time, latitude, longitude, valid: true, altitude, speed, heading: direction }
}
