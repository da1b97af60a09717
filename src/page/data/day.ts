/* Local days of a time zone, as texts such as `2026-11-22`. */

/** A day and its bounds, ms UTC. It has 23 or 25 hours if clocks change. */
export interface LocalDay {
  readonly day: string
  readonly from: number
  readonly until: number
}

/** The day of an instant. */
export function dayAt(ms: number, zone: string): string {
  return clockIn(zone).format(ms).slice(0, 10)
}

export function localDay(day: string, zone: string): LocalDay {
  return { day, from: midnight(day, zone), until: midnight(dayAfter(day), zone) }
}

/** The day `days` days later; earlier if `days` is negative. */
export function dayAfter(day: string, days = 1): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)
}

export function isDay(text: string | null | undefined): text is string {
  return /^\d{4}-\d\d-\d\d$/.test(text ?? '') && !Number.isNaN(Date.parse(`${text}T00:00:00Z`))
}

/** `06:00`, as a clock in the zone shows it. */
export function clockText(ms: number, zone: string): string {
  return clockIn(zone).format(ms).slice(11, 16)
}

/**
 * Returns the first and the last day on which lines of a roster begin, by the first date in each line. Undefined if there is
 * none.
 */
export function daysIn(text: string): { readonly first: string; readonly last: string } | undefined {
  const days = text.split(/[\r\n]+/).flatMap((line) => dayIn(line) ?? [])
  if (days.length === 0) return undefined
  const sorted = days.toSorted()
  return { first: sorted[0], last: sorted[sorted.length - 1] }
}

function dayIn(line: string): string | undefined {
  const iso = /\b\d{4}-\d\d-\d\d/.exec(line)?.[0]
  const [, day, month, year] = /\b(\d\d?)[./](\d\d?)[./](\d{4})\b/.exec(line) ?? []
  const text = iso ?? (year && `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`)
  return isDay(text) ? text : undefined
}

/** The instant, ms UTC, at which clocks in the zone show a local time such as `2026-11-22T06:00`. */
export function instantIn(local: string, zone: string): number {
  const shown = Date.parse(`${local}Z`)
  return shown - offsetAt(shown - offsetAt(shown, zone), zone)
}

function midnight(day: string, zone: string): number {
  return instantIn(`${day}T00:00`, zone)
}

function offsetAt(ms: number, zone: string): number {
  return Date.parse(`${clockIn(zone).format(ms).replace(' ', 'T')}Z`) - (ms - (ms % 1000))
}

/** Swedish clocks show `2026-11-22 06:00:00`. A zone that this browser does not know is read as its own. */
function clockIn(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone)
  if (known) return known
  const style = { dateStyle: 'short', timeStyle: 'medium' } as const
  let clock: Intl.DateTimeFormat
  try {
    clock = new Intl.DateTimeFormat('sv-SE', { ...style, timeZone: zone })
  } catch {
    clock = new Intl.DateTimeFormat('sv-SE', style)
  }
  clocks.set(zone, clock)
  return clock
}

const clocks = new Map<string, Intl.DateTimeFormat>()
const DAY_MS = 86_400_000
