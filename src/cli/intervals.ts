import type { RouteRow } from '../config/routes.ts'
import { type Interval, localDay, localFromUtc, timesIn } from '../domain/times.ts'
import { UserError } from '../errors.ts'

/**
 * Returns the intervals in which a roster file replaces lines, by their beginning, in order of time. The options give one
 * interval; its missing end is that of the file's days. Without options, each run of adjacent local days on which lines begin
 * is an interval. Empty if neither the options nor the file give a day. @throws UserError
 */
export function intervalsOf(
  rows: readonly RouteRow[],
  options: { readonly from?: string; readonly until?: string },
  zone: string,
): Interval[] {
  const from = options.from === undefined ? undefined : timeOption('--from', options.from, zone)
  const until = options.until === undefined ? undefined : timeOption('--until', options.until, zone)
  if (from !== undefined && until !== undefined) return [{ from, until }]
  const runs = dayRuns(rows, zone)
  const [first, last] = [runs[0], runs.at(-1)]
  if (!first || !last || (from === undefined && until === undefined)) return runs
  return [{ from: from ?? first.from, until: until ?? last.until }]
}

/**
 * Returns the instant of an option, in unix seconds, rounded down. It may be unix seconds, RFC 3339, local time such as
 * `2026-11-20 06:00` in a time zone, a local day, which means its beginning, or `now`. @throws UserError, naming the option
 */
export function timeOption(option: string, text: string, zone: string): number {
  const times = timesIn(zone)
  if (text === 'now') return Math.floor(Date.now() / 1000)
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : (times.instant(text) ?? times.day(text)?.from)
  if (seconds !== undefined) return Math.floor(seconds)
  throw new UserError(
    `${option} ${text}: expected unix seconds, 2026-11-20T06:00:00Z, or local time such as "2026-11-20 06:00".`,
  )
}

/** `2026-11-20 00:00 to 2026-11-21 00:00` */
export function intervalText({ from, until }: Interval, zone: string): string {
  const text = (seconds: number) =>
    new Date(localFromUtc(seconds * 1000, zone)).toISOString().slice(0, 16).replace('T', ' ')
  return `${text(from)} to ${text(until)}`
}

function dayRuns(rows: readonly RouteRow[], zone: string): Interval[] {
  const days = new Map<number, number>()
  for (const row of rows) {
    const { from, until } = localDay(row.from * 1000, zone)
    days.set(from / 1000, until / 1000)
  }
  const runs: { from: number; until: number }[] = []
  for (const [from, until] of [...days].toSorted(([a], [b]) => a - b)) {
    const run = runs.at(-1)
    if (run?.until === from) run.until = until
    else runs.push({ from, until })
  }
  return runs
}
