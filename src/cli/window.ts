import { localDay, localFromUtc } from '../config/times.ts'
import type { RouteRow } from '../roster/routes.ts'
import { momentOption } from './moment.ts'

/** Lines of a company that begin in it are replaced; unix seconds, `until` exclusive. */
export interface Window {
  readonly from: number
  readonly until: number
}

/** Said by options, in a time zone. */
export interface WindowOptions {
  readonly from?: string
  readonly until?: string
}

/**
 * The windows that a roster is for, in order of time: one as options say, of which a missing end is that of the roster's days;
 * else a window for each run of adjacent local days on which lines begin. None where neither says anything. @throws UserError
 */
export function windowsOf(rows: readonly RouteRow[], { from, until }: WindowOptions, zone: string): Window[] {
  const told = {
    from: from === undefined ? undefined : momentOption('--from', from, zone),
    until: until === undefined ? undefined : momentOption('--until', until, zone),
  }
  if (told.from !== undefined && told.until !== undefined) return [{ from: told.from, until: told.until }]
  const runs = runsOf(rows, zone)
  const [first, last] = [runs[0], runs.at(-1)]
  if (!first || !last || (told.from === undefined && told.until === undefined)) return runs
  return [{ from: told.from ?? first.from, until: told.until ?? last.until }]
}

/** `2026-11-20 00:00 to 2026-11-21 00:00` */
export function windowText({ from, until }: Window, zone: string): string {
  const text = (seconds: number) =>
    new Date(localFromUtc(seconds * 1000, zone)).toISOString().slice(0, 16).replace('T', ' ')
  return `${text(from)} to ${text(until)}`
}

function runsOf(rows: readonly RouteRow[], zone: string): Window[] {
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
