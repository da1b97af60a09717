/*
 * Where the content of a GT06 frame holds a position, and how.
 *
 *   gps      [before] YYMMDDhhmmss [LL] GG AAAAAAAA OOOOOOOO VV FFFF …
 *   video    [FFFF xx] YYMMDDhhmmss [GG] AAAAAAAA OOOOOOOO FFFF [VVVV], of 95: FFFF xx brings GG and VVVV with it; or gps
 *   modules  xxxxxxxx xx, then of (tag16, length16, value), of 70: 33 UUUUUUUU SS HHHH AAAAAAAA OOOOOOOO VV FFFF, 28 PP, 18 BBBB
 *
 *   A, O  latitude, longitude, degrees × 1,800,000     F  heading in bits 9–0; bits 10: north, 11: west, 12: fixed
 *   G  12 (what follows of GPS), satellites: a nibble each    V  speed, km/h      U  unix seconds   S  satellites
 *   H  altitude, m      P  HDOP × 10     B  battery, 0.01 V     L  of 7932 and 7933: 0C, or 00 and cells in place of what follows
 *
 * What else they say: status.ts. Answers to commands may hold the last position as text:
 *
 *   DWXX=Lat:N23d5.1708m,Lon:E114d23.6212m,Course:120,Speed:53.02,DateTime:08-09-12 14:52:36        or Lat:N22.576713, …
 */
import {
  ByteReader,
  dop,
  type Fix,
  flagged,
  heading,
  kmh,
  type Message,
  type Said,
  said,
  tlv,
  utc,
} from '../kit/index.ts'
import { behindPosition, withoutPosition } from './status.ts'
import { type FrameKind, kindOf } from './types.ts'

/**
 * What a frame says of positions: its fix, or why it has none. Of a type that holds one, and that cannot be read, no fixes;
 * of an unknown type nothing. `type` of a long frame is 79TT; `ahead`: how far the device's dates are ahead of UTC, ms.
 */
export function location(
  type: number,
  content: Buffer,
  context: DateContext,
): Pick<Message, 'fixes' | 'none' | 'said'> {
  const kind = kindOf(type, context.model)
  if (kind?.why === 'command answer')
    return answered(content.toString('latin1').replaceAll('\0', ''), context.ahead) ?? { none: kind.why }
  const { model } = context
  if (kind?.holds === 'none') return { none: kind.why, said: withoutPosition({ type, content, model }) }
  const layout: Layout = { type, content, before: kind?.before, ahead: context.ahead, model }
  const found = positionOf(layout) ?? laterPosition(kind, layout)
  if (typeof found === 'string' && kind?.holds === 'position') return { none: found, said: saidWithoutClock(layout) }
  if (typeof found === 'object') return { fixes: [found] }
  if (kind?.holds === 'either') return { none: kind.why, said: withoutPosition({ type, content, model }) }
  return kind ? { fixes: [] } : {}
}

/** What a report says whose position has no date, as before the device knows the time: its alarm is one all the same. */
function saidWithoutClock(layout: Layout): Said | undefined {
  const { content, before = 0 } = layout
  const at = before + GPS
  return content.length < at || content.subarray(before, before + DATE).some((byte) => byte !== 0)
    ? undefined
    : behindPosition(layout, at, 0)
}

interface DateContext {
  readonly model?: string
  readonly ahead: number
}

