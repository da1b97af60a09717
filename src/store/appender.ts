import { metrics } from '../observe/metrics.ts'
import { grouped } from '../redis/grouped.ts'
import type { Part, Storable } from './record.ts'
import { type AppenderOptions, add, storeRecords } from './store-records.ts'
import type { Shard, Store } from './shards.ts'

/** The outcome of a Storable that is on disk. */
export interface Stored {
  /** How many fixes were duplicates: they were stored before. */
  duplicates: number
  /** Whether fixes were refused: there are too many unknown devices, or older fixes of this device are being released. */
  refused: boolean
}

/** What stores the fixes of a gateway. */
export type FixAppender = Pick<Appender, 'append' | 'count' | 'tidy' | 'close'>

/** Stores the fixes of a gateway in all shards. `options`: as for one shard. */
export function openAppender(store: Store, options: AppenderOptions): FixAppender {
  return store.shards.length === 1 ? new Appender(store, options) : new ShardedAppender(store, options)
}

/**
 * Stores the fixes of a gateway in a shard. Fixes that arrive while a call is in flight are sent together in the next
 * call.
 */
export class Appender {
  readonly #shard: Shard
  readonly #options: AppenderOptions
  readonly #group = grouped((items: Storable[]) => this.#store(items), GROUP)
  /** Counts that wait for the next call. */
  #counted = new Map<string, number>()

  constructor(shard: Shard, options: AppenderOptions) {
    this.#shard = shard
    this.#options = options
  }

  /** Resolves once every record is on disk in Redis. Rejects if that is not certain; then nothing may be acknowledged. */
  append(item: Storable): Promise<Stored> {
    const duplicates = this.#options.duplicates?.in(this.#shard)
    let weight = 0
    for (const { device, records } of item.parts)
      weight += records.length * BYTE_WEIGHT + (duplicates?.weightOf(device, records) ?? 0)
    return this.#group(item, weight)
  }

  /** Counts fixes that need not be stored. Redis gets the counts with the next call, or within a second. */
  count(filtered: readonly string[]): void {
    add(this.#counted, 'received', filtered.length)
    for (const reason of filtered) add(this.#counted, `filtered:${reason}`, 1)
  }

  /** Writes the counts, and forgets marks that are too old; call it once a second. */
  async tidy(): Promise<void> {
    await this.#flush()
    await this.#options.duplicates?.in(this.#shard).forget()
  }

  /** Resolves when Redis has the counts, or cannot be told. */
  async close(): Promise<void> {
    await this.#flush()
  }

  async #flush(): Promise<void> {
    if (this.#counted.size > 0) await this.#store([]).catch(() => {})
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
      const leftOut = (await storeRecords(this.#shard, this.#options, { parts, counters })) ?? []
      for (const { part, duplicates } of leftOut) {
        const outcome = outcomeOfPart[part]
        if (duplicates < 0) outcome.refused = true
        else outcome.duplicates += duplicates
      }
      return outcomes
    } catch (error) {
      for (const [name, amount] of waiting) add(this.#counted, name, amount)
      throw error
    }
  }
}

/** An appender for each shard: everything of a device goes to its shard, in one call. */
class ShardedAppender implements FixAppender {
  readonly #store: Store
  readonly #appenders: readonly Appender[]

  constructor(store: Store, options: AppenderOptions) {
    this.#store = store
    this.#appenders = store.shards.map((shard) => new Appender(shard, options))
  }

  append(item: Storable): Promise<Stored> {
    return this.#appenders[this.#store.shardOf(item.parts[0].device).number].append(item)
  }

  count(filtered: readonly string[]): void {
    this.#appenders[0].count(filtered)
  }

  async tidy(): Promise<void> {
    await Promise.all(this.#appenders.map((appender) => appender.tidy()))
  }

  async close(): Promise<void> {
    await Promise.all(this.#appenders.map((appender) => appender.close()))
  }
}

/*
 * The weight of a call, roughly its cost in Redis, so that no input makes a call longer than 20 ms. Most expensive are fixes
 * of many spans (each is a run with its own marks), and look-ups among the marks of a full span. The first fix of a device,
 * and of a span, costs three times as much as the next ones, because its marks and their accounting are new.
 */
const BYTE_WEIGHT = 4
const GROUP = { inFlight: 2, maxWeight: 400_000, apartMs: 30, enough: 1 << 15 }
