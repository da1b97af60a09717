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
 *   N  0002 moves (of kind 00: no, 01: yes), 3000 external voltage, mV, 5000 the driver's card (inferred)
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
  type Said,
  type Session,
  said,
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
const [U16, U32] = [5, 6]
const [MOVING, VOLTAGE, DRIVER] = [0x0002, 0x3000, 0x5000]
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
  const fixes = good.flatMap(({ fix }) => fix ?? [])
  if (fixes.length > 0) return { fixes, unreadable }
  return records.every(({ type }) => type === REPORT || type === SENSOR)
    ? { none: 'no place', unreadable, said: good[0]?.more }
    : {}
}

/** The position of a report, if it has one, and what it says besides. */
function reportOf(r: ByteReader): { readonly fix?: Fix; readonly more?: Said } {
  const time = r.u32le() * 1000
  let fix: Fix | undefined
  const values: Said = {}
  while (r.left >= 3) {
    const kind = r.u8()
    const name = r.u16le()
    if (kind === POSITION) {
      const found = positionOf(r, time)
      fix ??= found
    } else if (kind === U16 && name === VOLTAGE) values.external_voltage = r.u16le() / 1000
    else if (kind === U32 && name === DRIVER) values.driver = String(r.u32le())
    else if (kind <= 1 && name === MOVING) values.moving = kind === 1
    else if (kind < WIDTHS.length) r.skip(WIDTHS[kind])
    else if (fix) break
    else throw new DecodeError('unsupported', `a value of kind ${kind}`)
  }
  const more = said(values)
  if (fix && more) fix.said = more
  return { fix, more }
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
