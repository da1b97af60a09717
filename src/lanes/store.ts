import { everySecond } from '../async.ts'
import { metrics } from '../observe/metrics.ts'
import { observations } from '../observe/observations.ts'
import { type DuplicateFilter, spansIn } from './duplicates.ts'
import { grouped } from './grouped.ts'
import type { ShardKeys } from './keys.ts'
import type { Part, Storable } from './record.ts'
import { type Redis, scripts } from './redis.ts'
import { type LeftOut, packGroup } from './runs.ts'
import { keysOf } from './shards.ts'

/** What may be stored beside waiting fixes, so that it cannot take the memory that these need. */
export interface MemoryShares {
  /** Bytes of marks of duplicates. */
  markBytes: number
  heldFixes: number
  /** Bytes of frames that were not understood. */
  misunderstoodBytes: number
}

/** Limits and shares are those of one shard. */
export interface AppenderOptions {
  readonly maxWaitMs: number
  readonly shares: Readonly<MemoryShares>
  /** null: duplicates are stored like other fixes. */
  readonly duplicates: DuplicateFilter | null
  readonly hold: HoldLimits
}

export interface HoldLimits {
  /** For a device that is not configured: fixes beyond this number are refused. */
  readonly maxFixesPerDevice: number
  /**
   * For a configured device and each reason: beyond this number the oldest are discarded, first those of unproven
   * senders.
   */
  readonly maxFixesConfigured: number
  /** How many unknown devices may have held fixes; unproven senders may use half of these places. */
  readonly maxUnknownDevices: number
}

/** The outcome of a Storable that is on disk. */
export interface Stored {
  /** How many fixes were duplicates: they were stored before. */
  duplicates: number
  /** Whether there are too many unknown devices to hold the fixes of this one. */
  refused: boolean
  /**
   * Set if the held fixes of the device are being released: by which version of the roster. The other shards have to
   * know it.
   */
  releasedBy?: number
}

