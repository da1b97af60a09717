/*
 * Where the content of a GT06 frame holds a position, and how.
 *
 *   gps      [before] YYMMDDhhmmss GG AAAAAAAA OOOOOOOO VV FFFF …
 *   video    [FFFF xx] YYMMDDhhmmss [GG] AAAAAAAA OOOOOOOO FFFF [VVVV], of 95: FFFF xx brings GG and VVVV with it
 *   modules  xxxxxxxx xx, then of (tag16, length16, value), of 70: 33 UUUUUUUU SS HHHH AAAAAAAA OOOOOOOO VV FFFF, 28 PP
 *
 *   A, O  latitude, longitude, degrees × 1,800,000     F  heading in bits 9–0; bits 10: north, 11: west, 12: fixed
 *   G  12 (what follows of GPS), satellites: a nibble each    V  speed, km/h      U  unix seconds   S  satellites
 *   H  altitude, m      P  HDOP × 10
 */
import { ByteReader, type Fix, heading, kmh, utc } from '../kit/index.ts'

/**
 * The position of a frame; undefined where it has none (only cells or WiFi, no date yet). `type` of a long frame is 79TT.
 * `ahead`: how far the device's dates are ahead of UTC, ms.
 */
export function location(type: number, content: Buffer, { model = '', ahead }: DateContext): Fix | undefined {
  const r = new ByteReader(content)
  if (type === VIDEO) return video(r, ahead)
  if (type === MODULES) return modules(r)
  const before = BEFORE_OF_MODEL.get(model) ?? BEFORE.get(type)
  if (before !== undefined) return r.left < before ? undefined : gps(r.skip(before), ahead)
  return content[DATE] > MAX_COUNTRY_BYTE ? gps(r, ahead) : undefined
}

interface DateContext {
  readonly model?: string
  readonly ahead: number
}

const VIDEO = 0x95
const MODULES = 0x7970

/** Types that hold a position by their specification, and how many bytes precede it. */
const BEFORE = new Map([
  [0x10, 0],
  [0x12, 0],
  [0x16, 0],
  [0x1a, 0],
  [0x1e, 0],
  [0x22, 0],
  [0x26, 0],
  [0x27, 0],
  [0x2a, 0],
  [0x31, 0],
  [0x32, 0],
  [0x34, 4],
  [0x61, 8],
  [0xa0, 0],
  [0xa4, 0],
])

/** Models that put an id (and a kind, and the time of sending) before the position in every type; length of these. */
const BEFORE_OF_MODEL = new Map([
  ['QH302R', 8],
  ['XT40', 15],
])

/** Bytes of a date, and of a position from its date to its heading. */
const DATE = 6
const GPS = 18

/**
 * In the other types either cells or a position follow the date, depending on the model. The first byte of cells is the
 * high byte of a country code, at most this (bit 15 marks a long network code); the first byte of a position, G, is higher.
 */
const MAX_COUNTRY_BYTE = 0x8f

function gps(r: ByteReader, ahead: number): Fix | undefined {
  const time = r.left < GPS ? undefined : dateTime(r, ahead)
  if (time === undefined) return undefined
  const satellites = r.u8() & 0x0f
  return flagged(
    { time, satellites, valid: false, latitude: angle(r), longitude: angle(r), speed: kmh(r.u8()) },
    r.u16(),
  )
}

function video(r: ByteReader, ahead: number): Fix | undefined {
  const extended = r.peek() === 0xff
  if (extended) r.skip(3)
  const time = r.left < GPS ? undefined : dateTime(r, ahead)
  if (time === undefined) return undefined
  const satellites = extended ? r.u8() & 0x0f : undefined
  const fix = flagged({ time, satellites, valid: false, latitude: angle(r), longitude: angle(r) }, r.u16())
  if (extended) fix.speed = kmh(r.u16())
  return fix
}

function modules(r: ByteReader): Fix | undefined {
  let fix: Fix | undefined
  let hdop: number | undefined
  r.skip(5)
  while (r.left > 4) {
    const tag = r.u16()
    const length = r.u16()
    if (length > r.left) break
    const value = new ByteReader(r.slice(length))
    if (tag === 0x33) fix = gpsModule(value)
    if (tag === 0x28) hdop = value.u8() / 10 || undefined
  }
  return fix && { ...fix, hdop }
}

function gpsModule(r: ByteReader): Fix {
  const time = r.u32() * 1000
  const satellites = r.u8()
  const altitude = r.i16()
  const place = { latitude: angle(r), longitude: angle(r) }
  return flagged({ time, satellites, altitude, ...place, valid: false, speed: kmh(r.u8()) }, r.u16())
}

function angle(r: ByteReader): number {
  return r.u32() / 1.8e6
}

/** Applies the flags to a fix: hemispheres, validity, heading. */
function flagged(fix: Fix, flags: number): Fix {
  if (!(flags & 0x0400)) fix.latitude = -fix.latitude
  if (flags & 0x0800) fix.longitude = -fix.longitude
  fix.valid = (flags & 0x1000) !== 0
  fix.heading = heading(flags & 0x03ff)
  return fix
}

/** ms UTC; undefined where there is no date: cells, or zeros of a device that does not know the time yet. */
function dateTime(r: ByteReader, ahead: number): number | undefined {
  const [year, month, day] = [r.u8(), r.u8(), r.u8()]
  const [hour, minute, second] = [r.u8(), r.u8(), r.u8()]
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return undefined
  return utc(year, month, day, hour, minute, second) - ahead
}
