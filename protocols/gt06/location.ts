/*
 * Where a GT06 frame's content holds a position, and how.
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

/** The position of a frame; undefined where it has none (cells or WiFi only, no date yet). In the device's time zone. */
export function location(type: number, long: boolean, content: Buffer, model = ''): Fix | undefined {
  if (type === VIDEO && !long) return video(content)
  if (type === MODULES && long) return modules(content)
  const before = BEFORE_OF_MODEL.get(model) ?? (long ? undefined : BEFORE.get(type))
  if (before !== undefined) return gps(content.subarray(before))
  return content[DATE] > HIGHEST_OF_MCC ? gps(content) : undefined
}

const VIDEO = 0x95
const MODULES = 0x70

/** Types that hold a position by their specification, and the bytes before it. */
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

/** Models with an id (and a kind, and the time of sending) before the position of every type. */
const BEFORE_OF_MODEL = new Map([
  ['QH302R', 8],
  ['XT40', 15],
])

/** Bytes of a date, and of all up to the heading. */
const DATE = 6
const GPS = 18

/**
 * In the other types, cells follow the date or a position does, as the model likes: the first byte of a country code is
 * at most this (bit 15 tells of a long network code), and G is above.
 */
const HIGHEST_OF_MCC = 0x8f

function gps(content: Buffer): Fix | undefined {
  if (content.length < GPS || !isDate(content)) return undefined
  const r = new ByteReader(content)
  const time = dateTime(r)
  const satellites = r.u8() & 0x0f
  const [latitude, longitude] = [r.u32(), r.u32()]
  const speed = kmh(r.u8())
  return { time, ...place(latitude, longitude, r.u16()), speed, satellites }
}

function video(content: Buffer): Fix | undefined {
  const extended = content.length > 2 && content.readUInt16BE() === 0xffff
  const r = new ByteReader(extended ? content.subarray(3) : content)
  if (r.left < GPS || !isDate(extended ? content.subarray(3) : content)) return undefined
  const time = dateTime(r)
  const satellites = extended ? r.u8() & 0x0f : undefined
  const [latitude, longitude] = [r.u32(), r.u32()]
  return { time, ...place(latitude, longitude, r.u16()), speed: extended ? kmh(r.u16()) : undefined, satellites }
}

function modules(content: Buffer): Fix | undefined {
  const r = new ByteReader(content).skip(5)
  let fix: Fix | undefined
  let hdop: number | undefined
  while (r.left > 4) {
    const tag = r.u16()
    const length = r.u16()
    if (length > r.left) break
    const value = r.slice(length)
    if (tag === 0x33) fix = gpsModule(new ByteReader(value))
    if (tag === 0x28 && length === 1) hdop = value[0] / 10
  }
  return fix && { ...fix, hdop }
}

function gpsModule(r: ByteReader): Fix {
  const time = r.u32() * 1000
  const satellites = r.u8()
  const altitude = r.i16()
  const [latitude, longitude] = [r.u32(), r.u32()]
  const speed = kmh(r.u8())
  return { time, ...place(latitude, longitude, r.u16()), altitude, speed, satellites }
}

function place(latitude: number, longitude: number, flags: number) {
  return {
    latitude: (flags & 0x0400 ? latitude : -latitude) / 1.8e6,
    longitude: (flags & 0x0800 ? -longitude : longitude) / 1.8e6,
    valid: (flags & 0x1000) !== 0,
    heading: heading(flags & 0x03ff),
  }
}

/** A device that does not know the time yet sends zeros. */
function isDate(content: Buffer): boolean {
  const [, month, day, hour, minute, second] = content
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60 && second < 60
}

function dateTime(r: ByteReader): number {
  return utc(r.u8(), r.u8(), r.u8(), r.u8(), r.u8(), r.u8())
}
