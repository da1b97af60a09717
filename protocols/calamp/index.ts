/*
 * CalAmp LMU-200 to LMU-5530, TTU-700 to TTU-2830: "LM Direct Reference Guide"
 * (scribd.com/document/336704005). Big-endian, UDP.
 *
 *   [8x options] SS TT NNNN message
 *
 *   options  bit 0: the id, a length and packed decimals, filled up with F; bits 1 to 6: further ones, each with a length
 *   S  service: 01 wants an answer      T  type      N  sequence number
 *
 *   02, 04, 05, 08, 09  TTTTTTTT FFFFFFFF AAAAAAAA OOOOOOOO HHHHHHHH VVVVVVVV GGGG N X RRRR PPPP C D J …
 *   0A, 0B              TTTTTTTT AAAAAAAA OOOOOOOO GGGG V M C J …
 *
 *   T, F  unix seconds of the report, of the fix   H  altitude, cm            V  speed, cm/s; in 0A km/h   X  status of the fix
 *   A, O  latitude, longitude, 1e-7 degrees        G  heading, degrees        N  satellites                D  HDOP, 0.1
 *   M  satellites in its low half                                             R, P, C  carrier, RSSI, state
 *   J  inputs, bit 0: ignition
 *
 * Bit 3 of X: no fix. Answer: 02 01 NNNN TT 00 00 000000, once the message is stored.
 */
import {
  ByteReader,
  ByteWriter,
  DecodeError,
  dop,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
} from '../kit/index.ts'

export default {
  name: 'calamp',
  devices: 'CalAmp LMU-200 to LMU-5530, TTU-700 to TTU-2830',
  acknowledges: 'fixes',
  udp: { port: 5082 },
  decode,
} satisfies Protocol

const HAS_OPTIONS = 0x80
const ACKNOWLEDGED = 1
const INVALID_FIX = 0x08
/** Event, user data, application data, locate and user data with accumulators begin alike. */
const REPORTS = new Set([2, 4, 5, 8, 9])
const MINI_REPORTS = new Set([0x0a, 0x0b])
const NONE = new Map([
  [0, 'heartbeat'],
  [1, 'command answer'],
  [3, 'status'],
  [6, 'command answer'],
  [7, 'command answer'],
])

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame)
  const device = r.peek() >= HAS_OPTIONS ? options(r) : undefined
  const service = r.u8()
  if (service > 2) throw new DecodeError('unsupported', `service ${service}`)
  const type = r.u8()
  const sequence = r.u16()
  const reply = service === ACKNOWLEDGED ? acknowledgement(type, sequence) : undefined
  if (REPORTS.has(type)) return enveloped({ device, reply }, () => ({ fixes: [report(r)] }))
  if (MINI_REPORTS.has(type)) return enveloped({ device, reply }, () => ({ fixes: [miniReport(r)] }))
  return { device, none: NONE.get(type), reply }
}

/** The id among the options. */
function options(r: ByteReader): string | undefined {
  const flags = r.u8()
  let device: string | undefined
  for (let bit = 0; bit < 7; bit++) {
    if ((flags & (1 << bit)) === 0) continue
    const value = r.hex(r.u8())
    if (bit === 0) device = value.replace(/f+$/, '')
  }
  if (device === '') throw new DecodeError('malformed', 'the id is empty')
  return device
}

function acknowledgement(type: number, sequence: number): Buffer {
  return new ByteWriter().u8(2).u8(1).u16(sequence).u8(type).hex('0000000000').toBuffer()
}

function report(r: ByteReader): Fix {
  const reported = r.u32()
  const fixed = r.u32()
  const latitude = r.i32() / 1e7
  const longitude = r.i32() / 1e7
  const altitude = r.i32() / 100
  const speed = r.u32() / 100
  const course = heading(r.u16())
  const satellites = r.u8()
  const status = r.u8()
  const hdop = dop(r.skip(5).u8() / 10)
  const valid = (status & INVALID_FIX) === 0 && fixed > 0
  const time = (fixed > 0 ? fixed : reported) * 1000
  return { time, latitude, longitude, valid, altitude, speed, heading: course, satellites, hdop, said: inputs(r) }
}

function miniReport(r: ByteReader): Fix {
  const time = r.u32() * 1000
  const latitude = r.i32() / 1e7
  const longitude = r.i32() / 1e7
  const course = heading(r.u16())
  const speed = kmh(r.u8())
  const satellites = r.u8() & 0x0f
  const more = r.left > 1 ? inputs(r.skip(1)) : undefined
  return { time, latitude, longitude, valid: true, speed, heading: course, satellites, said: more }
}

const inputs = (r: ByteReader) => (r.left > 0 ? { ignition: (r.u8() & 1) !== 0 } : undefined)
