/*
 * IOTM (IoT Monitoring) trackers: binary over MQTT. No specification is known: inferred from publications. Little-endian.
 * The vendor's client id names the device; here the topic devices/<id>/iotm does.
 *
 *   02 020800 IIIIIIIIIIIIIIII record… CC
 *   record   01 LLLL TTTTTTTT (kind NNNN value)…        report
 *            03 LLLL …                                  sensor: no position
 *   value    of kind 00–03 no bytes; 04–07 1, 2, 4, 8, 08–0B the same signed; 0C float, 0D double
 *            of kind 0E: AAAAAAAA OOOOOOOO SSSS PP nn HHHH ZZZZ
 *
 *   I  number of the device          N  name of the value        S  km/h            H  degrees
 *   L  length of what follows        A, O  degrees, floats       P  HDOP, 0.1       Z  metres
 *   T  unix seconds                  n  satellites               C  sum of all bytes before it
 */
import {
  ByteReader,
  DecodeError,
  dop,
  eachReadable,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  type Session,
  sum8,
  verified,
} from '../kit/index.ts'

export default {
  name: 'iotm',
  devices: 'IOTM trackers',
  acknowledges: 'fixes',
  integrity: { checksum: 'sum of 8 bits', covers: [0, -1] },
  decode,
} satisfies Protocol

const VERSION = 0x02
const REPORT = 0x01
const SENSOR = 0x03
const POSITION = 0x0e
/** Bytes of values, by their kind. */
const WIDTHS = [0, 0, 0, 0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8]

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: sum8, from: 0, width: 1 }, session))
  if (r.u8() !== VERSION) throw new DecodeError('unsupported', 'the frame does not begin with 02')
  r.skip(11)
  const records: { type: number; content: Buffer }[] = []
  while (r.left >= 3) {
    const type = r.u8()
    records.push({ type, content: r.slice(r.u16le()) })
  }
  const reports = records.filter(({ type }) => type === REPORT)
  const { good, unreadable } = eachReadable(reports, ({ content }) => reportOf(new ByteReader(content)))
  const fixes = good.flat()
  if (fixes.length > 0) return { fixes, unreadable }
  return records.every(({ type }) => type === REPORT || type === SENSOR) ? { none: 'no place', unreadable } : {}
}

function reportOf(r: ByteReader): Fix[] {
  const time = r.u32le() * 1000
  while (r.left >= 3) {
    const kind = r.u8()
    r.skip(2)
    if (kind === POSITION) return [positionOf(r, time)]
    const width = WIDTHS.at(kind)
    if (kind >= WIDTHS.length || width === undefined) throw new DecodeError('unsupported', `a value of kind ${kind}`)
    r.skip(width)
  }
  return []
}

function positionOf(r: ByteReader, time: number): Fix {
  const latitude = r.f32le()
  const longitude = r.f32le()
  const speed = kmh(r.u16le())
  const hdop = dop(r.u8() / 10)
  const satellites = r.u8()
  const course = heading(r.u16le())
  return { time, latitude, longitude, valid: true, altitude: r.i16le(), speed, heading: course, hdop, satellites }
}
