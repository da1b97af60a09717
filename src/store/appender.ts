import { metrics } from '../observe/metrics.ts'
import { grouped } from '../redis/grouped.ts'
import { NotReplicated } from '../redis/replication.ts'
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

/**
 * Stores the fixes of a gateway. Everything of a device goes to its shard. Fixes that arrive while a call to the shard is in
 * flight are sent together in the next call.
 */
export class Appender {
  readonly #redis: Store
  readonly #options: AppenderOptions
  /** One for each shard. */
  readonly #groups: readonly ((item: Storable, weight: number) => Promise<Stored>)[]
  /** Counts that wait for the next call. */
  #counted = new Map<string, number>()

  constructor(redis: Store, options: AppenderOptions) {
    this.#redis = redis
    this.#options = options
    this.#groups = redis.shards.map((shard) => grouped((items: Storable[]) => this.#store(shard, items), GROUP))
  }

  /** Resolves once every record is on disk in Redis. Rejects if that is not certain; then nothing may be acknowledged. */
  append(item: Storable): Promise<Stored> {
    const shard = this.#redis.shardOf(item.parts[0].device)
    const duplicates = this.#options.duplicates?.in(shard)
    let weight = 0
    for (const { device, records } of item.parts)
      weight += records.length * BYTE_WEIGHT + (duplicates?.weightOf(device, records) ?? 0)
    return this.#groups[shard.number](item, weight)
  }

  /** Counts fixes that need not be stored. Redis gets the counts with the next call, or within a second. */
  count(filtered: readonly string[]): void {
    add(this.#counted, 'received', filtered.length)
    for (const reason of filtered) add(this.#counted, `filtered:${reason}`, 1)
  }

  /** Writes the counts, and forgets marks that are too old at `now`, ms UTC; call it once a second. */
  async tidy(now = Date.now()): Promise<void> {
    await this.#flush()
    const { duplicates } = this.#options
    await this.#redis.inShards(async (shard) => duplicates?.in(shard).forget(now))
  }

  /** Resolves when Redis has the counts, or cannot be told. */
  async close(): Promise<void> {
    await this.#flush()
  }

  async #flush(): Promise<void> {
    if (this.#counted.size > 0) await this.#store(this.#redis, []).catch(() => {})
  }

  async #store(shard: Shard, items: readonly Storable[]): Promise<Stored[]> {
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
      const leftOut = (await storeRecords(shard, this.#options, { parts, counters })) ?? []
      for (const { part, duplicates } of leftOut) {
        const outcome = outcomeOfPart[part]
        if (duplicates < 0) outcome.refused = true
        else outcome.duplicates += duplicates
      }
      return outcomes
    } catch (error) {
      // Where only a replica lacks them, Redis has counted them.
      if (!(error instanceof NotReplicated)) for (const [name, amount] of waiting) add(this.#counted, name, amount)
      throw error
    }
  }
}

/*
 * The weight of a call, roughly its cost in Redis, so that no input makes a call longer than 20 ms. Most expensive are fixes
 * of many spans (each is a run with its own marks), and look-ups among the marks of a full span. The first fix of a device,
 * and of a span, costs three times as much as the next ones, because its marks and their accounting are new.
 */
const BYTE_WEIGHT = 4
const GROUP = { inFlight: 2, maxWeight: 400_000, apartMs: 30, enough: 1 << 15 }
