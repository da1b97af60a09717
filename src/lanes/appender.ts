import { everySecond } from '../async.ts'
import { metrics } from '../observe/metrics.ts'
import { grouped } from './grouped.ts'
import { markInAllShards } from './held.ts'
import { mayBeElsewhere, dropDuplicates } from './other-shards.ts'
import { countRecords, type Part, type Storable } from './record.ts'
import type { Redis } from './redis.ts'
import { shardOfPart, shardsOf } from './shards.ts'
import { type AppenderOptions, add, storeRecords } from './store.ts'

/** The outcome of a Storable that is on disk. */
export interface Stored {
  /** How many fixes were duplicates: they were stored before. */
  duplicates: number
  /** Whether fixes are not held: there are too many unknown devices, or older ones of this device are being released. */
  refused: boolean
  /**
   * Set if the held fixes of the device are being released: by which version of the roster. The other shards have to
   * know it.
   */
  releasedBy?: number
}

/** What stores the fixes of a gateway. */
export type FixAppender = Pick<Appender, 'append' | 'count' | 'close'>

/** Stores the fixes of a gateway in all shards. `options`: as for one shard. */
export function openAppender(redis: Redis, options: AppenderOptions): FixAppender {
  return shardsOf(redis).length === 1 ? new Appender(redis, options) : new ShardedAppender(redis, options)
}

/**
 * Stores the fixes of a gateway in a shard. Fixes that arrive while a call is in flight are sent together in the next
 * call.
 */
export class Appender {
  readonly #redis: Redis
  readonly #options: AppenderOptions
  readonly #group = grouped((items: Storable[]) => this.#store(items), GROUP)
  readonly #tidying: ReturnType<typeof everySecond>
  /** Counts that wait for the next call. */
  #counted = new Map<string, number>()

  constructor(redis: Redis, options: AppenderOptions) {
    this.#redis = redis
    this.#options = options
    this.#tidying = everySecond(() => this.#tidy())
  }

  /**
   * Resolves once every record is on disk in Redis. Rejects if that is not certain: then nothing may be acknowledged.
   */
  append(item: Storable): Promise<Stored> {
    const duplicates = this.#options.duplicates?.in(this.#redis)
    let weight = 0
    for (const { device, records } of item.parts)
      weight += records.length * BYTE_WEIGHT + (duplicates?.weightOf(device, records) ?? 0)
    return this.#group(item, weight)
  }

