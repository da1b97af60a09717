import { hash } from 'node:crypto'
import { countCopied, fixesIn, withoutDevices } from './copied.ts'
import type { Script, Shard, Store } from './shards.ts'
import { sumOver } from './survey.ts'

/** A log as Redis has it. Entries and fixes are numbered from 0 on, for ever. */
export interface CopyLog {
  readonly log: string
  /** The numbers that come next. */
  readonly entries: number
  readonly fixes: number
  /** How many entries are stored. */
  readonly stored: number
  /** By copy. */
  readonly cursors: ReadonlyMap<string, CopyCursor>
}

interface CopyCursor {
  /** The number of the entry that the copy gets next, and of the first fix in it. */
  readonly entry: number
  readonly fix: number
  /** The number of the first fix that it ever got. */
  readonly start: number
}

/** The logs of a shard, and what became of the fixes of each copy. */
export interface CopySurvey {
  readonly logs: readonly CopyLog[]
  /** `<copy> delivered`, `<copy> discarded`, `<copy> left`. */
  readonly counts: ReadonlyMap<string, number>
}

/** One copy in one log. */
export interface CopyPlace {
  readonly copy: string
  readonly log: string
}

/** Creates missing logs of copies, and notes that the copies are configured. */
export async function enterCopies(redis: Store, places: readonly CopyPlace[]): Promise<void> {
  const args = [SEEN_AGAIN_MS, ...places.flatMap(({ copy, log }) => [copy, log])]
  if (places.length > 0) await redis.inShards((shard) => runOnCopies(shard, 'enter_copies', args))
}

export async function surveyCopies(shard: Shard, logs: readonly string[] = []): Promise<CopySurvey> {
  const [found, counts] = (await runOnCopies(shard, 'survey_copies', logs)) as [
    [Buffer, Buffer, Buffer, number, Buffer[]][],
    Buffer[],
  ]
  return {
    logs: found.map(([log, entries, fixes, stored, cursors]) => ({
      log: log.toString(),
      entries: Number(entries),
      fixes: Number(fixes),
      stored,
      cursors: new Map(pairs(cursors).map(([copy, value]) => [copy, readCursor(value)])),
    })),
    counts: new Map(pairs(counts).map(([name, value]) => [name, Number(value)])),
  }
}

function readCursor(value: string): CopyCursor {
  const [entry, fix, start] = value.split(' ').map(Number)
  return { entry, fix, start }
}

function pairs(flat: readonly Buffer[]): [string, string][] {
  const found: [string, string][] = []
  for (let i = 0; i < flat.length; i += 2) found.push([flat[i].toString(), flat[i + 1].toString()])
  return found
}

/** Entries of a log. */
interface LogSlice {
  /** The number of the first. */
  readonly first: number
  readonly entries: readonly Buffer[]
  /** How often fixes were deleted from the log. */
  readonly forgotten: number
}

interface WantedSlice {
  readonly from: number
  readonly most: number
}

/** Reads what a copy gets next, from an entry on, `most` entries; undefined: it does not get the log. */
export async function readCopied(
  shard: Shard,
  { copy, log }: CopyPlace,
  { from, most }: WantedSlice,
): Promise<LogSlice | undefined> {
  const answer = (await runOnCopies(shard, 'read_copied', [copy, log, from, most])) as SliceAnswer | null
  return answer ? sliceOf(answer) : undefined
}

/** Reads what a log has, from an entry on, `most` entries. */
async function readLog(shard: Shard, log: string, { from, most }: WantedSlice): Promise<LogSlice> {
  return sliceOf((await runOnCopies(shard, 'read_log', [log, from, most])) as SliceAnswer)
}

type SliceAnswer = [first: Buffer, entries: Buffer[], forgotten: Buffer]

function sliceOf([first, entries, forgotten]: SliceAnswer): LogSlice {
  return { first: Number(first), entries, forgotten: Number(forgotten) }
}

/** How often fixes were deleted from a log. */
export async function forgottenIn(shard: Shard, log: string): Promise<number> {
  return Number(await shard.hget(shard.keyNames.copiedForgotten, log))
}

/** What happens to fixes that a cursor passes. */
export interface CopyProgress {
  /** The entry at which the cursor is, and the one to which it moves; `last`: the `entryMark` of the one before that. */
  readonly from: number
  readonly to: number
  readonly last: string
  readonly passed: number
  readonly delivered: number
  readonly discarded: number
  /** As `packParked` packs them. */
  readonly parked?: readonly Buffer[]
  /** Of the worker that sends the copy; '': nobody's turn is needed. */
  readonly token: string
  /** How often fixes had been deleted from the log when they were read; undefined: it does not matter. */
  readonly forgotten?: number
}

/** By what an entry is recognised: a primary that takes over may give its number to another one. */
export function entryMark(entry: Buffer): string {
  return hash('sha1', entry)
}

/**
 * Moves the cursor of a copy, unless it is elsewhere, another worker has the turn, fixes were deleted from the log, or the
 * log has other entries. Resolves to the position of the cursor; undefined: the copy does not get the log.
 */
export async function advanceCopy(
  shard: Shard,
  { copy, log }: CopyPlace,
  progress: CopyProgress,
): Promise<number | undefined> {
  const { token, forgotten = '', from, to, last, passed, delivered, discarded, parked = [] } = progress
  const counted = [from, to, last, passed, delivered, discarded]
  const args = [copy, log, token, forgotten, MOST_PARKED, ...counted, ...parked]
  const answer = (await runOnCopies(shard, 'advance_copy', args, copy)) as number | null
  return answer === null ? undefined : answer === 1 ? to : -1 - answer
}

