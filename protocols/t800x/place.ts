import { ByteReader, bcdYmd, DecodeError, type Fix, heading, isBcdYmd, kmh } from '../kit/index.ts'

/** Flags of a place: it is one, and how many satellites it is of. */
export const [FIX, SATELLITES] = [0x40, 0x1f]
const UNKNOWN = 0xffffffff
const DIGITS = /^\d+$/

/** The fix of a date and a place; undefined without coordinates. @throws DecodeError */
export function placeOf(date: ByteReader, r: ByteReader): Fix | undefined {
  const angles = r.ahead(4)
  const [altitude, longitude, latitude] = [r.f32le(), r.f32le(), r.f32le()]
  const speed = r.hex(2)
  const course = r.u16()
  if (angles.u32le() === UNKNOWN && angles.u32le() === UNKNOWN) return undefined
  if (!Number.isFinite(latitude) || !Number.isFinite(longitude))
    throw new DecodeError('malformed', 'a place that is no number')
  return {
    time: bcdYmd(date),
    latitude,
    longitude,
    valid: true,
    altitude: Number.isFinite(altitude) ? altitude : undefined,
    speed: DIGITS.test(speed) ? kmh(Number(speed) / 10) : undefined,
    heading: heading(course),
    satellites: undefined,
    said: undefined,
  }
}

/** The places in content whose layout is not known: a date of the calendar, numbers on Earth, a speed and a course. */
export function placesIn(content: Buffer): Fix[] {
  const fixes: Fix[] = []
  for (let at = 0; at + PLACE_LENGTH <= content.length; at++) {
    if (!isPlace(content, at)) continue
    const r = new ByteReader(content, at)
    const fix = placeOf(r.part(DATE), r)
    if (fix) fixes.push(fix)
    at += PLACE_LENGTH - 1
  }
  return fixes
}

/** Bytes of a date, and of a place with it. */
export const DATE = 6
const PLACE_LENGTH = 22

function isPlace(bytes: Buffer, at: number): boolean {
  if (!isBcdYmd(bytes, at) || bytes.readUInt16BE(at + 20) > 360) return false
  const [altitude, longitude, latitude] = [6, 10, 14].map((offset) => bytes.readFloatLE(at + offset))
  return Math.abs(altitude) < 20_000 && Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90
}
