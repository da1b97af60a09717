import { hash } from 'node:crypto'
import { yieldToEventLoop } from '../async.ts'
import { companyOfLog, type CopiedFix, countCopied, fixesIn, packCopied, withoutDevices } from './copied.ts'
import type { RefusalReason } from './survey.ts'
import type { Script, Shard, Store } from './shards.ts'

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
  if (places.length > 0) await redis.inShards((shard) => run(shard, 'enter_copies', args))
}

export async function surveyCopies(shard: Shard, logs: readonly string[] = []): Promise<CopySurvey> {
  const [found, counts] = (await run(shard, 'survey_copies', logs)) as [
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
  const answer = (await run(shard, 'read_copied', [copy, log, from, most])) as SliceAnswer | null
  return answer ? sliceOf(answer) : undefined
}

/** Reads what a log has, from an entry on, `most` entries. */
async function readLog(shard: Shard, log: string, { from, most }: WantedSlice): Promise<LogSlice> {
  return sliceOf((await run(shard, 'read_log', [log, from, most])) as SliceAnswer)
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
  readonly parked?: readonly ParkedCopy[]
  /** The turn of the worker that sends the copy; '': no turn is needed. */
  readonly token: string
  /** How often fixes had been deleted from the log when they were read; undefined: it does not matter. */
  readonly forgotten?: number
}

/** A fix that the receiver of a copy refused. */
export interface ParkedCopy extends RefusalReason {
  readonly at: number
  readonly log: string
  readonly fix: CopiedFix
}

/** Identifies the content of an entry, because after a failover another entry may have the same number. */
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
  const args = [copy, log, token, forgotten, MOST_PARKED, ...counted, ...parked.map(packParked)]
  const answer = (await run(shard, 'advance_copy', args, copy)) as number | null
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
  return ((await run(shard, 'leave_copy', args)) as number | null) ?? undefined
}

/** Deletes the counts and the parked fixes of a copy that gets no log. Returns how many were parked. */
export async function endCopy(shard: Shard, copy: string): Promise<number> {
  return (await run(shard, 'end_copy', [copy], copy)) as number
}

/** Deletes a log that no copy gets. */
export async function trimLog(shard: Shard, log: string): Promise<void> {
  await run(shard, 'trim_log', [log])
}

/** Takes, or renews, the turn to send a copy, for `ms`. */
export async function holdCopy(shard: Shard, copy: string, { token, ms }: { token: string; ms: number }) {
  return (await run(shard, 'hold_copy', [token, ms], copy)) === 1
}

export async function releaseCopy(shard: Shard, copy: string, token: string): Promise<void> {
  await run(shard, 'release_copy', [token], copy)
}

/**
 * Deletes the waiting and the parked fixes of devices for copies. `isReached`: the logs to delete from. Resolves to the
 * number of waiting fixes, in all logs, and of parked ones.
 */
