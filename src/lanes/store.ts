import { everySecond } from '../async.ts'
import { metrics } from '../observe/metrics.ts'
import { observations } from '../observe/observations.ts'
import { type DuplicateFilter, type MarkedRun, MOST_IN_RUN, spansIn } from './duplicates.ts'
import { keys } from './keys.ts'
import { type HeldPart, type HoldReason, type Part, type Storable, slicesOf } from './record.ts'
import { grouped } from './grouped.ts'
import { type Redis, type RunScript, scripts } from './redis.ts'

/** What may be stored beside waiting fixes, so that it cannot take the memory that these need. */
export interface MemoryShares {
  /** Bytes of marks of duplicates. */
  markBytes: number
  heldFixes: number
  /** Bytes of frames that were not understood. */
  misunderstoodBytes: number
}

export interface AppenderOptions {
  readonly maxWaitMs: number
  readonly shares: Readonly<MemoryShares>
  /** null: duplicates are stored like other fixes. */
  readonly duplicates: DuplicateFilter | null
  readonly hold: HoldLimits
}

export interface HoldLimits {
  /** Of a device that is not configured: beyond it, its fixes are refused. */
  readonly maxFixesPerDevice: number
  /** Of a configured device, for each reason: beyond it, the oldest are discarded, first those of unproven senders. */
  readonly maxFixesConfigured: number
  /** Unproven senders have half of the places. */
  readonly maxUnknownDevices: number
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
    const { duplicates } = this.#options
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

/** A list whose entries may leave it. */
export interface RecordSource {
  readonly list: string
  /** The zset that has the list's name while it is not empty. */
  readonly index: string
  readonly name: string
  /** Of the lease, where the list is a lane's own. */
  readonly token?: string
}

interface StoreCall {
  readonly parts: readonly Part[]
  /** What the custody account counts in the same step. */
  readonly counters: Map<string, number>
  /** The entries that leave a list in the same step: their positions, from 0, and the entries as they were read there. */
  readonly from?: RecordSource & { readonly entries: readonly (readonly [position: number, entry: Buffer])[] }
}

/**
 * Stores records in one step, and takes others out of a list where the call says so. Answers what it left out: duplicates of
 * a part, or −1 where its device is not configured and has used up its places; null where the list is not as it was read, or
 * the lease was lost: then nothing has changed.
 */
export async function storeRecords(
  run: RunScript,
  { maxWaitMs, duplicates, hold, shares }: AppenderOptions,
  { parts, counters, from }: StoreCall,
): Promise<{ part: number; duplicates: number }[] | null> {
  if (duplicates?.isPrepared === false) await duplicates.prepare()
  const turn = duplicates?.turn ?? ''
  const { bytes, marks = '', unkeyed = '', partOfRun, leftOut } = packGroup(parts, duplicates, Date.now())
  for (const left of leftOut) add(counters, 'filtered:duplicate', left.duplicates)
  const filter = [duplicates?.gateway ?? '', turn, duplicates?.keepMs ?? 0, shares.markBytes, marks, unkeyed]
  // What was acknowledged once is never refused.
  const { MAX_SAFE_INTEGER: unlimited } = Number
  const { maxFixesPerDevice, maxUnknownDevices, maxFixesConfigured } = hold
  const bounds = from
    ? [unlimited, unlimited, maxFixesConfigured, unlimited]
    : [maxFixesPerDevice, maxUnknownDevices, maxFixesConfigured, shares.heldFixes]
  const args = [bytes, maxWaitMs, ...filter, ...bounds, counters.size, ...[...counters].flat()]
  let answer: unknown = null
  try {
    answer = await (from
      ? run('move', [...KEYS, from.list, from.index], [...args, from.name, from.token ?? '', ...from.entries.flat()])
      : run('append', KEYS, args))
  } finally {
    if (!answer) for (const { device } of parts) duplicates?.failed(device)
  }
  if (!answer) return null
  const [ofRuns, latest, storedIn, unmarked, overflowed] = answer as [number[], number[], Buffer, number[], number[]]
  const storedTurn = storedIn.toString()
  if (duplicates && duplicates.turn !== storedTurn) duplicates.beginTurn(storedTurn)
  for (let i = 0; i < latest.length; i += 2) duplicates?.learn(parts[partOfRun[latest[i]]].device, latest[i + 1])
  for (const each of unmarked) observations.note('marks_full', { subject: { device: parts[partOfRun[each]].device } })
  for (let i = 0; i < ofRuns.length; i += 2) leftOut.push({ part: partOfRun[ofRuns[i]], duplicates: ofRuns[i + 1] })
  for (const each of overflowed) observations.note('held_full', { subject: { device: parts[partOfRun[each]].device } })
  return leftOut
}

function addFixes(counters: Map<string, number>, { received, filtered }: Omit<Storable, 'parts'>): void {
  add(counters, 'received', received)
  for (const reason of filtered) add(counters, `filtered:${reason}`, 1)
}

/** Adds to a counter. */
export function add(counters: Map<string, number>, name: string, amount: number): void {
  if (amount !== 0) counters.set(name, (counters.get(name) ?? 0) + amount)
}

/** Parts as store.lua reads them: runs. `leftOut`: records that repeat others of the same part. `now`: ms UTC. */
function packGroup(parts: readonly Part[], filter: DuplicateFilter | null, now: number) {
  const marked: MarkedRun[] = []
  const runs: PackedRun[] = []
  const leftOut: { part: number; duplicates: number }[] = []
  let size = 0
  for (const [index, part] of parts.entries()) {
    const [kind, place, look] = 'lane' in part ? laneHead(part) : heldHead(part)
    const split = 'lane' in part ? filter?.split(part.device, part.records, now) : undefined
    if (split && split.duplicates > 0) leftOut.push({ part: index, duplicates: split.duplicates })
    if (split) marked.push(...split.runs)
    const slices: Iterable<Pick<MarkedRun, 'records' | 'count'> & Partial<MarkedRun>> =
      split?.runs ?? slicesOf(part.records, MOST_IN_RUN)
    for (const { name = look, flags = 0, count, records } of slices) {
      runs.push({ part: index, kind, place, name, flags, count, records })
      size += MAX_HEAD_BYTES + MAX_CHAR_BYTES * (place.length + name.length) + records.length
    }
  }
  const bytes = Buffer.allocUnsafe(size)
  const end = runs.reduce((at, run) => writeRun(bytes, at, run), 0)
  const partOfRun = runs.map(({ part }) => part)
  return { bytes: bytes.subarray(0, end), ...filter?.marksOf(marked, now), partOfRun, leftOut }
}

/** `name`: of the marks, or of the device, or when held records are looked at. */
interface PackedRun extends MarkedRun {
  readonly part: number
  readonly kind: string
  readonly place: string
}

/** Answers where the run ends. */
function writeRun(bytes: Buffer, start: number, { kind, place, name, flags, count, records }: PackedRun): number {
  bytes[start] = kind.charCodeAt(0)
  let at = start + 1
  at += 1 + (bytes[at] = bytes.write(place, at + 1))
  at += 1 + (bytes[at] = bytes.write(name, at + 1))
  bytes[at] = flags
  at = bytes.writeUInt16BE(count, at + 1)
  bytes.set(records, at)
  return at + records.length
}

/** How a run of a lane begins, as store.lua says: its kind, its lane, and the device of its marks. */
function laneHead({ device, isProven, lane }: Exclude<Part, HeldPart>): [string, string, string] {
  return [isProven === false ? 'l' : 'L', lane, `${device}:`]
}

/** How a run of held records begins: its kind, its device, and when they are looked at again. */
function heldHead({ device, held, isProven, lookAt, rosterVersion }: HeldPart): [string, string, string] {
  return [isProven ? KINDS[held] : KINDS[held].toLowerCase(), device, `${Math.round(lookAt)} ${rosterVersion}`]
}

/*
 * What weighs a call: about what it costs Redis, so that no input makes a call longer than 20 ms. Dearest are fixes of many spans
 * (a run for each, with marks of its own), and look-ups among the marks of a full span. The first fix of a device, and of a
 * span, costs Redis three times as much as the next ones: its marks, and where they are accounted for, are new.
 */
const BYTE_WEIGHT = 4
const SPAN_WEIGHT = 800
const NEW_SPAN_WEIGHT = 800
const GROUP = { inFlight: 2, maxWeight: 1 << 19, apartMs: 10, enough: 1 << 12 }
/** Of a run, before its records, without the two texts. */
const MAX_HEAD_BYTES = 6
/** In UTF-8, of a text's length. */
const MAX_CHAR_BYTES = 3
const KINDS = { unknown: 'U', no_route: 'N', clock: 'C', suspicious: 'S' } satisfies Record<HoldReason, string>
/** The keys that store.lua touches; those of a list follow. */
const KEYS = [
  keys.schedule,
  keys.custody,
  keys.lane(''),
  keys.heldDevices(''),
  keys.marksPrefix,
  keys.unkeyedMarksPrefix,
  keys.markExpiries,
  keys.markBytes,
  keys.heldFixes,
  keys.roster('version'),
  keys.latestSpans,
  keys.storing,
  keys.parked,
  keys.ahead,
  keys.releasing,
]
