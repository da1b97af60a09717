/*
 * Astra Telematics AT240, AT400, ST1: "Astra protocol" K, fields behind the course inferred from frames, and X, as the maker's own
 * parser reads it (github.com/astra-telematics/astra-protocol-x-parser). Big-endian. TCP and UDP.
 *
 *   4B LLLL AAAAAAAA BBBBBB (n yyyyyyyy oooooooo TTTTTTTT SS CC x{7} B E …)… KKKK         protocol K: reports of 38 or 50 bytes
 *   58 LLLL c [AAAAAAAA BBBBBB] (n M{6} t{4} x{4} F{2} module…)… KKKK     protocol X: c reports
 *   $ASTRA;model;IMEI;VIN;firmware;X;…\r\n     login of protocol X; then its packets have no A and B
 *
 *   A, B  the first eight digits of the IMEI, the other seven     y, o  1e-6 degrees     S  2 km/h     C  2°
 *   L     length of all           T  seconds since 1980-01-06, UTC                       n  number, of each report one more
 *   M     a bit for each module, from bit 0: E B   TTTTTTTT yyyyyyyy oooooooo SS xx CC, altitude (20 m), x{2}   5: satellites
 *         (bits 3–0)   8: a driver's card, its kind and x{8}; the others only have a length      F  bit 0: ignition, 2: no fix
 *   In reports of 38 bytes, the bytes 35 and 36: altitude (20 m), satellites (bits 3–0)
 *   In those of 50 bytes, the bytes 38 to 44: the driver's card; B  battery, %           E  external voltage, 0.2 V
 *   K     CRC-16/MODBUS of all before it                          Answer: 06
 */
import {
  ByteReader,
  between,
  crc16Modbus,
  DecodeError,
  dialects,
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

const { frame } = dialects([
  { when: ['K', 'X'], frame: lengthField({ start: ['K', 'X'], at: 1, width: 2, add: 0, most: 4096 }) },
  { when: '$ASTRA;', frame: between('$ASTRA;', '\r\n') },
])

export default {
  name: 'astra',
  devices: 'Astra Telematics AT110, AT240, AT400, ST1',
  acknowledges: 'fixes',
  integrity: { checksum: 'CRC-16/MODBUS', covers: (packet) => (packet[0] === DOLLAR ? [0, 0] : [3, -2]) },
  tcp: { port: 5103, frame },
  udp: { port: 5103, frame },
  decode,
} satisfies Protocol

const K = 0x4b
const X = 0x58
const DOLLAR = 0x24
const EPOCH = Date.UTC(1980, 0, 6)
const ACK = Buffer.of(6)
const SHORT = 38
const LONG = 50
const LOGIN = /^\$ASTRA;[^;]*;(\d{15});/
/** Bytes of a report of X before its modules; of the id. */
const [X_HEAD, ID] = [17, 7]
/** Bytes of the modules, from bit 0 of the mask on; NaN: not fixed, or not known. */
const MODULES =
  '2 18 4 4 8 1 4 1 9 12 2 5 20 18 25 13 9 25 8 17 18 3 4 6 ? 73 7 20 38 20 5 12 18 2 9 44 32 39 6 39 39 42 22 28 11 ? 13 ?'
    .split(' ')
    .map(Number)
const [IGNITION, NO_FIX] = [0x01, 0x04]

function decode(packet: Buffer, session: Session): Message {
  if (packet[0] === DOLLAR) {
    const [, imei] = LOGIN.exec(packet.toString('latin1')) ?? []
    if (imei === undefined) throw new DecodeError('malformed', 'the login has no IMEI')
    return { device: imei, none: 'login', reply: ACK }
  }
  const r = new ByteReader(verified(packet, { sum: crc16Modbus, from: 0, width: 2 }, session))
  const kind = r.u8()
  if (kind !== K && kind !== X) throw new DecodeError('unsupported')
  const count = r.skip(2) && kind === X ? r.u8() : 0
  const parts = kind === X ? partsOf(r.ahead().slice(), count) : undefined
  const rest = r.ahead(parts ? Math.min(ID, r.left) : 0)
  if (parts && !partsOf(rest.slice(), count)) return enveloped({ reply: ACK }, () => fixesOf(parts.map(reportOfX)))
  const device = `${r.u32()}${String(r.u24()).padStart(7, '0')}`
  return enveloped({ device, reply: ACK }, () => {
    return fixesOf(kind === K ? reportsOfK(r) : reportsOfX(r, count))
  })
}

function fixesOf(reports: readonly (Fix | undefined)[]): Message {
  const fixes = reports.filter((fix) => fix !== undefined)
  return fixes.length > 0 ? { fixes } : { none: 'no place' }
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

function reportsOfX(r: ByteReader, count: number): (Fix | undefined)[] {
  const parts = partsOf(r.ahead().slice(), count)
  if (parts) return parts.map(reportOfX)
  if (count === 0 || r.left % count !== 0) throw new DecodeError('malformed', `${count} reports of ${r.left} bytes`)
  const length = r.left / count
  return Array.from({ length: count }, () => reportOfX(r.slice(length)))
}

/** The reports by their masks; undefined if not so many of them are all of the content. */
function partsOf(content: Buffer, count: number): Buffer[] | undefined {
  const parts: Buffer[] = []
  let at = 0
  for (let i = 0; i < count; i++) {
    if (at + X_HEAD > content.length) return undefined
    const modules = MODULES.filter((_, bit) => hasModule(content.readUIntBE(at + 1, 6), bit))
    const end = at + modules.reduce((sum, length) => sum + length, X_HEAD)
    if (!(end <= content.length)) return undefined
    parts.push(content.subarray(at, end))
    at = end
  }
  return count > 0 && at === content.length ? parts : undefined
}

const hasModule = (mask: number, bit: number) => Math.floor(mask / 2 ** bit) % 2 === 1

function reportOfX(report: Buffer): Fix | undefined {
  const r = new ByteReader(report).skip(X_HEAD - 2)
  const mask = report.readUIntBE(1, 6)
  const status = r.u16()
  const modules = MODULES.slice(0, 9).map((length, bit) => (hasModule(mask, bit) ? r.part(length) : undefined))
  const [power, place, , , , signal, , , card] = modules
  if (!place) return undefined
  return {
    ...placeOfX(place),
    valid: (status & NO_FIX) === 0,
    satellites: signal && signal.u8() & 15,
    said: said({
      ignition: (status & IGNITION) !== 0,
      external_voltage: power && power.u8() / 5,
      battery_percent: power?.u8(),
      driver: card && card.u8() > 0 ? card.hex(8) : undefined,
    }),
  }
}

function placeOfX(r: ByteReader): Fix {
  const time = EPOCH + r.u32() * 1000
  const latitude = r.i32() / 1e6
  const longitude = r.i32() / 1e6
  const speed = kmh(r.u8() * 2)
  const course = heading(r.skip(1).u8() * 2)
  return { time, latitude, longitude, valid: true, speed, heading: course, altitude: r.u8() * 20 }
}
