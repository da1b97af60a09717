import { say, type Text } from '../texts/text.ts'
/** Whether a text is a time zone: an IANA name or an offset such as `+03:00`. */
export function isZone(zone: string): boolean {
  if (zones.has(zone)) return true
  if (!ZONE.test(zone)) return false
  try {
    zoneFormat(zone)
    return true
  } catch {
    return false
  }
}

/**
 * Returns the instant, ms UTC, at which a clock in `zone` shows `localMs` (the shown date and time as if they were UTC). A
 * local time that occurs twice means its first occurrence; one that the start of summer time skips is read with the offset
 * before it. Cheap enough for every fix: the offsets of each zone are cached by quarter hour.
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

/** Returns why the time that a clock in `zone` shows (as if it was UTC, ms) is ambiguous: it is skipped, or shown twice. */
function ambiguityOf(localMs: number, zone: string): 'skipped' | 'twice' | undefined {
  const offsetAt = zoneOffset(zone)
  const [before, after] = [offsetAt(localMs - DAY_MS), offsetAt(localMs + DAY_MS)]
  if (before === after) return undefined
  const isShown = [before, after].map((offset) => offsetAt(localMs - offset) === offset)
  if (isShown.every(Boolean)) return 'twice'
  return isShown.some(Boolean) ? undefined : 'skipped'
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

/** Returns a function that returns the local day of an instant, at once if it is the day that was asked for last. */
export function localDaysOf(zone: string): (utcMs: number) => ReturnType<typeof localDay> {
  let day = { from: 0, until: 0 }
  return (utcMs) => (utcMs >= day.from && utcMs < day.until ? day : (day = localDay(utcMs, zone)))
}

/** Reads the times of one file. */
export type Times = ReturnType<typeof timesIn>

/** Unix seconds; `until` is exclusive. */
export interface Interval {
  readonly from: number
  readonly until: number
}

/**
 * Reads texts as unix seconds, undefined if a text is no time; times without an offset are local times of `zone`. Caches each
 * different text.
 */
export function timesIn(zone: string) {
  return {
    /** RFC 3339 (seconds optional), or local: `2026-11-20 06:00`. `24:00` is the end of the day. */
    instant: cached((text: string) => instantOf(text, zone)),
    /** Why it is in doubt which instant a local time is: a sentence, or undefined. */
    doubt: cached((text: string) => doubtIn(text, zone)),
    /** The local day of `2026-11-20`. */
    day: cached((text: string) => dayOf(text, zone)),
    endOfDay: cached((seconds: number) => localDay(seconds * 1000, zone).until / 1000),
  }
}

function instantOf(text: string, zone: string): number | undefined {
  const { local, offset } = readInstant(text) ?? {}
  if (local === undefined) return undefined
  return (offset === undefined ? utcFromLocal(local, zone) : local - offsetMs(offset)) / 1000
}

function doubtIn(text: string, zone: string): Text | undefined {
  const { local, offset } = readInstant(text) ?? {}
  const doubt = local === undefined || offset !== undefined ? undefined : ambiguityOf(local, zone)
  if (local === undefined || doubt === undefined) return undefined
  const shown = new Date(localFromUtc(utcFromLocal(local, zone), zone)).toISOString().slice(11, 16)
  return doubt === 'twice'
    ? say(
        '{} occurs twice in {}, as its clocks are set back: the first is taken; write it with an offset where the second is meant',
        text,
        zone,
      )
    : say('{} does not exist in {}, as its clocks are set forward: {} is taken', text, zone, shown)
}

/** Returns the local time of a text in ms, as if it was UTC, and its offset if it has one. */
function readInstant(text: string): { local: number; offset?: string } | undefined {
  const match = INSTANT.exec(text)
  if (!match) return undefined
  const [, date, hour, minute, second = '0', fraction = '0', offset] = match
  const midnight = midnightOf(date)
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second) + Number(fraction)
  if (midnight === undefined || seconds * 1000 > DAY_MS) return undefined
  return { local: midnight + seconds * 1000, offset }
}

