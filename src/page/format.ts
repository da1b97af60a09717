import { locale, words } from './words/index.ts'

const { unit } = words
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
const tenths = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
const hundredths = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
const share = new Intl.NumberFormat(locale, { style: 'percent' })
const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const clockSeconds = new Intl.DateTimeFormat(locale, { timeStyle: 'medium', hourCycle: 'h23' })
const dayAndClock = new Intl.DateTimeFormat(locale, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
const full = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long', hourCycle: 'h23' })
const dayName = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short' })

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

/** The time of today, else with its day. In the browser's zone. */
export function time(at: string | number, now = Date.now()): string {
  const date = new Date(at)
  return date.toDateString() === new Date(now).toDateString() ? clock.format(date) : dayAndClock.format(date)
}

/** With seconds. */
export function timeOfDay(at: string | number): string {
  return clockSeconds.format(new Date(at))
}

/** Everything, with the zone: for a title. */
export function fullTime(at: string | number): string {
  return full.format(new Date(at))
}

/** `Sun 22 Nov`, in the browser's zone. */
export function day(at: string | number): string {
  return dayName.format(new Date(at))
}

/** m/s as km/h. */
export function speed(metresPerSecond: number): string {
  return `${whole.format(metresPerSecond * 3.6)} ${unit.kmh}`
}

/** `12.41 V` */
export function volts(value: number): string {
  return `${hundredths.format(value)} V`
}

/** `80%` */
export function percent(value: number): string {
  return share.format(value / 100)
}

export function coordinates({ lat, lon }: { readonly lat: number; readonly lon: number }): string {
  return `${lat.toFixed(5)}, ${lon.toFixed(5)}`
}

/** A text with a capital at its beginning. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
