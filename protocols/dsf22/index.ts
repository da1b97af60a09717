/*
 * DSF22: no specification is known, inferred from frames. Little-endian. TCP and UDP, no checksum.
 *
 *   4642 IIII n (yyyyyyyy oooooooo TTTTTTTT SS xx xx F)…       n positions; answer 01
 *
 *   I  id     y, o  1e-7 degrees     T  unix seconds     S  km/h     F  bit 0: ignition
 */
import {
  ByteReader,
  DecodeError,
  enveloped,
  type Fix,
  type Framer,
  kmh,
  type Message,
  type Protocol,
  said,
} from '../kit/index.ts'

export default {
  name: 'dsf22',
  devices: 'DSF22',
  acknowledges: 'fixes',
  tcp: { port: 5236, frame: frameLength },
  udp: { port: 5236, frame: frameLength },
  decode,
} satisfies Protocol

const HEAD = 5
const RECORD = 16
const START = 'FB'
const ACK = Buffer.of(1)

function frameLength(...[bytes]: Parameters<Framer>): number {
  if (!START.startsWith(bytes.toString('latin1', 0, START.length))) return -1
  if (bytes.length < HEAD) return 0
  const length = HEAD + bytes[HEAD - 1] * RECORD
  return bytes.length < length ? 0 : length
}

function decode(frame: Buffer): Message {
  // What is left of a datagram may begin otherwise.
  if (!frame.subarray(0, START.length).equals(Buffer.from(START))) throw new DecodeError('unsupported')
  const r = new ByteReader(frame).skip(START.length)
  const device = String(r.u16le())
  return enveloped({ device, reply: ACK }, () => {
    const fixes = Array.from({ length: r.u8() }, () => fixOf(r))
    return fixes.length > 0 ? { fixes } : { none: 'no place' }
  })
}

function fixOf(r: ByteReader): Fix {
  const latitude = r.i32le() / 1e7
  const longitude = r.i32le() / 1e7
  const time = r.u32le() * 1000
  const speed = kmh(r.u8())
  const ignition = (r.skip(2).u8() & 1) !== 0
  return { time, latitude, longitude, valid: true, speed, said: said({ ignition }) }
}
