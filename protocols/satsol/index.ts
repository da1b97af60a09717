/*
 * SatSol (Satellite Solutions). No specification is known: inferred from frames. TCP, little-endian.
 *
 *   CCCC BF4C IIIIIIII LLLL record…                        answer: CCCC BF4C IIIIIIII 0000
 *   record   cccc NNNN EEEE XXXX TTTTTTTT AAAAAAAA OOOOOOOO SSSS HHHH DDDD v n xx xx extra
 *
 *   I  device                T  unix seconds             v  1: fix         S  0.01 km/h
 *   L  length of the records A, O  1e-6°                 n  satellites     H  metres      D  degrees
 *   X  length of extra       C  CRC-16/CCITT-FALSE of what follows it
 */
import {
  ByteReader,
  ByteWriter,
  crc16CcittFalse,
  DecodeError,
  enveloped,
  type Fix,
  type Framer,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  type Stream,
  verify,
} from '../kit/index.ts'

export default {
  name: 'satsol',
  devices: 'SatSol',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/CCITT-FALSE', covers: (frame: Buffer) => [2, frame.length] as const },
  tcp: { port: 5184, frame: frameLength },
  decode,
} satisfies Protocol

const MARK = 0x4cbf
/** Bytes of a record before its extra ones. */
const RECORD = 30
const byLength: Framer = lengthField({ at: 8, width: 2, endian: 'little', add: 10 })

function frameLength(bytes: Buffer, stream: Stream): number {
  return bytes.length >= 4 && bytes.readUInt16LE(2) !== MARK ? -1 : byLength(bytes, stream)
}

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  const sum = r.u16le()
  verify(sum === crc16CcittFalse(frame.subarray(2)), session)
  if (r.u16le() !== MARK) throw new DecodeError('unsupported', 'the frame has no mark BF4C')
  const id = r.u32le()
  const answer = new ByteWriter().u16le(MARK).u32le(id).u16(0).toBuffer()
  const reply = new ByteWriter().u16le(crc16CcittFalse(answer)).bytes(answer).toBuffer()
  return enveloped({ device: String(id), reply }, () => {
    const fixes: Fix[] = []
    for (r.skip(2); r.left >= RECORD; ) fixes.push(recordOf(r))
    return fixes.length > 0 ? { fixes } : { none: 'heartbeat' }
  })
}

function recordOf(r: ByteReader): Fix {
  const extra = r.skip(6).u16le()
  const time = r.u32le() * 1000
  const latitude = r.i32le() / 1e6
  const longitude = r.i32le() / 1e6
  const speed = kmh(r.u16le() / 100)
  const altitude = r.i16le()
  const course = heading(r.u16le())
  const valid = r.u8() === 1
  const satellites = r.u8()
  r.skip(2 + extra)
  return { time, latitude, longitude, valid, altitude, speed, heading: course, satellites }
}
