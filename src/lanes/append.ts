import { everySecond } from '../async.ts'
import { metrics } from '../observe/metrics.ts'
import { spansIn } from './duplicates.ts'
import { grouped, type Redis, type RunScript, scripts } from './redis.ts'
import { type AppenderOptions, add, type Part, storeRecords } from './store.ts'

/** What one frame leaves behind: its records, and what the custody account counts with them. */
export interface Storable {
  readonly parts: readonly Part[]
  /** Fixes, the filtered ones included. */
  readonly received: number
  /** One reason for each fix that is not stored. */
  readonly filtered: readonly string[]
}

/** The outcome of a Storable that is on disk. */
export interface Stored {
  /** Fixes that were stored before. */
  duplicates: number
  /** Whether there are too many unknown devices to hold the fixes of this one. */
  refused: boolean
}

/** Stores the fixes of a gateway: all that arrive while the previous call is away leave in the next one. */
export class Appender {
  readonly #run: RunScript
  readonly #options: AppenderOptions
  readonly #group = grouped((items: Storable[]) => this.#store(items), GROUP)
  readonly #tidying: ReturnType<typeof everySecond>
  /** Counts that wait for the next call. */
  #counted = new Map<string, number>()

  constructor(redis: Redis, options: AppenderOptions) {
    this.#run = scripts(redis)
    this.#options = options
    this.#tidying = everySecond(() => this.#tidy())
  }

  /** Resolves once every record is on disk in Redis. Rejects where that is not certain: then nothing may be acknowledged. */
  append(item: Storable): Promise<Stored> {
    let weight = 0
    for (const { records } of item.parts) weight += records.length * BYTE_WEIGHT + spansIn(records) * SPAN_WEIGHT
    return this.#group(item, weight)
  }

  /** Counts fixes of which none needs storing. Redis has the counts with the next call, or within a second. */
  count(filtered: readonly string[]): void {
    addFixes(this.#counted, { received: filtered.length, filtered })
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
    for (const item of items) addFixes(counters, item)
    const itemOfPart = items.flatMap(({ parts }, index) => parts.map(() => index))
    const outcomes = items.map((): Stored => ({ duplicates: 0, refused: false }))
    metrics.appends.inc({})
    try {
      const parts = items.flatMap((item) => item.parts)
      const leftOut = (await storeRecords(this.#run, this.#options, { parts, counters })) ?? []
      for (const { part, duplicates } of leftOut) {
        if (duplicates < 0) outcomes[itemOfPart[part]].refused = true
        else outcomes[itemOfPart[part]].duplicates += duplicates
      }
      return outcomes
    } catch (error) {
      for (const [name, amount] of waiting) add(this.#counted, name, amount)
      throw error
    }
  }

  async #tidy(): Promise<void> {
    await this.#flush()
    await this.#options.duplicates?.forget()
  }

  async #flush(): Promise<void> {
    if (this.#counted.size > 0) await this.#store([]).catch(() => {})
  }
}

function addFixes(counters: Map<string, number>, { received, filtered }: Omit<Storable, 'parts'>): void {
  add(counters, 'received', received)
  for (const reason of filtered) add(counters, `filtered:${reason}`, 1)
}

/*
 * What weighs a call: about what it costs Redis, so that no input makes a call longer than 20 ms. Dearest are fixes of many spans
 * (a run for each, with marks of its own), and look-ups among the marks of a full span.
 */
const BYTE_WEIGHT = 4
const SPAN_WEIGHT = 800
const GROUP = { inFlight: 2, maxWeight: 1 << 19 }
