/*
 * Where the content of a GT06 frame holds a position, and how.
 *
 *   gps      [before] YYMMDDhhmmss [LL] GG AAAAAAAA OOOOOOOO VV FFFF …
 *   video    [FFFF xx] YYMMDDhhmmss [GG] AAAAAAAA OOOOOOOO FFFF [VVVV], of 95: FFFF xx brings GG and VVVV with it; or gps
 *   modules  xxxxxxxx xx, then of (tag16, length16, value), of 70: 33 UUUUUUUU SS HHHH AAAAAAAA OOOOOOOO VV FFFF, 28 PP
 *
 *   A, O  latitude, longitude, degrees × 1,800,000     F  heading in bits 9–0; bits 10: north, 11: west, 12: fixed
 *   G  12 (what follows of GPS), satellites: a nibble each    V  speed, km/h      U  unix seconds   S  satellites
 *   H  altitude, m      P  HDOP × 10     L  of 7932 and 7933: 0C, or 00 and cells in place of what follows
 */
import { ByteReader, dop, type Fix, flagged, kmh, type Message, tlv, utc } from '../kit/index.ts'
import { type FrameKind, kindOf } from './types.ts'

/**
 * What a frame says of positions: its fix, or why it has none. Of a type that holds one, and that cannot be read, no fixes;
 * of an unknown type nothing. `type` of a long frame is 79TT; `ahead`: how far the device's dates are ahead of UTC, ms.
 */
export function location(type: number, content: Buffer, context: DateContext): Pick<Message, 'fixes' | 'none'> {
  const kind = kindOf(type, context.model)
  if (kind?.holds === 'none') return { none: kind.why }
  const found = positionOf(type, content, { ...context, before: kind?.before }) ?? laterPosition(kind, content, context)
  if (typeof found === 'string' && kind?.holds === 'position') return { none: found }
  if (typeof found === 'object') return { fixes: [found] }
  return kind?.holds === 'either' ? { none: kind.why } : kind ? { fixes: [] } : {}
}

interface DateContext {
  readonly model?: string
  readonly ahead: number
  /** Bytes in front of the position of a type that always holds one. */
  readonly before?: number
}

/** Why a frame that could hold a position has none. */
type Absence = 'no fix' | 'no place' | 'cells'

const [VIDEO, MODULES] = [0x95, 0x7970]
/** Types in which a block of GPS and one of cells follow the date, each behind its length. */
const BLOCKS = new Set([0x7932, 0x7933])
/** Bytes of a date, of a block of GPS, and of a position from its date to its heading. */
const [DATE, BLOCK, GPS] = [6, 12, 18]

/**
 * After the date, the first byte of cells is the high byte of a country code, at most this (bit 15 marks a long network
 * code); the first byte of a position, G, is higher.
 */
const MAX_COUNTRY_BYTE = 0x8f
/**
 * Country codes are between 202 and 999: in types that always hold a position, G without its length differs from them too, and
 * with the high byte 0 their low byte is no latitude.
 */
const [NETWORK_FLAGS, LEAST_COUNTRY, MOST_COUNTRY] = [0x7f, 1, 3]

/** Undefined where the layout is not the one that is known: cells, or that of a new model. */
function positionOf(type: number, content: Buffer, { before, ahead }: DateContext): Fix | Absence | undefined {
  const r = new ByteReader(content)
  if (type === MODULES) return modules(r)
  const recorded = type === VIDEO ? video(r.ahead(), ahead) : undefined
  if (typeof recorded === 'string' || (recorded && isOnEarth(recorded))) return recorded
  const length = BLOCKS.has(type) ? content[DATE] : undefined
  if (length === 0) return 'cells'
  const hasLength = length === BLOCK
  if (r.left < (before ?? 0) + GPS + Number(hasLength)) return undefined
  const found = gps(r.skip(before ?? 0), ahead, hasLength)
  if (typeof found === 'object' && !isOnEarth(found)) return undefined
  if (found === 'no fix' || (before ?? 0) > 0 || content[DATE] > MAX_COUNTRY_BYTE) return found
  const country = content[DATE] & NETWORK_FLAGS
  return before === undefined || (country >= LEAST_COUNTRY && country <= MOST_COUNTRY) ? undefined : found
}

/** The position behind an id that a model puts in front: where a date, G and angles fit, as cells hardly ever do. */
function laterPosition(kind: FrameKind | undefined, content: Buffer, { ahead }: DateContext): Fix | undefined {
  if (kind?.holds === 'either' || content.length < DATE) return undefined
  if (dateTime(new ByteReader(content), ahead) !== undefined) return undefined
  for (let before = 1; before <= MOST_BEFORE && before + GPS <= content.length; before++) {
    if (content[before + DATE] <= MAX_COUNTRY_BYTE || content[before] < FIRST_YEAR) continue
    const found = gps(new ByteReader(content).skip(before), ahead)
    if (typeof found === 'object' && isOnEarth(found)) return found
  }
  return undefined
}

const [MOST_BEFORE, FIRST_YEAR] = [24, 10]

/** Another layout yields any angle. */
const isOnEarth = ({ latitude, longitude }: Fix) => Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180

function gps(r: ByteReader, ahead: number, hasLength = false): Fix | Absence | undefined {
  const time = dateTime(r, ahead)
  if (typeof time !== 'number') return time
  if (hasLength) r.skip(1)
  const place = { satellites: r.u8() & 0x0f, latitude: angle(r), longitude: angle(r), speed: kmh(r.u8()) }
  return flagged({ time, ...place, valid: false }, r.u16())
}

function video(r: ByteReader, ahead: number): Fix | Absence | undefined {
  const extended = r.peek() === 0xff
  if (extended) r.skip(3)
  const time = r.left < GPS ? 'no place' : dateTime(r, ahead)
  if (typeof time !== 'number') return time
  const satellites = extended ? r.u8() & 0x0f : undefined
  const fix = flagged({ time, satellites, valid: false, latitude: angle(r), longitude: angle(r) }, r.u16())
  if (extended) fix.speed = kmh(r.u16())
  return fix
}

function modules(r: ByteReader): Fix | Absence {
  let fix: Fix | undefined
  let hdop: number | undefined
  for (const { tag, value } of tlv(r.skip(5), { tag: 2, length: 2 })) {
    if (tag === 0x33) fix = gpsModule(value)
    if (tag === 0x28) hdop = dop(value.u8() / 10)
  }
  return fix ? { ...fix, hdop } : 'no place'
}

function gpsModule(r: ByteReader): Fix {
  const fix = { time: r.u32() * 1000, satellites: r.u8(), altitude: r.i16(), latitude: angle(r), longitude: angle(r) }
  return flagged({ ...fix, valid: false, speed: kmh(r.u8()) }, r.u16())
}

const angle = (r: ByteReader) => r.u32() / 1.8e6

/** ms UTC; undefined where the bytes are no date. They are zero before the device knows the time. */
function dateTime(r: ByteReader, ahead: number): number | Absence | undefined {
  const [year, month, day, hour, minute, second] = r.slice(6)
  if (month === 0 && day === 0) return 'no fix'
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return undefined
  return utc(year, month, day, hour, minute, second) - ahead
}