interface Layout extends DateContext {
  readonly type: number
  readonly content: Buffer
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
function positionOf(layout: Layout): Fix | Absence | undefined {
  const { type, content, before, ahead } = layout
  const r = new ByteReader(content)
  if (type === MODULES) return modules(r)
  const recorded = type === VIDEO ? video(r.ahead(), ahead) : undefined
  if (typeof recorded === 'string' || (recorded && isOnEarth(recorded))) return recorded
  const length = BLOCKS.has(type) ? content[DATE] : undefined
  if (length === 0) return 'cells'
  const hasLength = length === BLOCK
  if (r.left < (before ?? 0) + GPS + Number(hasLength)) return undefined
  const found = gps(r.skip(before ?? 0), layout, hasLength)
  if (typeof found === 'object' && !isOnEarth(found)) return undefined
  if (found === 'no fix' || (before ?? 0) > 0 || content[DATE] > MAX_COUNTRY_BYTE) return found
  const country = content[DATE] & NETWORK_FLAGS
  return before === undefined || (country >= LEAST_COUNTRY && country <= MOST_COUNTRY) ? undefined : found
}

/** The position behind an id that a model puts in front: where a date, G and angles fit, as cells hardly ever do. */
function laterPosition(kind: FrameKind | undefined, layout: Layout): Fix | undefined {
  const { content } = layout
  if (kind?.holds === 'either' || content.length < DATE) return undefined
  if (dateTime(new ByteReader(content), layout.ahead) !== undefined) return undefined
  for (let before = 1; before <= MOST_BEFORE && before + GPS <= content.length; before++) {
    if (content[before + DATE] <= MAX_COUNTRY_BYTE || content[before] < FIRST_YEAR) continue
    const found = gps(new ByteReader(content).skip(before), layout)
    if (typeof found === 'object' && isOnEarth(found)) return found
  }
  return undefined
}

const [MOST_BEFORE, FIRST_YEAR] = [24, 10]

/** Another layout yields any angle. */
const isOnEarth = ({ latitude, longitude }: Fix) => Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180

function gps(r: ByteReader, layout: Layout, hasLength = false): Fix | Absence | undefined {
  const time = dateTime(r, layout.ahead)
  if (typeof time !== 'number') return time
  if (hasLength) r.skip(1)
  const place = { satellites: r.u8() & 0x0f, latitude: angle(r), longitude: angle(r), speed: kmh(r.u8()) }
  const flags = r.u16()
  const more = behindPosition(layout, r.position, flags)
  return flagged({ time, ...place, valid: false, said: more }, flags)
}

function video(r: ByteReader, ahead: number): Fix | Absence | undefined {
  const extended = r.peek() === 0xff
  if (extended) r.skip(3)
  const time = r.left < GPS ? 'no place' : dateTime(r, ahead)
  if (typeof time !== 'number') return time
  const satellites = extended ? r.u8() & 0x0f : undefined
  const fix = flagged({ time, satellites, valid: false, latitude: angle(r), longitude: angle(r) }, r.u16())
  if (!extended) return r.left > 0 && r.u8() === VIDEO_SOS ? { ...fix, said: { alarms: ['sos'] } } : fix
  return { ...fix, speed: kmh(r.u16()), said: r.left < 2 ? undefined : said({ external_voltage: r.u16() / 10 }) }
}

/** The kind of event for which the driver recorded the video. */
const VIDEO_SOS = 1

function modules(r: ByteReader): Fix | Absence {
  let fix: Fix | undefined
  let hdop: number | undefined
  let volts: number | undefined
  for (const { tag, value } of tlv(r.skip(5), { tag: 2, length: 2 })) {
    if (tag === 0x33) fix = gpsModule(value)
    if (tag === 0x28) hdop = dop(value.u8() / 10)
    if (tag === 0x18) volts = value.u16() / 100
  }
  return fix ? { ...fix, hdop, said: said({ battery_voltage: volts }) } : 'no place'
}

function gpsModule(r: ByteReader): Fix {
  const fix = { time: r.u32() * 1000, satellites: r.u8(), altitude: r.i16(), latitude: angle(r), longitude: angle(r) }
  return flagged({ ...fix, valid: false, speed: kmh(r.u8()) }, r.u16())
}

const angle = (r: ByteReader) => r.u32() / 1.8e6

/** What an answer to a command, without its NULs of UTF-16, says of the last position; undefined where it is another answer. */
function answered(text: string, ahead: number): Pick<Message, 'fixes'> | undefined {
  if (!/Lat:|maps\?/.test(text)) return undefined
  const match = ANSWERED.exec(text)
  if (!match) return { fixes: [] }
  const [, ns, latitude, ew, longitude, course, speed, year, month, day, hour, minute, second] = match
  const time = utc(+year, +month, +day, +hour, +minute, +second) - ahead
  const [north, east] = [degrees(latitude), degrees(longitude)]
  const place = { latitude: ns === 'S' ? -north : north, longitude: ew === 'W' ? -east : east }
  return { fixes: [{ time, ...place, speed: kmh(+speed), heading: heading(+course), valid: true }] }
}

const ANSWERED =
  /Lat:([NS])([\d.]+(?:d[\d.]+m?)?),Lon:([EW])([\d.]+(?:d[\d.]+m?)?),Course:([\d.]+),Speed:([\d.]+).*?DateTime:(\d\d|\d{4})-(\d\d)-(\d\d) +(\d\d):(\d\d):(\d\d)/

/** 22.576713, or 23d5.1708m for 23° 5.1708′. */
function degrees(text: string): number {
  const [whole, minutes = '0'] = text.split('d')
  return +whole + Number.parseFloat(minutes) / 60
}

/** ms UTC; undefined where the bytes are no date. They are zero before the device knows the time. */
function dateTime(r: ByteReader, ahead: number): number | Absence | undefined {
  const [year, month, day, hour, minute, second] = r.slice(6)
  if (month === 0 && day === 0) return 'no fix'
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return undefined
  return utc(year, month, day, hour, minute, second) - ahead
}