/** Stores the fixes of a gateway in a shard: all that arrive while the previous call is away leave in the next one. */
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

  /** Resolves once every record is on disk in Redis. Rejects where that is not certain: then nothing may be acknowledged. */
  append(item: Storable): Promise<Stored> {
    const duplicates = this.#options.duplicates?.in(this.#redis)
    let weight = 0
    for (const { device, records } of item.parts) {
      const spans = spansIn(records)
      const begun = duplicates ? spans - Number(duplicates.keepsFirstSpan(device, records)) : 0
      weight += records.length * BYTE_WEIGHT + spans * SPAN_WEIGHT + begun * NEW_SPAN_WEIGHT
    }
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
      const leftOut = (await storeRecords(this.#redis, this.#options, { parts, counters })) ?? []
      for (const { part, duplicates, releasedBy } of leftOut) {
        if (releasedBy !== undefined) outcomes[itemOfPart[part]].releasedBy = releasedBy
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
    await this.#options.duplicates?.in(this.#redis).forget()
  }

  async #flush(): Promise<void> {
    if (this.#counted.size > 0) await this.#store([]).catch(() => {})
  }
}

/** A list whose entries may leave it. */
export interface RecordSource {
  readonly list: string
  /** The zset that has the list's name while it is not empty. */
  readonly index: string
  readonly name: string
  /** The token of the lease, if the list is that of a lane. */
  readonly token?: string
}

interface StoreCall {
  readonly parts: readonly Part[]
  /** What the custody account counts in the same step. */
  readonly counters: Map<string, number>
  /** The entries that leave a list in the same step: their positions, from 0, and the entries as they were read there. */
  readonly from?: RecordSource & { readonly entries: readonly (readonly [position: number, entry: Buffer])[] }
  /** What goes to other shards of what leaves the list: texts for `departing`. */
  readonly departing?: readonly string[]
  /** The name under which these records come from another shard. */
  readonly arrival?: string
}

/**
 * Stores records in a shard in one step, and takes others out of a list where the call says so. Answers what it left out; null where
 * the list is not as it was read, the lease was lost, or the same records have arrived before: then nothing has changed.
 */
export async function storeRecords(
  redis: Redis,
  { maxWaitMs, duplicates: filter, hold, shares }: AppenderOptions,
  { parts, counters, from, departing = [], arrival }: StoreCall,
): Promise<LeftOut[] | null> {
  const [run, keys, duplicates] = [scripts(redis), keysOf(redis), filter?.in(redis) ?? null]
  if (duplicates?.isPrepared === false) await duplicates.prepare()
  const turn = duplicates?.turn ?? ''
  const { bytes, marks = '', unkeyed = '', partOfRun, leftOut } = packGroup(parts, duplicates, Date.now())
  for (const left of leftOut) add(counters, 'filtered:duplicate', left.duplicates)
  const ofFilter = [duplicates?.gateway ?? '', turn, duplicates?.keepMs ?? 0, shares.markBytes, marks, unkeyed]
  // What was acknowledged once is never refused.
  const { MAX_SAFE_INTEGER: unlimited } = Number
  const { maxFixesPerDevice, maxUnknownDevices, maxFixesConfigured } = hold
  const bounds =
    from || arrival !== undefined
      ? [unlimited, unlimited, maxFixesConfigured, unlimited]
      : [maxFixesPerDevice, maxUnknownDevices, maxFixesConfigured, shares.heldFixes]
  const args = [bytes, maxWaitMs, ...ofFilter, ...bounds, counters.size, ...[...counters].flat()]
  const touched = touchedKeys(keys)
  let answer: unknown = null
  try {
    if (from) {
      const moved = [from.name, from.token ?? '', departing.length, ...departing, ...from.entries.flat()]
      answer = await run('move', [...touched, from.list, from.index, keys.departing], [...args, ...moved])
    } else if (arrival !== undefined) {
      answer = await run('arrive', [...touched, keys.arrived(arrival)], [...args, ARRIVED_MS])
    } else answer = await run('append', touched, args)
  } finally {
    if (!answer) for (const { device } of parts) duplicates?.failed(device)
  }
  if (!answer) return null
  const [ofRuns, latest, storedIn, unmarked, overflowed, marked] = answer as StoreAnswer
  const storedTurn = storedIn.toString()
  if (duplicates && duplicates.turn !== storedTurn) duplicates.beginTurn(storedTurn)
  for (let i = 0; i < latest.length; i += 2) duplicates?.learn(parts[partOfRun[latest[i]]].device, latest[i + 1])
  for (const each of unmarked) observations.note('marks_full', { subject: { device: parts[partOfRun[each]].device } })
  for (let i = 0; i < ofRuns.length; i += 2) leftOut.push({ part: partOfRun[ofRuns[i]], duplicates: ofRuns[i + 1] })
  for (let i = 0; i < marked.length; i += 2)
    leftOut.push({ part: partOfRun[marked[i]], duplicates: 0, releasedBy: marked[i + 1] })
  for (const each of overflowed) observations.note('held_full', { subject: { device: parts[partOfRun[each]].device } })
  return leftOut
}

type StoreAnswer = [number[], number[], Buffer, number[], number[], number[]]

function addFixes(counters: Map<string, number>, { received, filtered }: Omit<Storable, 'parts'>): void {
  add(counters, 'received', received)
  for (const reason of filtered) add(counters, `filtered:${reason}`, 1)
}

/** Adds to a counter. */
export function add(counters: Map<string, number>, name: string, amount: number): void {
  if (amount !== 0) counters.set(name, (counters.get(name) ?? 0) + amount)
}

/*
 * What weighs a call: about what it costs Redis, so that no input makes a call longer than 20 ms. Dearest are fixes of many spans
 * (a run for each, with marks of its own), and look-ups among the marks of a full span. The first fix of a device, and of a
 * span, costs Redis three times as much as the next ones: its marks, and where they are accounted for, are new.
 */
const BYTE_WEIGHT = 4
const SPAN_WEIGHT = 800
const NEW_SPAN_WEIGHT = 800
const GROUP = { inFlight: 2, maxWeight: 400_000, apartMs: 10, enough: 1 << 12 }
/** How long a shard remembers what has arrived from another one. The other one deletes its copy within seconds. */
const ARRIVED_MS = 86_400_000

/** What store.lua touches; the keys of a list, or of an arrival, follow. */
function touchedKeys(keys: ShardKeys): string[] {
  return [
    keys.schedule,
    keys.custody,
    keys.lane(''),
    keys.heldDevices(''),
    keys.marksPrefix,
    keys.unkeyedMarksPrefix,
    keys.markExpiries,
    keys.markBytes,
    keys.heldFixes,
    keys.rosterVersion,
    keys.latestSpans,
    keys.storing,
    keys.parked,
    keys.ahead,
    keys.releasing,
  ]
}
