import type { ByteReader } from './bytes.ts'
import { utc } from './units.ts'

/** ms UTC of seconds since the beginning of a year: `secondsSince(2010)(r.u32())`. */
export function secondsSince(year: number): (seconds: number) => number {
  const epoch = Date.UTC(year, 0, 1)
  return (seconds) => epoch + seconds * 1000
}

/** ms UTC of six bytes: year of the century, month, day, hour, minute, second. @throws DecodeError `malformed`. */
export function bytesYmd(r: ByteReader): number {
  const [year, month, day] = [r.u8(), r.u8(), r.u8()]
  return utc(year, month, day, r.u8(), r.u8(), r.u8())
}

/** The same of six bytes in packed decimals. @throws DecodeError `malformed`. */
export function bcdYmd(r: ByteReader): number {
  const [year, month, day] = [r.bcdByte(), r.bcdByte(), r.bcdByte()]
  return utc(year, month, day, r.bcdByte(), r.bcdByte(), r.bcdByte())
}

/** ms UTC of six bytes: day, month, year of the century, hour, minute, second. @throws DecodeError `malformed`. */
export function bytesDmy(r: ByteReader): number {
  const [day, month, year] = [r.u8(), r.u8(), r.u8()]
  return utc(year, month, day, r.u8(), r.u8(), r.u8())
}

/** Whether six bytes are packed decimals of a time of the calendar from 2010 on, YYMMDDhhmmss: for places that are looked for. */
export function isBcdYmd(bytes: Buffer, at: number): boolean {
  return CALENDAR.every(
    ([least, most], i) => bytes[at + i] >= least && bytes[at + i] <= most && (bytes[at + i] & 15) <= 9,
  )
}

/** Whether six bytes are a time of the calendar from 2010 on, day, month, year, hour, minute, second: for places that are looked for. */
export function isBytesDmy(bytes: Buffer, at: number): boolean {
  for (let i = 0; i < DAY_FIRST.length; i++) {
    const [least, most] = DAY_FIRST[i]
    if (!(bytes[at + i] >= least && bytes[at + i] <= most)) return false
  }
  return true
}

const DAY_FIRST = [
  [1, 31],
  [1, 12],
  [10, 99],
  [0, 23],
  [0, 59],
  [0, 59],
] as const

const CALENDAR = [
  [0x10, 0x99],
  [0x01, 0x12],
  [0x01, 0x31],
  [0x00, 0x23],
  [0x00, 0x59],
  [0x00, 0x59],
] as const

/**
 * The time with a time of day (ms) that is nearest to another time: for frames with a time of day in UTC and a date in local
 * time, or with no date (then `near` is `session.now`).
 */
export function timeOfDayNear(ofDay: number, near: number): number {
  return ofDay + Math.round((near - ofDay) / DAY) * DAY
}

/**
 * The time of a date without a year: the last one up to a day after another time, because nothing is reported before it
 * happens, but for clocks and zones that are ahead. @throws DecodeError `malformed`.
 */
export function withoutYearNear([month, day, hour, minute, second]: DateWithoutYear, near: number): number {
  const latest = near + DAY
  const year = new Date(latest).getUTCFullYear()
  // 29 February is malformed in most years.
  const years = month === 2 && day === 29 ? [leap(year), leap(year) - 4] : [year, year - 1]
  const times = years.map((each) => utc(each, month, day, hour, minute, second))
  return times.find((time) => time <= latest) ?? times[1]
}

/** The last leap year up to a year, without regard to those that centuries leave out. */
const leap = (year: number): number => year - (year % 4)

type DateWithoutYear = readonly [month: number, day: number, hour: number, minute: number, second: number]

const DAY = 86_400_000
