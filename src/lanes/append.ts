import { metrics } from '../observe/metrics.ts'
import { type Group, type Part, packGroup } from './group.ts'
import { grouped } from './grouped.ts'
import { keys } from './keys.ts'
import { type Redis, scripts } from './redis.ts'
import type { Seen } from './seen.ts'

/** What one frame leaves behind: its records, and what the custody account counts with them. */
export interface Storable {
  readonly parts: readonly Part[]
  /** Fixes, the filtered ones included. */
  readonly received: number
  /** One reason for each fix that is not stored. */
  readonly filtered: readonly string[]
}

/** What became of it, once it is on disk. */
export interface Stored {
  /** Fixes that were stored before. */
  readonly duplicates: number
  /** Whether there are too many unknown devices to hold this one's. */
  readonly refused: boolean
}

export interface Appender {
  /** Resolves once every record is on disk in Redis. Rejects where that is not certain: then nothing may be acknowledged. */
  append(item: Storable): Promise<Stored>
  /** Counts fixes of which none needs storing; the numbers travel with the next group, or within a second. */
  count(filtered: readonly string[]): void
  /** Resolves when what was counted is in Redis, or cannot be. */
  close(): Promise<void>
}

export interface AppenderOptions {
  readonly maxWaitMs: number
  /** null: repeats are stored like anything else. */
  readonly seen: Seen | null
  /** Bounds of what is held. */
  readonly hold: HoldBounds
}

export interface HoldBounds {
  readonly maxFixesPerDevice: number
  readonly maxUnknownDevices: number
}

/** The gateway's end of the lanes: everything that arrived while the previous append was away leaves in one script call. */
export function createAppender(redis: Redis, options: AppenderOptions): Appender {
  const run = scripts(redis)
  let counted = new Map<string, number>()

  async function store(items: Storable[]): Promise<Stored[]> {
    const counters = counted
    counted = new Map()
    try {
      for (const { received, filtered } of items) tally(counters, received, filtered)
      const parts = items.flatMap((item) => item.parts)
      const group = packGroup(parts, options.seen, Date.now())
      tallyOwnDuplicates(counters, group.duplicates)
      metrics.appends.inc({})
      const args = [group.bytes, ...storeArguments(options), ...[...counters].flat()]
      const [leftOut, latest] = (await run('append', STORE_KEYS, args)) as [number[], number[]]
      learn(options.seen, parts, group, latest)
      return outcomes(items, group, leftOut)
    } catch (error) {
      for (const { parts } of items) for (const { device } of parts) options.seen?.unsure(device)
      for (const { received, filtered } of items) tally(counters, -received, filtered, -1)
      for (const [name, amount] of counters) if (name !== OWN_DUPLICATES) add(counted, name, amount)
      throw error
    }
  }

  const append = grouped(store, { inFlight: 2, maxWeight: GROUP_BYTES, weigh })
  const flush = async () => {
    if (counted.size > 0) await store([]).catch(() => {})
  }
  const timer = setInterval(() => void flush(), 1000).unref()
  return {
    append,
    count: (filtered) => tally(counted, filtered.length, filtered),
    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}

/** The keys that `store.lua` touches. */
export const STORE_KEYS = [
  keys.schedule,
  keys.custody,
  keys.lanePrefix,
  keys.heldPrefix,
  keys.seenPrefix,
  keys.latestSpans,
]

/** What `store.lua` is told behind the group. */
export function storeArguments({ maxWaitMs, seen, hold }: AppenderOptions): number[] {
  return [maxWaitMs, seen?.windowMs ?? 0, hold.maxFixesPerDevice, hold.maxUnknownDevices]
}

const GROUP_BYTES = 1 << 19
const OWN_DUPLICATES = 'filtered:duplicate'

function weigh({ parts }: Storable): number {
  let bytes = 0
  for (const { records } of parts) bytes += records.length
  return bytes
}

function outcomes(items: readonly Storable[], group: Group, leftOut: readonly number[]): Stored[] {
  const outcome = items.map(() => ({ duplicates: 0, refused: false }))
  const itemOfPart = items.flatMap(({ parts }, index) => parts.map(() => index))
  group.duplicates.forEach((count, part) => (outcome[itemOfPart[part]].duplicates += count))
  for (let i = 0; i < leftOut.length; i += 2) {
    const of = outcome[itemOfPart[group.partOfRun[leftOut[i]]]]
    if (leftOut[i + 1] < 0) of.refused = true
    else of.duplicates += leftOut[i + 1]
  }
  return outcome
}

/** Tells what was asked for of devices. */
function learn(seen: Seen | null, parts: readonly Part[], group: Group, latest: readonly number[]): void {
  for (let i = 0; i < latest.length; i += 2) {
    const { device } = parts[group.partOfRun[latest[i]]]
    seen?.learn(device, latest[i + 1] < 0 ? undefined : latest[i + 1])
  }
}

/** Those that repeat others of the same frame never get as far as the script, which counts all the others. */
function tallyOwnDuplicates(counters: Map<string, number>, duplicates: readonly number[]): void {
  for (const count of duplicates) if (count > 0) add(counters, OWN_DUPLICATES, count)
}

function tally(counters: Map<string, number>, received: number, filtered: readonly string[], sign = 1): void {
  add(counters, 'received', received)
  for (const reason of filtered) add(counters, `filtered:${reason}`, sign)
}

function add(counters: Map<string, number>, name: string, amount: number): void {
  const sum = (counters.get(name) ?? 0) + amount
  if (sum === 0) counters.delete(name)
  else counters.set(name, sum)
}
