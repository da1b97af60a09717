import { DecodeError } from './errors.ts'

/** Metres a second from kilometres an hour. */
export const kmh = (value: number): number => value / 3.6

/** Metres a second from knots. */
export const knots = (value: number): number => (value / 3600) * 1852

/** Metres a second from miles an hour. */
export const mph = (value: number): number => value * 0.44704

/** Degrees from the NMEA notation dddmm.mmmm (4916.45 is 49° 16.45′), the sign kept. */
export function degreesMinutes(value: number): number {
  const degrees = Math.trunc(value / 100)
  return degrees + (value - degrees * 100) / 60
}

/**
 * Degrees from digits of degrees and minutes without a point, as packed decimals hold them: '22345678' with two digits of
 * degrees is 22° 34.5678′. @throws DecodeError `malformed`.
 */
export function digitsDegreesMinutes(digits: string, degreeDigits: 2 | 3): number {
  if (!ANGLE.test(digits)) throw new DecodeError('malformed', `"${digits.slice(0, 40)}" is not an angle`)
  const decimals = digits.length - degreeDigits - 2
  return degreesMinutes(Number(digits) / (POWERS[decimals] ?? 10 ** decimals))
}

const ANGLE = /^\d{5,}$/
/** Of ten: to look one up takes less time than to raise it. */
const POWERS = [1, 10, 100, 1000, 1e4, 1e5, 1e6]

/** Degrees from radians. */
export const radians = (value: number): number => (value * 180) / Math.PI

/** Degrees from true north, 0 ≤ heading < 360; undefined of a value that is no direction (negative, above 360). */
export const heading = (value: number | undefined): number | undefined =>
  value !== undefined && value >= 0 && value <= 360 ? value % 360 : undefined

/** A measured number; undefined of NaN and infinities, by which floats say that they do not know it. */
export const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined)

/** A quantity that cannot be negative; undefined of a negative value, by which devices say that they do not know it. */
export const known = (value: number | undefined): number | undefined =>
  value !== undefined && value >= 0 ? value : undefined

/** A dilution of precision: 0 is how devices say that they do not know it. */
export const dop = (value: number | undefined): number | undefined =>
  value !== undefined && value > 0 ? value : undefined

/** An IMEI of 14 digits with its check digit (Luhn). @throws DecodeError `malformed`. */
export function imeiOf14(digits: string): string {
  if (!/^\d{14}$/.test(digits)) throw new DecodeError('malformed', `"${digits.slice(0, 40)}" is not 14 digits`)
  let sum = 0
  for (let i = 0; i < 14; i++) {
    const doubled = (digits.charCodeAt(i) - 48) * (1 + (i % 2))
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return digits + String((10 - (sum % 10)) % 10)
}

/**
 * ms UTC of a calendar time; a year of two digits is in this century. NaN of a date whose month and day are both 0, or both
 * FF: the clock was never set.
 * @throws DecodeError `malformed` where the calendar has no such time (month 13, 30 February, 24:00:00).
 */
export function utc(year: number, month: number, day: number, hour: number, minute: number, second: number): number {
  if (month === day && (month === 0 || month === 0xff)) return Number.NaN
  const fullYear = year < 100 ? 2000 + year : year
  const isDate = fullYear < 10_000 && day >= 1 && day <= daysIn(fullYear, month)
  const isTime = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 61
  if (!isDate || !isTime)
    throw new DecodeError(
      'malformed',
      `${year}-${month}-${day} ${hour}:${minute}:${second} is not a time of the calendar`,
    )
  return (((daysSince1970(fullYear, month, day) * 24 + hour) * 60 + minute) * 60 + Math.trunc(second)) * 1000
}

/** ms UTC of digits with the year first: 'YYMMDDhhmmss', 'YYYYMMDDhhmmss'. @throws DecodeError `malformed`. */
export function utcYmd(digits: string): number {
  const century = digits.length === 14 ? twoDigits(digits, 0) * 100 : 2000
  const from = digits.length === 14 ? 2 : 0
  const at = (index: number) => twoDigits(digits, from + index)
  return utc(century + at(0), at(2), at(4), at(6), at(8), at(10))
}

/** ms UTC of a date 'DDMMYY' and a time 'hhmmss', as in NMEA. @throws DecodeError `malformed`. */
export function utcDmy(date: string, time: string): number {
  return utc(
    twoDigits(date, 4),
    twoDigits(date, 2),
    twoDigits(date, 0),
    twoDigits(time, 0),
    twoDigits(time, 2),
    twoDigits(time, 4),
  )
}

/**
 * ms UTC of RFC 3339 text; a time without offset is UTC. The `+` of an offset is a space where it came unescaped in a query.
 * @throws DecodeError `malformed`.
 */
export function rfc3339(text: string): number {
  const match = RFC3339.exec(text)
  if (!match) throw new DecodeError('malformed', `"${text.slice(0, 40)}" is not an RFC 3339 time`)
  const [, date, time, offset] = match
  const value = Date.parse(`${date}T${time}${offset?.replace(' ', '+') ?? 'Z'}`)
  if (Number.isNaN(value)) throw new DecodeError('malformed', `"${text.slice(0, 40)}" is not a time of the calendar`)
  return value
}

/**
 * ms UTC of a unix time in seconds, or in milliseconds where it is 1e11 or more.
 * @throws DecodeError `malformed` where it is not finite.
 */
export function unixTime(value: number): number {
  if (!(value - value === 0)) throw new DecodeError('malformed', 'the timestamp is not a finite number')
  return Math.abs(value) >= 1e11 ? Math.trunc(value) : Math.round(value * 1000)
}

const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)([Zz]|[ +-]\d{2}:?\d{2})?$/

function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48
  const ones = text.charCodeAt(at + 1) - 48
  if (!(tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9))
    throw new DecodeError('malformed', `"${text.slice(0, 40)}" is not a time`)
  return tens * 10 + ones
}

/** Days of a year that begins in March, as its leap day is the last; `Date.UTC` takes twice as long. */
function daysSince1970(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1
  const leapDays = Math.trunc(y / 4) - Math.trunc(y / 100) + Math.trunc(y / 400)
  return y * 365 + leapDays + BEFORE_MONTH[month] + day - 719_469
}

/** Days from 1 March to each month, from 1 on. */
const BEFORE_MONTH = [0, 306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275]

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : month >= 1 && month <= 12 ? 31 : 0
}
