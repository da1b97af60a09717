import { yieldToEventLoop } from '../async.ts'
import { companyOfLog, type CopiedFix, fixesIn, packCopied } from './copied.ts'
import { copiesIn, MOST_PARKED, runOnCopies, surveyCopies } from './copies.ts'
import type { Script, Shard, Store } from './shards.ts'
import type { RefusalReason } from './survey.ts'

/** A fix that the receiver of a copy refused. */
export interface ParkedCopy extends RefusalReason {
  readonly at: number
  readonly log: string
  readonly fix: CopiedFix
}

/** Takes a parked fix out of its list. Returns how many were taken out: 1, or 0 if it is gone. */
export async function settleParked(
  shard: Shard,
  copy: string,
  entry: Buffer,
  fate: 'delivered' | 'discarded',
): Promise<number> {
  return (await runOnCopies(shard, 'settle_parked', [copy, entry, fate], copy)) as number
}

/** Has what is parked of a copy tried again, in all shards. Returns how many fixes. */
export function retryCopy(redis: Store, copy: string): Promise<number> {
  return inAllShards(redis, 'retry_copy', copy)
}

/** Deletes what is parked of a copy, in all shards. Returns how many fixes. */
export function discardParkedCopies(redis: Store, copy: string): Promise<number> {
  return inAllShards(redis, 'discard_parked', copy)
}

async function inAllShards(redis: Store, script: Script, copy: string): Promise<number> {
  const counts = (await redis.inShards((shard) => runOnCopies(shard, script, [copy], copy))) as number[]
  return counts.reduce((sum, count) => sum + count, 0)
}

/** The first parked fixes of a copy, as they are stored. */
export function parkedCopies(shard: Shard, copy: string, most: number): Promise<Buffer[]> {
  return shard.lrangeBuffer(shard.keyNames.copyParked(copy), 0, most - 1)
}

/** Whether a fix is still parked as it was read. */
export async function isParked(shard: Shard, copy: string, entry: Buffer): Promise<boolean> {
  return (await shard.lpos(shard.keyNames.copyParked(copy), entry)) !== null
}

/** Deletes what is parked of devices, in the lists of all copies. `isReached`: the logs from which it came. Returns how many fixes. */
export async function forgetParkedCopies(
  shard: Shard,
  ids: ReadonlySet<string>,
  isReached: (log: string) => boolean,
): Promise<number> {
  const { logs, counts } = await surveyCopies(shard)
  let forgotten = 0
  for (const copy of copiesIn(counts, logs))
    for (const entry of await shard.lrangeBuffer(shard.keyNames.copyParked(copy), 0, -1)) {
      const { fix, log } = readParked(entry)
      if (ids.has(fix.device) && isReached(log)) forgotten += await settleParked(shard, copy, entry, 'discarded')
    }
  return forgotten
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

/** What is parked of a copy, in all shards. */
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

/** Notes that `tried` parked fixes of a copy were tried again. */
export async function endRetry(shard: Shard, copy: string, tried: number): Promise<void> {
  await runOnCopies(shard, 'end_retry', [copy, tried])
}

export function packParked({ at, status, message, log, fix }: ParkedCopy): Buffer {
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
