import { localDay, utcFromLocal } from './zone.ts'

/**
 * Reads the times of one file, unix seconds; undefined where a text is none. Most lines have the same few, so that each is
 * worked out once.
 */
export interface Times {
  /** RFC 3339 (`2026-11-20T06:00:00Z`, with or without seconds), or local: `2026-11-20 06:00`. `24:00` is the day's end. */
  instant(text: string): number | undefined
  /** The local day of `2026-11-20`. */
  day(text: string): Interval | undefined
  /** The end of the local day of an instant. */
  endOfDay(seconds: number): number
}

/** `until` exclusive. */
export interface Interval {
  readonly from: number
  readonly until: number
}

/** Times as they are meant in a time zone: an IANA name or an offset. */
export function timesIn(zone: string): Times {
  return {
    instant: remembered((text) => instantOf(text, zone)),
    day: remembered((text) => dayOf(text, zone)),
    endOfDay: remembered((seconds) => localDay(seconds * 1000, zone).until / 1000),
  }
}

function instantOf(text: string, zone: string): number | undefined {
  const match = INSTANT.exec(text)
  if (!match) return undefined
  const [, date, hour, minute, second = '0', fraction = '0', offset] = match
  const midnight = midnightOf(date)
  const clock = Number(hour) * 3600 + Number(minute) * 60 + Number(second) + Number(fraction)
  if (midnight === undefined || Number(minute) > 59 || Number(second) > 59 || clock > DAY_SECONDS) return undefined
  const local = midnight + clock * 1000
  return (offset === undefined ? utcFromLocal(local, zone) : local - offsetMs(offset)) / 1000
}

function dayOf(text: string, zone: string): Interval | undefined {
  const midnight = /^\d{4}-\d\d-\d\d$/.test(text) ? midnightOf(text) : undefined
  if (midnight === undefined) return undefined
  const noon = utcFromLocal(midnight + DAY_SECONDS * 500, zone)
  const { from, until } = localDay(noon, zone)
  return { from: from / 1000, until: until / 1000 }
}

/** Midnight UTC of a date that exists, ms. */
function midnightOf(date: string): number | undefined {
  const midnight = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date) ? midnight : undefined
}

function offsetMs(offset: string): number {
  if (/^z$/i.test(offset)) return 0
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(-2))
  return (offset.startsWith('-') ? -minutes : minutes) * 60_000
}

function remembered<Key, Value>(read: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    if (known.has(key)) return known.get(key) as Value
    const value = read(key)
    known.set(key, value)
    return value
  }
}

const DAY_SECONDS = 86_400
const INSTANT = /^(\d{4}-\d\d-\d\d)[T ]([0-2]\d):([0-5]\d)(?::([0-5]\d)(\.\d{1,9})?)?(?: ?(Z|[+-]\d\d:?[0-5]\d))?$/i
