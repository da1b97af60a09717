import { zone } from './data/clock.ts'
import { dayAt } from './data/day.ts'
import { locale, words } from './words/index.ts'

const { unit } = words
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
const tenths = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
const hundredths = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
const share = new Intl.NumberFormat(locale, { style: 'percent' })
const shareTenths = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })

/** Returns the functions that write times in a zone. */
function clocksOf(timeZone: string) {
  const style = { timeZone, hourCycle: 'h23' } as const
  return {
    clock: new Intl.DateTimeFormat(locale, { ...style, hour: '2-digit', minute: '2-digit' }),
    clockSeconds: new Intl.DateTimeFormat(locale, { ...style, timeStyle: 'medium' }),
    dayAndClock: new Intl.DateTimeFormat(locale, {
      ...style,
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
    }),
    full: new Intl.DateTimeFormat(locale, { ...style, dateStyle: 'full', timeStyle: 'long' }),
    dayName: new Intl.DateTimeFormat(locale, { timeZone, weekday: 'short', day: 'numeric', month: 'short' }),
  }
}

const known = new Map<string, ReturnType<typeof clocksOf>>()

function clocks(): ReturnType<typeof clocksOf> {
  const name = zone()
  const found = known.get(name) ?? clocksOf(name)
  known.set(name, found)
  return found
}

const dateName = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', weekday: 'short', day: 'numeric', month: 'short' })

/** Orders names as people do: Van 2 before Van 12. */
export const collator = new Intl.Collator(locale, { numeric: true })

/** `1,204`; from a hundred thousand on `120K`. */
export function count(value: number): string {
  return Math.abs(value) < 100_000 ? whole.format(value) : compact.format(value)
}

/** A number with all its digits. */
export function exact(value: number): string {
  return whole.format(value)
}

/** A rate: a decimal below 100. */
export function rate(value: number): string {
  return value < 100 ? tenths.format(value) : count(value)
}

/** `12 s`, `3 min`, `2 h`, `4 d`. */
export function duration(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000))
  if (s < 100) return `${s} ${unit.s}`
  if (s < 100 * 60) return `${Math.round(s / 60)} ${unit.min}`
  if (s < 48 * 3600) return `${Math.round(s / 3600)} ${unit.h}`
  return `${Math.round(s / 86_400)} ${unit.d}`
}

/** `12 s ago`. */
export function age(at: string | undefined, now: number): string {
  return at === undefined ? words.never : words.ago(duration(now - Date.parse(at)))
}

/** The time of today, else with its day. */
export function time(at: string | number, now = Date.now()): string {
  const ms = new Date(at).getTime()
  const { clock, dayAndClock } = clocks()
  return dayAt(ms, zone()) === dayAt(now, zone()) ? clock.format(ms) : dayAndClock.format(ms)
}

/** With seconds. */
export function timeOfDay(at: string | number): string {
  return clocks().clockSeconds.format(new Date(at))
}

/** Everything, with the zone: for a title. */
export function fullTime(at: string | number): string {
  return clocks().full.format(new Date(at))
}

/** `Sun 22 Nov` of an instant. */
export function day(at: string | number): string {
  return clocks().dayName.format(new Date(at))
}

/** `Sun 22 Nov` of a date such as `2026-11-22`. */
export function dateText(date: string): string {
  return dateName.format(new Date(`${date}T00:00:00Z`))
}

/**
 * A text of the admin port with its times as the page shows times. Only those with an offset are changed:
 * `2026-11-22T07:41:00.000Z`, `08:14:02+02:00`, `2026-11-22 08:14:02Z`.
 */
export function withTimes(text: string, now = Date.now()): string {
  return text.replace(OFFSET_TIME, (found, date: string | undefined, clockTime: string, offset: string) => {
    const ahead = offset === 'Z' ? 0 : Date.parse(`1970-01-01T00:00:00${offset}`)
    const today = new Date(now - ahead).toISOString().slice(0, 10)
    const at = Date.parse(`${date?.slice(0, 10) ?? today}T${clockTime}${offset}`)
    if (Number.isNaN(at)) return found
    const isToday = dayAt(at, zone()) === dayAt(now, zone())
    return isToday ? timeOfDay(at) : `${dateText(dayAt(at, zone()))}, ${timeOfDay(at)}`
  })
}

const OFFSET_TIME = /(?<![\w:.])(\d{4}-\d\d-\d\d[ T])?([0-2]\d:[0-5]\d:[0-5]\d)(?:\.\d+)?(Z|[+-]\d\d:[0-5]\d)(?![\w:])/g

/** m/s as km/h. */
export function speed(metresPerSecond: number): string {
  return `${whole.format(metresPerSecond * 3.6)} ${unit.kmh}`
}

/** `12.41 V` */
export function volts(value: number): string {
  return `${hundredths.format(value)} V`
}

/** `4.1 MB`, `410 kB` */
export function megabytes(bytes: number): string {
  return bytes < 1e6 ? `${whole.format(bytes / 1e3)} kB` : `${tenths.format(bytes / 1e6)} MB`
}

/** `99.9%` of a share from 0 to 1, rounded down: `100%` is all. */
export function shareText(value: number): string {
  return shareTenths.format(Math.floor(value * 1000) / 1000)
}

/** `80%` */
export function percent(value: number): string {
  return share.format(value / 100)
}

export function coordinates({ lat, lon }: { readonly lat: number; readonly lon: number }): string {
  return `${lat.toFixed(5)}, ${lon.toFixed(5)}`
}

/** A text with a capital at its beginning, unless that is the name of a file. */
export function capital(text: string): string {
  if (/^[\w-]+\.[a-z]/.test(text)) return text
  return text.charAt(0).toUpperCase() + text.slice(1)
}
