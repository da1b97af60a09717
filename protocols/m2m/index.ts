/*
 * M2M trackers. No specification is known: inferred from frames. 23 bytes, 32 more than their values so that none is a control
 * character, and 0B at the end. The first frame of a connection is the login:
 *
 *   II II II II II II II II …                       IMEI, two digits a byte, the first byte one
 *   DD MM YY hh mm ss AA AA AA AA OO OO OO OO … UU  the others
 *
 *   D … s  the highest bits of D, M, m and s are flags     A  degrees, minutes, 1/100, 1/10000 minute
 *   U      satellites                                      O  hundreds of degrees, degrees, minutes, 1/100 minute
 *
 * What stands for south and west is not known: all places are north and east. Speed and heading are not read. Nothing is
 * answered.
 */
import {
  ByteReader,
  DecodeError,
  type Fix,
  fixedLength,
  type Message,
  type Protocol,
  type Session,
  sessionState,
  utc,
} from '../kit/index.ts'

export default {
  name: 'm2m',
  devices: 'M2M trackers',
  tcp: { port: 5054, frame: fixedLength(23) },
  decode,
} satisfies Protocol

const SHIFT = 0x20
const END = 0x0b
const stateOf = sessionState(() => ({ isIdentified: false }))

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(Buffer.from(frame.subarray(0, 22).map((byte) => byte - SHIFT)))
  const state = stateOf(session)
  if (r.left < 22) throw new DecodeError('truncated')
  if (frame[22] !== END) throw new DecodeError('malformed', 'the frame does not end with 0B')
  if (state.isIdentified) return { fixes: [position(r)] }
  const device = Array.from({ length: 8 }, () => String(r.u8()).padStart(2, '0')).join('')
  if (!/^0\d{15}$/.test(device)) throw new DecodeError('malformed', 'the login has no IMEI')
  state.isIdentified = true
  return { device: device.slice(1), none: 'login' }
}

function position(r: ByteReader): Fix {
  const [day, month, year] = [r.u8() & 0x7f, r.u8() & 0x0f, r.u8() & 0x7f]
  const [hour, minute, second] = [r.u8() & 0x1f, r.u8() & 0x7f, r.u8() & 0x7f]
  const time = utc(year, month, day, hour, minute, second)
  const latitude = angle(r)
  const hundreds = r.u8()
  const longitude = hundreds * 100 + angle(r)
  return { time, latitude, longitude, valid: true, satellites: r.skip(1).u8() }
}

function angle(r: ByteReader): number {
  const degrees = r.u8()
  const minutes = r.u8()
  return degrees + (minutes + r.u8() / 100 + r.u8() / 10_000) / 60
}
