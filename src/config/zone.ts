/** Whether a text names a time zone: an IANA name or an offset such as `+03:00`. */
export function isZone(zone: string): boolean {
  if (OFFSET.test(zone)) return fixedOffset(zone) !== undefined
  return NAME.test(zone) && formatter(zone) !== undefined
}

/**
 * The instant, ms UTC, at which clocks in `zone` show `localMs` (a wall clock's reading as if it were UTC).
 * A reading that occurs twice is its first occurrence; one that a change of the clock skips is read by the clock before it.
 * Cheap enough for every fix: each zone's offsets are cached by quarter hour.
 */
export function utcFromLocal(localMs: number, zone: string): number {
  const offsetAt = zoneOffset(zone)
  const before = offsetAt(localMs - DAY)
  const after = offsetAt(localMs + DAY)
  if (before === after) return localMs - before
  const first = localMs - before
  const second = localMs - after
  if (offsetAt(first) === before) return first
  return offsetAt(second) === after ? second : first
}

/** What a wall clock in `zone` shows at an instant, both ms. */
export function localFromUtc(utcMs: number, zone: string): number {
  return utcMs + zoneOffset(zone)(utcMs)
}

/** The local day of an instant: its first ms and the first of the next day, ms UTC. */
export function localDay(utcMs: number, zone: string): { from: number; until: number } {
  const midnight = Math.floor(localFromUtc(utcMs, zone) / DAY) * DAY
  return { from: utcFromLocal(midnight, zone), until: utcFromLocal(midnight + DAY, zone) }
}

type OffsetAt = (utcMs: number) => number

const offsets = new Map<string, OffsetAt>()

function zoneOffset(zone: string): OffsetAt {
  let offsetAt = offsets.get(zone)
  if (!offsetAt) {
    offsetAt = fixedZone(zone) ?? namedZone(zone)
    offsets.set(zone, offsetAt)
  }
  return offsetAt
}

function fixedZone(zone: string): OffsetAt | undefined {
  const offset = fixedOffset(zone)
  return offset === undefined ? undefined : () => offset
}

function fixedOffset(zone: string): number | undefined {
  if (zone === 'UTC') return 0
  const match = OFFSET.exec(zone)
  if (!match) return undefined
  const minutes = Number(match[2]) * 60 + Number(match[3])
  if (minutes > MAX_OFFSET_MINUTES || Number(match[3]) > 59) return undefined
  return (match[1] === '-' ? -minutes : minutes) * 60_000 + 0
}

/** Zones change their offset at quarter hours only, so that one look-up of Intl serves a quarter. */
function namedZone(zone: string): OffsetAt {
  const format = formatter(zone)
  if (!format) throw new RangeError('not a time zone')
  const quarters = new Map<number, number>()
  return (utcMs) => {
    if (!(Math.abs(utcMs) < MAX_TIME)) return 0
    const quarter = Math.floor(utcMs / QUARTER)
    const known = quarters.get(quarter)
    if (known !== undefined) return known
    if (quarters.size >= MAX_QUARTERS) quarters.clear()
    const offset = offsetOf(format, quarter * QUARTER)
    quarters.set(quarter, offset)
    return offset
  }
}

function formatter(zone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { ...FIELDS, timeZone: zone })
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

const DAY = 86_400_000
const QUARTER = 900_000
const MAX_TIME = 8.64e15
const MAX_QUARTERS = 10_000
const MAX_OFFSET_MINUTES = 14 * 60
const OFFSET = /^([+-])(\d\d):?(\d\d)$/
const NAME = /^[A-Za-z][\w+/-]*$/
const FIELDS = {
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
