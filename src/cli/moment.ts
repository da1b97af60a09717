import { timesIn } from '../config/times.ts'
import { UserError } from '../errors.ts'

/**
 * An instant in unix seconds, rounded down: unix seconds, RFC 3339, local such as `2026-11-20 06:00` in a time zone, or a
 * local day, which is its beginning. @throws UserError, naming the option
 */
export function momentOption(option: string, text: string, zone: string): number {
  const times = timesIn(zone)
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : (times.instant(text) ?? times.day(text)?.from)
  if (seconds !== undefined) return Math.floor(seconds)
  throw new UserError(
    `${option} ${text}: expected unix seconds, 2026-11-20T06:00:00Z, or local such as "2026-11-20 06:00".`,
  )
}
