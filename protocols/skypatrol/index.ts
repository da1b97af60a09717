/*
 * SkyPatrol TT8750, TT8750+: "TT8750+ AN004 Position Message Decoding 1.0" (scribd.com/document/357529178) has the header; the
 * fields of a message with all of them are inferred from a frame. UDP, big-endian; no checksum.
 *
 *   0005 cc ma 04 FFFFFFFF EEEEEEEE IIIIIIIIIIIIIIII xxxx xxxx xxxx xx DDMMYY V AAAAAAAA OOOOOOOO SSSS CCCC hhmmss HHHHHH n x{16} BBBB …
 *   0004 cc ma text                    "<event> <id> [<event>] [$]GPRMC,… …"
 *
 *   c  command, m  kind of message      E  event              A, O  ddmm.mmmm, dddmm.mmmm, times 10,000, signed
 *   a  asks for an answer               I  id, text           S     0.1 knots         H  metres
 *   F  fields that follow; all, here    V  1: fix             C     0.1 degrees       n  satellites
 *                                                                              B  own battery, mV
 *
 * What the bits of F leave out is in the document, but was not at hand: other masks are stored to be read later. How a message
 * is acknowledged was not either.
 */
import {
  ByteReader,
  DecodeError,
  degreesMinutes,
  type Fix,
  heading,
  knots,
  type Message,
  type Protocol,
  rmcFix,
  type Session,
  said,
  utcDmy,
} from '../kit/index.ts'

export default {
  name: 'skypatrol',
  devices: 'SkyPatrol TT8750, TT8750+',
  integrity: { none: 'of the NMEA sentence alone' },
  udp: { port: 5021 },
  decode,
} satisfies Protocol

const TEXT = 0x0004
const BINARY = 0x0005
const MASK_LENGTH = 4
const ALL_FIELDS = 0xffff_ffff
/** Bytes between the satellites and the voltage of the battery. */
const BEFORE_BATTERY = 16
/** Up to its sum; newer devices leave out its $, and have more fields behind it. */
const SENTENCE = /^([^$G]*)\$?(GPRMC,[^*\r]*(?:\*[0-9A-F]{2})?)/

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(frame)
  const kind = r.u16()
  if (kind === TEXT) return sentence(r.skip(2).ascii(r.left), session)
  if (kind !== BINARY) {
    if (kind > 0x00ff) throw new DecodeError('unsupported', 'the frame has no header')
    return {}
  }
  if (r.skip(2).u8() !== MASK_LENGTH) return {}
  if (r.u32() !== ALL_FIELDS) return { fixes: [] }
  const device = r.skip(4).ascii(8).trim()
  return { device, fixes: [binaryFix(r.skip(7))] }
}

function sentence(text: string, session: Session): Message {
  const [, before, rmc] = SENTENCE.exec(text) ?? []
  if (rmc === undefined) return {}
  const device = /\d{12,22}/.exec(before)?.[0]
  const fix = rmcFix(`$${rmc}`, session)
  return fix ? { device, fixes: [fix] } : { device, none: 'no fix' }
}

function binaryFix(r: ByteReader): Fix {
  const twoDigits = () => String(r.u8()).padStart(2, '0')
  const threeBytes = () => twoDigits() + twoDigits() + twoDigits()
  const date = threeBytes()
  const valid = r.u8() === 1
  const latitude = degreesMinutes(r.i32() / 1e4)
  const longitude = degreesMinutes(r.i32() / 1e4)
  const speed = knots(r.u16() / 10)
  const course = heading(r.u16() / 10)
  const time = utcDmy(date, threeBytes())
  const altitude = r.i24()
  const satellites = r.u8()
  const battery = r.left < BEFORE_BATTERY + 2 ? undefined : r.skip(BEFORE_BATTERY).u16() / 1000
  const says = said({ battery_voltage: battery })
  return { time, latitude, longitude, valid, altitude, speed, heading: course, satellites, said: says }
}