/** Discards the waiting fixes of a copy before an entry. Resolves to their number. */
export async function discardCopied(shard: Shard, place: CopyPlace, until: number): Promise<number> {
  let discarded = 0
  for (;;) {
    const read = await readCopied(shard, place, { from: 0, most: SLICE })
    const entries = read?.entries.slice(0, until - read.first) ?? []
    if (!read || read.first >= until || entries.length === 0) return discarded
    const fixes = entries.reduce((sum, entry) => sum + countCopied(entry), 0)
    const to = read.first + entries.length
    const last = entryMark(entries[entries.length - 1])
    const counts = { last, passed: fixes, delivered: 0, discarded: fixes }
    if ((await advanceCopy(shard, place, { token: '', from: read.first, to, ...counts })) === to) discarded += fixes
  }
}

/**
 * Ends that a copy gets a log, unless a process had it configured recently. `isReplaced`: the copy now gets the other log of
 * the company, and earlier fixes of this one are sent first. Resolves to the number of discarded fixes; undefined: none, the
 * log stays.
 */
export async function leaveCopy(
  shard: Shard,
  { copy, log }: CopyPlace,
  isReplaced: boolean,
): Promise<number | undefined> {
  const args = [copy, log, SILENT_MS, isReplaced ? 1 : 0]
  return ((await runOnCopies(shard, 'leave_copy', args)) as number | null) ?? undefined
}

/** Deletes the counts and the parked fixes of a copy that gets no log. Returns how many were parked. */
export async function endCopy(shard: Shard, copy: string): Promise<number> {
  return (await runOnCopies(shard, 'end_copy', [copy], copy)) as number
}

/** Deletes a log that no copy gets. */
export async function trimLog(shard: Shard, log: string): Promise<void> {
  await runOnCopies(shard, 'trim_log', [log])
}

/** Takes, or renews, the turn to send a copy, for `ms`. */
export async function holdCopy(shard: Shard, copy: string, { token, ms }: { token: string; ms: number }) {
  return (await runOnCopies(shard, 'hold_copy', [token, ms], copy)) === 1
}

export async function releaseCopy(shard: Shard, copy: string, token: string): Promise<void> {
  await runOnCopies(shard, 'release_copy', [token], copy)
}

/** Deletes what waits of devices for copies. `isReached`: the logs in which it is deleted. Returns how many fixes waited, in all logs. */
export async function forgetCopied(
  shard: Shard,
  ids: ReadonlySet<string>,
  isReached: (log: string) => boolean,
): Promise<number> {
  const { logs } = await surveyCopies(shard)
  return sumOver(
    logs.filter(({ log }) => isReached(log)),
    (log) => forgetInLog(shard, log, (device) => ids.has(device)),
  )
}

/**
 * Deletes fixes from the entries of a log up to a number, whatever is written and trimmed in between. Resolves to their
 * number.
 */
async function forgetInLog(
  shard: Shard,
  { log, entries }: Pick<CopyLog, 'log' | 'entries'>,
  isOf: (device: string) => boolean,
): Promise<number> {
  let deleted = 0
  for (let from = 0; from < entries; ) {
    const slice = await readLog(shard, log, { from, most: SLICE })
    from = slice.first + slice.entries.length
    if (slice.entries.length === 0) break
    for (const [index, entry] of slice.entries.entries()) {
      const left = withoutDevices(entry, isOf)
      if (!left) continue
      const number = slice.first + index
      const isReplaced = (await runOnCopies(shard, 'replace_copied', [log, number, entry, left])) === 1
      if (isReplaced) deleted += knownIn(entry) - knownIn(left)
      else {
        // The entry is trimmed, or another process has deleted another device from it.
        from = number
        break
      }
    }
  }
  return deleted
}

function knownIn(entry: Buffer): number {
  return fixesIn(entry).filter((fix) => fix !== undefined).length
}

/** The copies that a shard knows. */
export function copiesIn(counts: CopySurvey['counts'], logs: readonly CopyLog[]): Set<string> {
  const counted = Array.from(counts.keys(), (name) => name.slice(0, name.lastIndexOf(' ')))
  return new Set([...counted, ...logs.flatMap(({ cursors }) => [...cursors.keys()])])
}

/** Runs a script of lua/copies.lua; `copy`: the one whose parked fixes, or turn, it is about. */
export function runOnCopies(
  shard: Shard,
  script: Script,
  args: readonly (string | number | Buffer)[],
  copy = '',
): Promise<unknown> {
  const keys = shard.keyNames
  const touched = [keys.copiedPrefix, keys.copiedEntries, keys.copiedFixes, keys.cursorsPrefix, keys.copyCounts]
  const own = [keys.copyParked(copy), keys.copying(copy), keys.copiedForgotten, keys.clock]
  return shard.run(script, [...touched, ...own], args)
}

/** How often a process notes that a copy is configured. */
const SEEN_AGAIN_MS = 3000
const SILENT_MS = 10_000
/** Fixes that stay parked of a copy in a shard; beyond that the oldest are discarded. */
export const MOST_PARKED = 10_000
/** Entries at once. */
const SLICE = 32
