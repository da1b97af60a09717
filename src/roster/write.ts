import { type Redis, type RosterWrite, writeRoster } from '../lanes/index.ts'
import { type Device, sameId } from './directory.ts'
import type { FileWrites, RouteEdit } from './edits.ts'
import type { Obsolete } from './puts.ts'

/**
 * Puts a device, or, null, deletes it. @returns the time of the write; null where there was another since `asOf`: nothing is
 * written
 */
export function writeDevice(redis: Redis, id: string, device: Device | null, asOf: number): Promise<number | null> {
  const text = JSON.stringify(device && { ...device, source: undefined })
  return writeRoster(redis, 'devices', { set: [[sameId(id), text]], asOf })
}

/**
 * Puts lines in place of others, and takes away what is obsolete then. @returns the time of the write; null where there was
 * another since the one that `obsolete` is of: nothing is written
 */
export function writeRoutes(
  redis: Redis,
  edit: Omit<RouteEdit, 'at'>,
  { asOf, puts }: Obsolete,
): Promise<number | null> {
  const left = puts.flatMap(({ after }) => (after ? [[putField(after), JSON.stringify(after)] as const] : []))
  const set = [[putField({ ...edit, at: '' }), JSON.stringify(edit)] as const, ...left]
  return writeRoster(redis, 'routes', { set, drop: puts.map(({ before }) => putField(before)), asOf })
}

/** Takes away deletions of devices, unless there was a write since: the next change sees to it then. */
export async function dropDeletions(redis: Redis, ids: readonly string[], asOf: number): Promise<void> {
  await writeRoster(redis, 'devices', { set: [], drop: ids, asOf })
}

/** Notes what was written to files, and forgets marks of what is long gone. */
export async function writeMarks(redis: Redis, { written, gone }: FileWrites, drop: readonly string[]): Promise<void> {
  const set = [...written.map((key) => [key, ''] as const), ...gone.map((key) => [key, 'gone'] as const)]
  await writeSlices(redis, { set, drop })
}

/** Writes any number of marks of files. @returns whether that was all: not where there was another write since `asOf` */
export async function writeSlices(redis: Redis, { set, drop = [], asOf }: RosterWrite): Promise<boolean> {
  let last = asOf
  for (let from = 0; from < Math.max(set.length, drop.length); from += AT_ONCE) {
    const until = from + AT_ONCE
    const slice = { set: set.slice(from, until), drop: drop.slice(from, until), asOf: last }
    const at = await writeRoster(redis, 'files', slice)
    if (at === null) return false
    if (asOf !== undefined) last = at
  }
  return true
}

/** Where a put stands. One that has lost lines is another one, which is to be read. */
export function putField({ at, rows }: { readonly at: number | ''; readonly rows: readonly unknown[] }): string {
  return `${at} ${rows.length}`
}

/** Each write has everybody read the roster anew, and while it lasts Redis does nothing else. */
const AT_ONCE = 50_000