export async function forgetCopied(
  shard: Shard,
  ids: ReadonlySet<string>,
  isReached: (log: string) => boolean,
): Promise<number> {
  const { logs, counts } = await surveyCopies(shard)
  const isOf = (device: string) => ids.has(device)
  let forgotten = 0
  for (const { log, entries } of logs.filter((each) => isReached(each.log)))
    forgotten += await forgetInLog(shard, { log, entries }, isOf)
  for (const copy of copiesIn(counts, logs))
    for (const entry of await shard.lrangeBuffer(shard.keyNames.copyParked(copy), 0, -1)) {
      const { fix, log } = readParked(entry)
      if (isOf(fix.device) && isReached(log)) forgotten += await settleParked(shard, copy, entry, 'discarded')
    }
  return forgotten
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
      const isReplaced = (await run(shard, 'replace_copied', [log, number, entry, left])) === 1
      if (isReplaced) deleted += knownIn(entry) - knownIn(left)
      else {
        // It is trimmed, or somebody has deleted another device from it.
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

/** Takes a parked fix out of its list. Returns how many were taken out: 1, or 0 if it is gone. */
export async function settleParked(
  shard: Shard,
  copy: string,
  entry: Buffer,
  fate: 'delivered' | 'discarded',
): Promise<number> {
  return (await run(shard, 'settle_parked', [copy, entry, fate], copy)) as number
}

/** Makes the parked fixes of a copy due again, in all shards. Resolves to their number. */
export function retryCopy(redis: Store, copy: string): Promise<number> {
  return inAllShards(redis, 'retry_copy', copy)
}

/** Deletes the parked fixes of a copy, in all shards. */
export function discardParkedCopies(redis: Store, copy: string): Promise<number> {
  return inAllShards(redis, 'discard_parked', copy)
}

async function inAllShards(redis: Store, script: Script, copy: string): Promise<number> {
  const counts = (await redis.inShards((shard) => run(shard, script, [copy], copy))) as number[]
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Resolves to the first parked fixes of a copy, as stored. */
export function parkedCopies(shard: Shard, copy: string, most: number): Promise<Buffer[]> {
  return shard.lrangeBuffer(shard.keyNames.copyParked(copy), 0, most - 1)
}

/** Resolves to whether a fix is still parked, unchanged. */
export async function isParked(shard: Shard, copy: string, entry: Buffer): Promise<boolean> {
  return (await shard.lpos(shard.keyNames.copyParked(copy), entry)) !== null
}

/** Fixes of a device that the receiver of a copy refused with the same answer. */
export interface CopyRefusal extends RefusalReason {
  readonly company: string
  readonly device: string
  readonly fixes: number
  /** When the first and the last of them were refused, ms UTC. */
  readonly firstAt: number
  readonly lastAt: number
}

/** Resolves to the parked fixes of a copy, in all shards, by refusal. */
export async function copyRefusals(redis: Store, copy: string): Promise<CopyRefusal[]> {
  const entries = (await redis.inShards((shard) => parkedCopies(shard, copy, MOST_PARKED))).flat()
  const found = new Map<string, CopyRefusal>()
  for (const entry of entries) {
    await yieldToEventLoop()
    const { at, fix, log, message, status } = readParked(entry)
    const [company, device] = [companyOfLog(log), fix.device]
    const key = JSON.stringify([company, device, status, message])
    const { firstAt = at, fixes = 0, lastAt = at } = found.get(key) ?? {}
    const span = { firstAt: Math.min(firstAt, at), lastAt: Math.max(lastAt, at) }
    found.set(key, { company, device, status, message, fixes: fixes + 1, ...span })
  }
  return [...found.values()]
}

/** Notes that the parked fixes of a copy were tried again. */
export async function endRetry(shard: Shard, copy: string): Promise<void> {
  await shard.hdel(shard.keyNames.copyCounts, `${copy} retry`)
}

function packParked({ at, status, message, log, fix }: ParkedCopy): Buffer {
  const head = Buffer.from(JSON.stringify({ at, status, message, log }))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, packCopied(fix)])
}

export function readParked(entry: Buffer): ParkedCopy {
  const end = 4 + entry.readUInt32BE()
  const head = JSON.parse(entry.toString('utf8', 4, end)) as Omit<ParkedCopy, 'fix'>
  const [fix] = fixesIn(entry.subarray(end))
  if (!fix) throw new Error('a parked fix of a copy cannot be read')
  return { ...head, fix }
}

/** Where the fixes of a copy are, in all shards. */
export interface CopyAccount {
  readonly copy: string
  readonly waiting: number
  readonly delivered: number
  readonly parked: number
  readonly discarded: number
  /** Fixes that its cursors have passed, minus those with a known outcome: 0. */
  readonly difference: number
  /** Why the last fix was parked. */
  readonly refusal?: RefusalReason & { readonly at: number }
}

/** Resolves to the account of each of these copies. */
export async function copyAccounts(redis: Store, copies: readonly string[]): Promise<CopyAccount[]> {
  if (copies.length === 0) return []
  const ofShards = await redis.inShards(async (shard) => {
    const { logs, counts } = await surveyCopies(shard)
    return Promise.all(copies.map((copy) => accountIn(shard, copy, { logs, counts })))
  })
  return copies.map((copy, index) => ofShards.map((each) => each[index]).reduce(addAccounts, emptyAccount(copy)))
}

async function accountIn(shard: Shard, copy: string, { logs, counts }: CopySurvey): Promise<CopyAccount> {
  const { copyParked } = shard.keyNames
  const [parked, last] = await Promise.all([shard.llen(copyParked(copy)), shard.lindexBuffer(copyParked(copy), -1)])
  const own = logs.flatMap(({ fixes, cursors }) => {
    const cursor = cursors.get(copy)
    return cursor ? [{ waiting: fixes - cursor.fix, taken: cursor.fix - cursor.start }] : []
  })
  const count = (name: string) => counts.get(`${copy} ${name}`) ?? 0
  const [delivered, discarded] = [count('delivered'), count('discarded')]
  const taken = own.reduce((sum, each) => sum + each.taken, count('left'))
  const { at = 0, status = 0, message = '' } = last ? readParked(last) : {}
  return {
    copy,
    waiting: own.reduce((sum, each) => sum + each.waiting, 0),
    delivered,
    parked,
    discarded,
    difference: taken - delivered - parked - discarded,
    refusal: last ? { at, status, message } : undefined,
  }
}

function emptyAccount(copy: string): CopyAccount {
  return { copy, waiting: 0, delivered: 0, parked: 0, discarded: 0, difference: 0 }
}

function addAccounts(sum: CopyAccount, other: CopyAccount): CopyAccount {
  return {
    copy: sum.copy,
    waiting: sum.waiting + other.waiting,
    delivered: sum.delivered + other.delivered,
    parked: sum.parked + other.parked,
    discarded: sum.discarded + other.discarded,
    difference: sum.difference + other.difference,
    refusal: (sum.refusal?.at ?? 0) > (other.refusal?.at ?? 0) ? sum.refusal : (other.refusal ?? sum.refusal),
  }
}

function run(shard: Shard, script: Script, args: readonly (string | number | Buffer)[], copy = ''): Promise<unknown> {
  const keys = shard.keyNames
  const touched = [keys.copiedPrefix, keys.copiedEntries, keys.copiedFixes, keys.cursorsPrefix, keys.copyCounts]
  const own = [keys.copyParked(copy), keys.copying(copy), keys.copiedForgotten]
  return shard.run(script, [...touched, ...own], args)
}

/** How often a process notes that a copy is configured. */
const SEEN_AGAIN_MS = 3000
const SILENT_MS = 10_000
/** Fixes that stay parked of a copy in a shard; beyond that the oldest are discarded. */
const MOST_PARKED = 10_000
/** Entries at once. */
const SLICE = 32
