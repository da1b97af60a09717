/** Whether a text is a time zone: an IANA name or an offset such as `+03:00`. */
export function isZone(zone: string): boolean {
  if (OFFSET.test(zone)) return fixedOffset(zone) !== undefined
  return ZONE_NAME.test(zone) && formatter(zone) !== undefined
}

/**
 * The instant, ms UTC, at which a clock in `zone` shows `localMs` (the shown date and time as if they were UTC).
 * A local time that occurs twice means its first occurrence; one that the start of summer time skips is read by the
 * offset before it. Cheap enough for every fix: the offsets of each zone are cached by quarter hour.
 */
export function utcFromLocal(localMs: number, zone: string): number {
  const offsetAt = zoneOffset(zone)
  const before = offsetAt(localMs - DAY_MS)
  const after = offsetAt(localMs + DAY_MS)
  if (before === after) return localMs - before
  const first = localMs - before
  const second = localMs - after
  if (offsetAt(first) === before) return first
  return offsetAt(second) === after ? second : first
}

/** The time that a clock in `zone` shows at an instant, both in ms. */
export function localFromUtc(utcMs: number, zone: string): number {
  return utcMs + zoneOffset(zone)(utcMs)
}

/** The local day of an instant: its first ms and the first ms of the next day, ms UTC. */
export function localDay(utcMs: number, zone: string): { from: number; until: number } {
  const midnight = Math.floor(localFromUtc(utcMs, zone) / DAY_MS) * DAY_MS
  return { from: utcFromLocal(midnight, zone), until: utcFromLocal(midnight + DAY_MS, zone) }
}

/** Reads the times of one file as unix seconds; undefined where a text is no time. Each different text is read once. */
export interface Times {
  /**
   * RFC 3339 (`2026-11-20T06:00:00Z`, seconds optional), or local: `2026-11-20 06:00`. `24:00` is the end of the day.
   */
  instant(text: string): number | undefined
  /** The local day of `2026-11-20`. */
  day(text: string): Interval | undefined
  /** The end of the local day of an instant. */
  endOfDay(seconds: number): number
}

/** Unix seconds; `until` is exclusive. */
export interface Interval {
  readonly from: number
  readonly until: number
}

/** Reads times without an offset as local times of a zone: an IANA name or an offset. */
export function timesIn(zone: string): Times {
  return {
    instant: cached((text) => instantOf(text, zone)),
    day: cached((text) => dayOf(text, zone)),
    endOfDay: cached((seconds) => localDay(seconds * 1000, zone).until / 1000),
  }
}

function instantOf(text: string, zone: string): number | undefined {
  const match = INSTANT.exec(text)
  if (!match) return undefined
  const [, date, hour, minute, second = '0', fraction = '0', offset] = match
  const midnight = midnightOf(date)
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second) + Number(fraction)
  if (midnight === undefined || seconds * 1000 > DAY_MS) return undefined
  const local = midnight + seconds * 1000
  return (offset === undefined ? utcFromLocal(local, zone) : local - offsetMs(offset)) / 1000
}

function dayOf(text: string, zone: string): Interval | undefined {
  const midnight = /^\d{4}-\d\d-\d\d$/.test(text) ? midnightOf(text) : undefined
  if (midnight === undefined) return undefined
  const { from, until } = localDay(utcFromLocal(midnight + DAY_MS / 2, zone), zone)
  return { from: from / 1000, until: until / 1000 }
}

/** Midnight UTC, ms; undefined where there is no such date. */
function midnightOf(date: string): number | undefined {
  const midnight = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date) ? midnight : undefined
}

function offsetMs(offset: string): number {
  if (/^z$/i.test(offset)) return 0
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(-2))
  return (offset.startsWith('-') ? -minutes : minutes) * 60_000
}

function cached<Key, Value>(read: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    if (known.has(key)) return known.get(key) as Value
    const value = read(key)
    known.set(key, value)
    return value
  }
}

type OffsetAt = (utcMs: number) => number

const offsets = new Map<string, OffsetAt>()

function zoneOffset(zone: string): OffsetAt {
  let offsetAt = offsets.get(zone)
  if (!offsetAt) {
    const fixed = fixedOffset(zone)
    offsetAt = fixed === undefined ? namedZone(zone) : () => fixed
    offsets.set(zone, offsetAt)
  }
  return offsetAt
}

function fixedOffset(zone: string): number | undefined {
  if (zone === 'UTC') return 0
  const [, sign, hours, minutes] = OFFSET.exec(zone) ?? []
  const total = Number(hours) * 60 + Number(minutes)
  if (!(total <= MAX_OFFSET_MINUTES) || Number(minutes) > 59) return undefined
  return (sign === '-' ? -total : total) * 60_000 + 0
}

/** Zones change their offset only at quarter hours, so one call of Intl serves a quarter. */
function namedZone(zone: string): OffsetAt {
  const format = formatter(zone)
  if (!format) throw new RangeError('not a time zone')
  const quarters = new Map<number, number>()
  return (utcMs) => {
    if (!(Math.abs(utcMs) < MAX_TIME)) return 0
    const quarter = Math.floor(utcMs / QUARTER_MS)
    const known = quarters.get(quarter)
    if (known !== undefined) return known
    if (quarters.size >= MAX_QUARTERS) quarters.clear()
    const offset = offsetOf(format, quarter * QUARTER_MS)
    quarters.set(quarter, offset)
    return offset
  }
}

function formatter(zone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { ...CLOCK, timeZone: zone })
  } catch {
    return undefined
  }
}

function offsetOf(format: Intl.DateTimeFormat, utcMs: number): number {
  const parts: Record<string, number> = {}
  for (const { type, value } of format.formatToParts(utcMs)) parts[type] = Number(value)
  const { year, month, day, hour, minute, second } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - utcMs
}

const DAY_MS = 86_400_000
const QUARTER_MS = 900_000
const MAX_TIME = 8.64e15
const MAX_QUARTERS = 10_000
const MAX_OFFSET_MINUTES = 14 * 60
const INSTANT = /^(\d{4}-\d\d-\d\d)[T ]([0-2]\d):([0-5]\d)(?::([0-5]\d)(\.\d{1,9})?)?(?: ?(Z|[+-]\d\d:?[0-5]\d))?$/i
const OFFSET = /^([+-])(\d\d):?(\d\d)$/
const ZONE_NAME = /^[A-Za-z][\w+/-]*$/
const CLOCK = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const
