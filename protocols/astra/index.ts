/*
 * Astra Telematics AT240, AT400, ST1: "Astra protocol" K and X, fields behind the course inferred from frames. Big-endian. TCP
 * and UDP.
 *
 *   4B LLLL AAAAAAAA BBBBBB (n yyyyyyyy oooooooo TTTTTTTT SS CC x{7} B E …)… KKKK         protocol K: reports of 38 or 50 bytes
 *   58 LLLL c AAAAAAAA BBBBBB (n x{6} t{4} x{6} E B TTTTTTTT yyyyyyyy oooooooo SS xx CC …)… KKKK     protocol X: c reports of one length
 *
 *   A, B  the first eight digits of the IMEI, the other seven     y, o  1e-6 degrees     S  2 km/h     C  2°
 *   L     length of all           T  seconds since 1980-01-06, UTC                       n  number, of each report one more
 *   In reports of 38 bytes, the bytes 35 and 36: altitude (20 m), satellites (bits 3–0); of X satellites 20 bytes behind C
 *   In those of 50 bytes, the bytes 38 to 44: the driver's card; B  battery, %           E  external voltage, 0.2 V
 *   K     CRC-16/MODBUS of all before it                          Answer: 06
 */
import {
  ByteReader,
  crc16Modbus,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  kmh,
  lengthField,
  type Message,
  type Protocol,
  type Session,
  said,
  verified,
} from '../kit/index.ts'

const frame = lengthField({ start: ['K', 'X'], at: 1, width: 2, add: 0, most: 4096 })

export default {
  name: 'astra',
  devices: 'Astra Telematics AT110, AT240, AT400, ST1',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/MODBUS', covers: [3, -2] },
  tcp: { port: 5103, frame },
  udp: { port: 5103, frame },
  decode,
} satisfies Protocol

const K = 0x4b
const X = 0x58
const EPOCH = Date.UTC(1980, 0, 6)
const ACK = Buffer.of(6)
const SHORT = 38
const LONG = 50
/** Bytes between the course and the satellites, of reports of X that are long enough. */
const X_SATELLITES = 19

function decode(packet: Buffer, session: Session): Message {
  const r = new ByteReader(verified(packet, { sum: crc16Modbus, from: 0, width: 2 }, session))
  const kind = r.u8()
  if (kind !== K && kind !== X) throw new DecodeError('unsupported')
  const count = r.skip(2) && kind === X ? r.u8() : 0
  const device = `${r.u32()}${String(r.u24()).padStart(7, '0')}`
  return enveloped({ device, reply: ACK }, () => {
    const fixes = kind === K ? reportsOfK(r) : reportsOfX(r, count)
    return fixes.length > 0 ? { fixes } : { none: 'no place' }
  })
}

/** Reports of one length, if their numbers follow; else one ends where the next number stands. @throws DecodeError where none of a known length does */
function reportsOfK(r: ByteReader): Fix[] {
  const fixes: Fix[] = []
  const content = r.slice()
  const common = [SHORT, LONG].find((length) => isNumbered(content, length))
  for (let at = 0; at < content.length; ) {
    const next = (content[at] + 1) & 0xff
    const isEnd = (length: number) => at + length === content.length || content[at + length] === next
    const length = common ?? (isEnd(SHORT) ? SHORT : isEnd(LONG) ? LONG : 0)
    if (length === 0) throw new DecodeError('malformed', `a report of ${content.length - at} bytes`)
    fixes.push(reportOfK(new ByteReader(content.subarray(at, at + length)), length))
    at += length
  }
  return fixes
}

function isNumbered(content: Buffer, length: number): boolean {
  for (let at = 0; at < content.length; at += length)
    if (content[at] !== ((content[0] + at / length) & 0xff)) return false
  return content.length % length === 0
}

function reportOfK(r: ByteReader, length: number): Fix {
  const latitude = r.skip(1).i32() / 1e6
  const longitude = r.i32() / 1e6
  const time = EPOCH + r.u32() * 1000
  const fix: Fix = { time, latitude, longitude, valid: true, speed: kmh(r.u8() * 2), heading: heading(r.u8() * 2) }
  const power = { battery_percent: r.skip(7).u8(), external_voltage: r.u8() / 5 }
  if (length !== SHORT) return { ...fix, said: said({ ...power, driver: r.skip(14).hex(7) }) }
  const altitude = r.skip(11).u8() * 20
  return { ...fix, altitude, satellites: r.u8() & 15, said: said(power) }
}

function reportsOfX(r: ByteReader, count: number): Fix[] {
  if (count === 0 || r.left % count !== 0) throw new DecodeError('malformed', `${count} reports of ${r.left} bytes`)
  const length = r.left / count
  return Array.from({ length: count }, () => reportOfX(new ByteReader(r.slice(length))))
}

function reportOfX(r: ByteReader): Fix {
  const more = said({ external_voltage: r.skip(17).u8() / 5, battery_percent: r.u8() })
  const time = EPOCH + r.u32() * 1000
  const latitude = r.i32() / 1e6
  const longitude = r.i32() / 1e6
  const speed = kmh(r.u8() * 2)
  const course = heading(r.skip(1).u8() * 2)
  const satellites = r.left > X_SATELLITES ? r.skip(X_SATELLITES).u8() & 15 : undefined
  return { time, latitude, longitude, valid: true, speed, heading: course, satellites, said: more }
}
