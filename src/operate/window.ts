import { ConfigError, problemsIn, type Source } from '../config/problem.ts'
import { readRoutes } from '../config/routes.ts'
import { localDay, localFromUtc } from '../config/zone.ts'
import { UserError } from '../run/errors.ts'
import { momentOption } from './moment.ts'

/** Lines of a company that begin in it are replaced; unix seconds, `until` exclusive. */
export interface Window {
  readonly from: number
  readonly until: number
}

/**
 * The window that a roster is for: as options say, else the local days on which its lines begin.
 * @throws UserError where it has no lines, ConfigError where none can be read
 */
export async function windowOf(
  source: Source,
  { from, until }: { readonly from?: string; readonly until?: string },
  zone: string,
): Promise<Window> {
  const told = {
    from: from === undefined ? undefined : momentOption('--from', from, zone),
    until: until === undefined ? undefined : momentOption('--until', until, zone),
  }
  if (told.from !== undefined && told.until !== undefined) return { from: told.from, until: told.until }
  const days = await daysOf(source, zone)
  return { from: told.from ?? days.from, until: told.until ?? days.until }
}

/** `2026-11-20 00:00 to 2026-11-21 00:00 (Europe/Berlin)` */
export function windowText({ from, until }: Window, zone: string): string {
  const text = (seconds: number) =>
    new Date(localFromUtc(seconds * 1000, zone)).toISOString().slice(0, 16).replace('T', ' ')
  return `${text(from)} to ${text(until)} (${zone})`
}

async function daysOf(source: Source, zone: string): Promise<Window> {
  const { rows, mistakes } = await readRoutes(source, zone)
  if (rows.length === 0 && mistakes.length > 0) throw new ConfigError(problemsIn(source, mistakes))
  if (rows.length === 0) throw new UserError(`${source.file}: no lines; say with --from and --until what to replace.`)
  let [first, last] = [Infinity, -Infinity]
  for (const row of rows) [first, last] = [Math.min(first, row.from), Math.max(last, row.from)]
  return { from: localDay(first * 1000, zone).from / 1000, until: localDay(last * 1000, zone).until / 1000 }
}
