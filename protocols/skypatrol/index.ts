/*
 * SkyPatrol TT8750, TT8750+. UDP, big-endian, no checksum. The header: "TT8750+ AN004 Position Message Decoding 1.0"
 * (scribd.com/document/357529178). The order of the fields: inferred from a frame that has all of them. The bits of F: "MT 3060 R AT
 * command reference", bit-field table 0 (Novatel, Enfora), of an earlier model.
 *
 *   0005 cc ma 04 FFFFFFFF EEEEEEEE IIIIIIIIIIIIIIII xxxx xxxx xxxx xx DDMMYY V AAAAAAAA OOOOOOOO SSSS CCCC hhmmss HHHHHH n x{16} BBBB …
 *   bit of F               1        2                3    4    5    7  8      9 10       11       12   13   14     15     16
 *   0004 cc ma text                    "<event> <id> [<event>] [$]GPRMC,… …"
 *
 *   c  command, m  kind of message      E  event              A, O  ddmm.mmmm, dddmm.mmmm, times 10,000, signed
 *   a  asks for an answer               I  id, text           S     0.1 knots         H  metres
 *   F  fields that follow               V  1: fix             C     0.1 degrees       n  satellites
 *                                                                              B  own battery, mV, where F has all bits
 *
 * How a message is acknowledged is in the document, but was not at hand.
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
/** Bits of fields. */
const [EVENT, ID, GPIO, ADC_1, ADC_2, CATEGORY, DATE, STATUS] = [1, 2, 3, 4, 5, 7, 8, 9]
const [LATITUDE, LONGITUDE, SPEED, COURSE, TIME, ALTITUDE, SATELLITES] = [10, 11, 12, 13, 14, 15, 16]
/** The fields without which a message has no position. */
const PLACE = [DATE, LATITUDE, LONGITUDE, TIME]
/** Bytes of the fields between the id and the date. */
const BEFORE_DATE = [
  [GPIO, 2],
  [ADC_1, 2],
  [ADC_2, 2],
  [CATEGORY, 1],
] as const
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
  const mask = r.u32()
  const has = (bit: number) => ((mask >>> bit) & 1) === 1
  if (!PLACE.every(has)) return { fixes: [] }
  r.skip(has(EVENT) ? 4 : 0)
  const device = has(ID) ? r.ascii(8).trim() : undefined
  for (const [bit, width] of BEFORE_DATE) if (has(bit)) r.skip(width)
  return { device, fixes: [binaryFix(r, has, mask === ALL_FIELDS)] }
}

function sentence(text: string, session: Session): Message {
  const [, before, rmc] = SENTENCE.exec(text) ?? []
  if (rmc === undefined) return {}
  const device = /\d{12,22}/.exec(before)?.[0]
  const fix = rmcFix(`$${rmc}`, session)
  return fix ? { device, fixes: [fix] } : { device, none: 'no fix' }
}

function binaryFix(r: ByteReader, has: (bit: number) => boolean, hasAll: boolean): Fix {
  const twoDigits = () => String(r.u8()).padStart(2, '0')
  const threeBytes = () => twoDigits() + twoDigits() + twoDigits()
  const date = threeBytes()
  const valid = !has(STATUS) || r.u8() === 1
  const latitude = degreesMinutes(r.i32() / 1e4)
  const longitude = degreesMinutes(r.i32() / 1e4)
  const speed = has(SPEED) ? knots(r.u16() / 10) : undefined
  const course = has(COURSE) ? heading(r.u16() / 10) : undefined
  const time = utcDmy(date, threeBytes())
  const altitude = has(ALTITUDE) ? r.i24() : undefined
  const satellites = has(SATELLITES) ? r.u8() : undefined
  const battery = hasAll && r.left >= BEFORE_BATTERY + 2 ? r.skip(BEFORE_BATTERY).u16() / 1000 : undefined
  const says = said({ battery_voltage: battery })
  return { time, latitude, longitude, valid, altitude, speed, heading: course, satellites, said: says }
}