  /** Counts fixes none of which has to be stored. Redis gets the counts with the next call, or within a second. */
  count(filtered: readonly string[]): void {
    add(this.#counted, 'received', filtered.length)
    for (const reason of filtered) add(this.#counted, `filtered:${reason}`, 1)
  }

  /** Resolves when Redis has the counts, or cannot be told. */
  async close(): Promise<void> {
    await this.#tidying.stop()
    await this.#flush()
  }

  async #store(items: readonly Storable[]): Promise<Stored[]> {
    const waiting = this.#counted
    this.#counted = new Map()
    const counters = new Map(waiting)
    const [parts, outcomes, outcomeOfPart]: [Part[], Stored[], Stored[]] = [[], [], []]
    let received = 0
    for (const item of items) {
      const outcome = { duplicates: 0, refused: false }
      outcomes.push(outcome)
      for (const part of item.parts) outcomeOfPart[parts.push(part) - 1] = outcome
      received += item.received
      for (const reason of item.filtered) add(counters, `filtered:${reason}`, 1)
    }
    counters.set('received', (counters.get('received') ?? 0) + received)
    metrics.appends.inc({})
    try {
      const leftOut = (await storeRecords(this.#redis, this.#options, { parts, counters })) ?? []
      for (const { part, duplicates, releasedBy } of leftOut) {
        const outcome = outcomeOfPart[part]
        if (releasedBy !== undefined) outcome.releasedBy = releasedBy
        if (duplicates < 0) outcome.refused = true
        else outcome.duplicates += duplicates
      }
      return outcomes
    } catch (error) {
      for (const [name, amount] of waiting) add(this.#counted, name, amount)
      throw error
    }
  }

  async #tidy(): Promise<void> {
    await this.#flush()
    await this.#options.duplicates?.in(this.#redis).forget()
  }

  async #flush(): Promise<void> {
    if (this.#counted.size > 0) await this.#store([]).catch(() => {})
  }
}

/** An appender for each shard: each part of an item goes to that of its lane, or of its device where it is held. */
class ShardedAppender implements FixAppender {
  readonly #redis: Redis
  readonly #options: AppenderOptions
  readonly #appenders: readonly Appender[]
  /**
   * Asks the other shards for several items at once: where that fails, it fails for all, so that none is stored before an older one
   * that has to be tried again.
   */
  readonly #ask = grouped((items: Storable[]) => {
    const parts = items.map((item) => item.parts)
    return dropDuplicates(this.#redis, this.#options.duplicates, parts)
  })
  /** What the last item of a device asks for. Those that come meanwhile go behind it. */
  readonly #asking = new Map<string, Promise<unknown>>()

  constructor(redis: Redis, options: AppenderOptions) {
    this.#redis = redis
    this.#options = options
    this.#appenders = shardsOf(redis).map((shard) => new Appender(shard, options))
  }

  /**
   * Resolves once all shards have stored their parts. If one fails, the caller stores the item again, and the other
   * shards drop the repeats. The parts are of one device.
   */
  append(item: Storable): Promise<Stored> {
    const [{ device }] = item.parts
    const mustAsk = this.#asking.has(device) || mayBeElsewhere(this.#redis, this.#options.duplicates, item.parts)
    return mustAsk ? this.#appendNew(item, device) : this.#append(item)
  }

  /** Appends what no other shard has stored. Items that ask together are appended in the same turn of the event loop. */
  async #appendNew(item: Storable, device: string): Promise<Stored> {
    const asking = this.#ask(item)
    this.#asking.set(device, asking)
    try {
      const { duplicates, parts } = await asking
      const filtered = [...item.filtered, ...Array<string>(duplicates).fill('duplicate')]
      const stored = await this.#append({ ...item, parts, filtered })
      return { ...stored, duplicates: stored.duplicates + duplicates }
    } finally {
      if (this.#asking.get(device) === asking) this.#asking.delete(device)
    }
  }

  async #append(item: Storable): Promise<Stored> {
    if (item.parts.length === 0) this.count(item.filtered)
    const pieces = this.#split(item)
    const outcomes = await Promise.allSettled(pieces.map(([shard, piece]) => this.#appenders[shard].append(piece)))
    const stored = outcomes.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason
      return outcome.value
    })
    const versions = stored.flatMap(({ releasedBy }) => releasedBy ?? [])
    if (versions.length > 0) await markInAllShards(this.#redis, Math.max(...versions), [item.parts[0].device])
    return {
      duplicates: stored.reduce((sum, { duplicates }) => sum + duplicates, 0),
      refused: stored.some(({ refused }) => refused),
    }
  }

  count(filtered: readonly string[]): void {
    this.#appenders[0].count(filtered)
  }

  async close(): Promise<void> {
    await Promise.all(this.#appenders.map((appender) => appender.close()))
  }

  /** The first piece counts what is not stored as well. */
  #split(item: Storable): [shard: number, Storable][] {
    const pieces = [...Map.groupBy(item.parts, (part) => shardOfPart(this.#redis, part))]
    return pieces.map(([shard, parts], index) => {
      const [received, filtered] = index === 0 ? [item.filtered.length, item.filtered] : [0, []]
      const records = parts.reduce((sum, part) => sum + countRecords(part.records), received)
      return [shard, { parts, received: records, filtered }]
    })
  }
}

/*
 * What weighs a call: about what it costs Redis, so that no input makes a call longer than 20 ms. Dearest are fixes of many spans
 * (a run for each, with marks of its own), and look-ups among the marks of a full span. The first fix of a device, and of a
 * span, costs Redis three times as much as the next ones: its marks, and where they are accounted for, are new.
 */
const BYTE_WEIGHT = 4
const GROUP = { inFlight: 2, maxWeight: 400_000, apartMs: 30, enough: 1 << 15 }