function dayOf(text: string, zone: string): Interval | undefined {
  const midnight = /^\d{4}-\d\d-\d\d$/.test(text) ? midnightOf(text) : undefined
  if (midnight === undefined) return undefined
  const { from, until } = localDay(utcFromLocal(midnight + DAY_MS / 2, zone), zone)
  return { from: from / 1000, until: until / 1000 }
}

/** Midnight UTC of a date, ms; undefined if there is no such date. */
function midnightOf(date: string): number | undefined {
  const midnight = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date) ? midnight : undefined
}

function cached<Key, Value>(read: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    if (known.has(key)) return known.get(key) as Value
    if (known.size >= MAX_CACHED) known.clear()
    const value = read(key)
    known.set(key, value)
    return value
  }
}

/** UTC needs no Intl, which takes a process 40 ms to load. */
const zones = new Map<string, (utcMs: number) => number>([['UTC', () => 0]])

/** The offset of a zone in ms; zones change it only at quarter hours, so one call of Intl serves a quarter. */
function zoneOffset(zone: string): (utcMs: number) => number {
  let offsetAt = zones.get(zone)
  if (!offsetAt) {
    const format = zoneFormat(zone)
    const ofQuarter = cached((quarter: number) => offsetMs(format.format(quarter * QUARTER_MS)))
    offsetAt = (utcMs) => (Math.abs(utcMs) < MAX_TIME ? ofQuarter(Math.floor(utcMs / QUARTER_MS)) : 0)
    zones.set(zone, offsetAt)
  }
  return offsetAt
}

/** @throws RangeError if there is no such zone. */
function zoneFormat(zone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
}

/** The first offset in a text such as `GMT+03:00`, ms; Intl writes local times of the 19th century with seconds. */
function offsetMs(text: string): number {
  const [, sign, hours, minutes, seconds = '0'] = /([+-])(\d\d):?(\d\d)(?::(\d\d))?$/.exec(text) ?? []
  if (sign === undefined) return 0
  return (sign === '-' ? -1000 : 1000) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds))
}

/**
 * The offset of a local time that is `aheadMs` ahead of UTC, such as `+03:00`, to a quarter of an hour; undefined
 * beyond 14 h.
 */
export function zoneAhead(aheadMs: number): string | undefined {
  const quarters = Math.round(aheadMs / QUARTER_MS)
  if (Math.abs(quarters) > MAX_QUARTERS) return undefined
  const clock = new Date(Math.abs(quarters) * QUARTER_MS).toISOString()
  return (quarters < 0 ? '-' : '+') + clock.slice(11, 16)
}

/**
 * Returns the offset in use somewhere that explains a device clock which is `aheadMs` ahead of UTC, to two minutes; undefined
 * if none does. An offset of zero explains nothing.
 */
export function fittingZone(aheadMs: number): string | undefined {
  const quarters = Math.round(aheadMs / QUARTER_MS)
  if (quarters === 0 || Math.abs(aheadMs - quarters * QUARTER_MS) > FITS_MS) return undefined
  const isUsed = quarters % 4 === 0 || ODD_QUARTERS.has(quarters)
  return isUsed && quarters >= LEAST_QUARTERS ? zoneAhead(aheadMs) : undefined
}

/**
 * Shows an instant (RFC 3339) in a time zone, with its offset: `08:14:02+02:00`, `08:14:02Z`; with the day unless it is
 * today.
 */
export type Clock = (instant: string) => string

/** A clock in a time zone; `now`: ms UTC. With the precision of minutes there is no offset: for tables that name the zone. */
export function clockIn(zone: string, now: number, precision: 'seconds' | 'minutes' = 'seconds'): Clock {
  const { from, until } = localDay(now, zone)
  return (instant) => {
    const at = Date.parse(instant)
    const local = localFromUtc(at, zone)
    const [day, time] = new Date(local).toISOString().split('T')
    const shown = precision === 'minutes' ? time.slice(0, 5) : time.slice(0, 8) + offsetText((local - at) / 60_000)
    return at >= from && at < until ? shown : `${day} ${shown}`
  }
}

