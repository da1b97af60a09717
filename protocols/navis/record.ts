/*
 * A record of the time before FLEX. Its layout is that of its format; of the formats without a known offset the place is
 * found by its date, which is near that of the event.
 *
 *   KK NNNNNNNN EEEE hhmmssDDMMYY … FF hhmmssDDMMYY YYYYYYYY OOOOOOOO [HHHHHHHH] VVVVVVVV GGGG …
 *
 *   K  format: 25 (F5.2), 06 (F6) …    F  bit 1: fixed                  Y, O  latitude, longitude: radians,
 *   N  number, E event, its time       H  altitude, 0.1 m, of F6     V  km/h, float       float; of F6 degrees × 600,000
 *      (MM from 0 on)                  G  heading
 */
import { ByteReader, DecodeError, type Fix, heading, kmh, radians, said } from '../kit/index.ts'

/** Where F stands, and a byte with the satellites in bits 7–2. */
const OFFSETS: Readonly<Record<number, readonly [number, number] | undefined>> = { 0x25: [34, 16], 0x06: [74, 74] }
const F6 = 0x06
/** The beginning that all formats share, and a place from F to G. */
const HEAD = 13
const PLACE = 21
const YEAR_MS = 366 * 86_400_000

/** The records of a body, all of one length. @throws DecodeError */
export function oldRecords(bytes: Buffer, count: number): Buffer[] {
  const length = bytes.length / count
  if (!Number.isInteger(length) || length < HEAD)
    throw new DecodeError('malformed', `${count} records in ${bytes.length} bytes`)
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * length, (i + 1) * length))
}

/** Undefined where the place is not found. */
export function oldFix(record: Buffer): Fix | undefined {
  const event = timeAt(record, 7)
  const [offset] = OFFSETS[record[0]] ?? []
  if (offset !== undefined) return fixAt(record, offset)
  for (let at = HEAD; at + PLACE <= record.length; at++) {
    const time = timeAt(record, at + 1)
    if (time === undefined || event === undefined || Math.abs(time - event) > YEAR_MS) continue
    const fix = fixAt(record, at)
    if (fix && Math.abs(fix.latitude) <= 90 && Math.abs(fix.longitude) <= 180) return fix
  }
  return undefined
}

function fixAt(record: Buffer, offset: number): Fix | undefined {
  const time = timeAt(record, offset + 1)
  if (time === undefined) return undefined
  const r = new ByteReader(record).at(offset + 7)
  const [, at] = OFFSETS[record[0]] ?? []
  const isF6 = record[0] === F6
  const read = () => (isF6 ? r.i32le() / 600_000 : radians(r.f32le()))
  const place = { latitude: read(), longitude: read(), altitude: isF6 ? r.i32le() / 10 : undefined }
  const quality = { valid: (record[offset] & 2) !== 0, satellites: at === undefined ? undefined : record[at] >> 2 }
  const motion = { speed: kmh(r.f32le()), heading: heading(r.u16le()) }
  return { time, ...place, ...quality, ...motion, said: at === undefined ? undefined : power(record) }
}

/** Power from outside and of the battery, mV, in the formats that are known. */
function power(record: Buffer): Fix['said'] {
  return said({ external_voltage: record.readUInt16LE(18) / 1000, battery_voltage: record.readUInt16LE(20) / 1000 })
}

function timeAt(record: Buffer, at: number): number | undefined {
  const [hour, minute, second, day, month, year] = record.subarray(at, at + 6)
  if (hour > 23 || minute > 59 || second > 59 || day < 1 || day > 31 || month > 11 || !(year < 100)) return undefined
  return Date.UTC(2000 + year, month, day, hour, minute, second)
}