function offsetText(aheadMinutes: number): string {
  const minutes = Math.round(aheadMinutes)
  if (minutes === 0) return 'Z'
  return (minutes < 0 ? '-' : '+') + new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16)
}

/**
 * Which number of `05/11/2026` is the day. `both`: the dates of the file contradict each other; undefined: no date
 * decides it.
 */
export type DateOrder = 'day first' | 'month first' | 'both' | undefined

/** Finds out which number is the day, from dates in which one of the numbers is above 12. */
export function dateOrderOf(texts: Iterable<string>): DateOrder {
  let order: DateOrder
  for (const text of texts) {
    const [, first, , second] = NUMERIC.exec(in24Hours(text)) ?? []
    if (first === undefined || Number(first) > 12 === Number(second) > 12) continue
    const told = Number(first) > 12 ? 'day first' : 'month first'
    order = order === undefined || order === told ? told : 'both'
  }
  return order
}

/**
 * A date such as `22.11.2026`, `22/11/2026 6:00` or `11/22/2026 6:00 AM` as `2026-11-22 06:00`; any other text unchanged; why it is
 * in doubt.
 */
export function standardDate(written: string, order: DateOrder): string | { readonly message: Text } {
  const text = in24Hours(written)
  const match = NUMERIC.exec(text)
  if (!match) return text
  const [, first, , second, year, hour, minute, rest = ''] = match
  const time = hour === undefined ? '' : ` ${hour.padStart(2, '0')}:${minute}${rest}`
  const date = (month: string, day: string) => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  if (order === 'both')
    return {
      message: say('"{}": some dates have the day first, some the month: write {}', written, date('11', '22')),
    }
  if (order === 'day first') return date(second, first) + time
  if (order === 'month first') return date(first, second) + time
  if (first === second) return date(first, second) + time
  return {
    message: say('is "{}" {} or {}? Write it like one of these', written, date(second, first), date(first, second)),
  }
}

/** A text that ends with a time such as `6:00 AM` or `12:30:00 p.m.`, with that as `06:00`; any other text unchanged. */
function in24Hours(text: string): string {
  return text.replace(TWELVE_HOURS, (_, hour: string, rest: string, half: string) => {
    const from12 = (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
    return String(from12).padStart(2, '0') + rest
  })
}

const DAY_MS = 86_400_000
const QUARTER_MS = 900_000
const MAX_TIME = 8.64e15
const MAX_CACHED = 10_000
const INSTANT =
  /^(\d{4}-\d\d-\d\d)[T ]([0-2]\d):([0-5]\d)(?::([0-5]\d)(\.\d{1,9})?)?(?: ?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d))?$/i
const ZONE = /^(?:[A-Za-z][\w+/-]*|[+-](?:0\d:?[0-5]\d|1[0-3]:?[0-5]\d|14:?00))$/
/** 14 hours. */
const MAX_QUARTERS = 56
const FITS_MS = 120_000
/** No zone is more than twelve hours behind UTC. */
const LEAST_QUARTERS = -48
/** The offsets in use that are no whole hours, in quarters of one: from -09:30 to +13:45. */
const ODD_QUARTERS: ReadonlySet<number> = new Set([-38, -14, -10, 14, 18, 22, 23, 26, 35, 38, 42, 51, 55])
/** 1 to 12, as a clock of twelve hours shows them. */
const TWELVE_HOURS = /(?<=^|[^\d:])(0?[1-9]|1[0-2])(:[0-5]\d(?::[0-5]\d)?) ?([ap])\.?m\.?$/i
const NUMERIC = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:,?[T ]+(\d{1,2}):(\d\d)(:\d\d)?)?$/
