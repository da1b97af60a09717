import { type Cipheriv, createCipheriv, randomBytes, randomUUID } from 'node:crypto'
import { countRecords, slicesOf } from './record.ts'
import type { Shard } from './shards.ts'

/*
 * The filter of duplicates. A device whose answer was lost sends its fixes again, perhaps to another gateway or a day later.
 *
 * For each device and each 2,048 seconds of its fixes' own time (a span) Redis has a string of marks, 6 bytes a fix. A mark
 * is the beginning of the fix's time and place, encrypted with a secret of the installation (AES): nobody can compute a far
 * position that has the mark of a van's own fix. A string and the marks of a device are bounded (store.lua), so that a
 * look-up has a bounded cost; beyond the bounds a fix is stored without a mark. A string is deleted when nothing was added
 * for the window. A hash has the latest span of each device. Adding to sets of integers costs more, and every fix pays for
 * adding.
 *
 * A fix that is newer than all fixes of its device cannot be a duplicate and is not looked up. What a gateway knows of newest
 * fixes is true during its turn: a turn begins when a gateway stores after another one, and store.lua looks up every fix of
 * a call that was packed before the turn began. When a turn begins, a gateway knows only that no gateway has stored a fix further
 * ahead than `maxFutureMs`; with the first frame of a device in its turn it asks for the device's latest span.
 *
 * All fixes of a device are in one shard, and so are their marks. Each shard has turns of its own.
 */

/** Records of one device within one span, in the form that store.lua needs. */
export interface MarkedRun {
  /** `<device>:<span>` */
  readonly name: string
  readonly count: number
  readonly records: Buffer
  /** Sum of 1: some may be duplicates; 2: keep the marks for the whole window; 4: ask for the device's latest span. */
  readonly flags: number
}

export interface DuplicateOptions {
  /** How long a fix is remembered, ms. */
  readonly windowMs: number
  readonly maxFutureMs: number
}

/** The duplicate filter of one shard. */
export class DuplicateFilter {
  /** The id under which this process stores. */
  readonly gateway = randomUUID()
  /** The turn of this process as store.lua named it; '' before its first answer. */
  turn = ''
  /** Whether it has the secret; only this class sets it. */
  isPrepared = false
  /** How long a string of marks is kept, ms. Longer than the window, because its expiry is renewed only once an hour. */
  readonly keepMs: number
  readonly #shard: Shard
  readonly #options: DuplicateOptions
  readonly #others = new Map<Shard, DuplicateFilter>()
  readonly #devices = new Map<string, Known>()
  /** By the monotonic clock, ms, since the wall clock may have been wrong. */
  #turnBeganAt = performance.now()
  #cipher: Cipheriv | undefined

  constructor(shard: Shard, options: DuplicateOptions) {
    this.#shard = shard
    this.keepMs = options.windowMs + 2 * KEEP_AGAIN_MS
    this.#options = options
  }

  /** The filter of the shard of a connection. */
  in(shard: Shard): DuplicateFilter {
    if (shard === this.#shard) return this
    const known = this.#others.get(shard) ?? new DuplicateFilter(shard, this.#options)
    this.#others.set(shard, known)
    return known
  }

  /** Reads the secret of the installation, once; the first gateway makes it. Rejects while Redis does not answer. */
  async prepare(): Promise<void> {
    const { secret } = this.#shard.keyNames
    await this.#shard.hsetnx(secret, 'key', randomBytes(16))
    const key = await this.#shard.hgetBuffer(secret, 'key')
    if (!key) throw new Error('the secret of the installation cannot be read')
    this.#cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
    this.isPrepared = true
  }

  /**
   * Returns the marks of the records of runs, 6 bytes each, in their order; call it once `prepare` has resolved. One call is for
   * many records: encrypting is dear by the call.
   */
  marksOf(runs: readonly Pick<MarkedRun, 'records' | 'count'>[]): Buffer {
    if (!this.#cipher) throw new Error('the filter of duplicates has no secret yet')
    const count = runs.reduce((sum, run) => sum + run.count, 0)
    const blocks = Buffer.alloc(BLOCK_BYTES * count)
    let block = 0
    // Reading and writing integers takes a third of the time that copying slices does.
    for (const { records } of runs)
      for (let at = 0; at < records.length; at += records[at], block += BLOCK_BYTES) {
        blocks.writeUInt32BE(records.readUInt32BE(at + TIME), block)
        blocks.writeInt32BE(records.readInt32BE(at + TIME + 4), block + 4)
        blocks.writeInt32BE(records.readInt32BE(at + TIME + 8), block + 8)
      }
    const encrypted = this.#cipher.update(blocks)
    const marks = Buffer.allocUnsafe(MARK_BYTES * count)
    for (let i = 0, from = 0, to = 0; i < count; i++, from += BLOCK_BYTES, to += MARK_BYTES) {
      marks.writeUInt32BE(encrypted.readUInt32BE(from), to)
      marks.writeUInt16BE(encrypted.readUInt16BE(from + 4), to + 4)
    }
    return marks
  }

  /** Deletes some of the marks that have expired, by the clock of Redis and at `now`, ms UTC. Never rejects. */
  async forget(now: number): Promise<void> {
    const keys = this.#shard.keyNames
    const touched = [keys.marksPrefix, keys.markExpiries, keys.markBytes]
    await this.#shard.run('forget', touched, [FORGET_AT_ONCE, now]).catch(() => {})
  }

  /** Splits a device's records by span. `duplicates`: number of records that repeat another one of this call. `now`: ms UTC. */
  split(device: string, records: Buffer, now: number): { readonly runs: MarkedRun[]; readonly duplicates: number } {
    const known = this.#knownInTurn(device)
    const ask = !known.isAsked
    known.isAsked = true
    const turnBeganAt = now - (performance.now() - this.#turnBeganAt)
    const furthest = Math.ceil((turnBeganAt + this.#options.maxFutureMs) / 1000)
    const newestBefore = Math.max(Math.min(known.newestOfOthers, furthest), known.newest)
    const runs: MarkedRun[] = []
    const unique = withoutRepeats(records)
    const duplicates = unique === records ? 0 : countRecords(records).count - countRecords(unique).count
    for (let at = 0; at < unique.length; ) {
      const from = at
      const span = unique.readUInt32BE(at + TIME) >>> SPAN_BITS
      let [count, oldest] = [0, Infinity]
      for (; at < unique.length && count < MOST_IN_RUN; at += unique[at], count++) {
        const time = unique.readUInt32BE(at + TIME)
        if (time >>> SPAN_BITS !== span) break
        if (time > known.newest) known.newest = time
        if (time < oldest) oldest = time
      }
      const keep = span !== known.keptSpan || Math.abs(now - known.keptAt) > KEEP_AGAIN_MS
      if (keep) [known.keptSpan, known.keptAt] = [span, now]
      const own = at - from === unique.length ? unique : unique.subarray(from, at)
      const flags = (oldest <= newestBefore ? 1 : 0) + (keep ? 2 : 0) + (ask ? 4 : 0)
      runs.push({ name: `${device}:${span}`, count, records: own, flags })
    }
    return { runs, duplicates }
  }

  /** Returns the weight of a device's records by their spans in a call to Redis (see appender.ts). */
  weightOf(device: string, records: Buffer): number {
    const keptSpan = this.#devices.get(device)?.keptSpan
    let [weight, last] = [0, -1]
    for (let at = 0; at < records.length; at += records[at]) {
      const span = records.readUInt32BE(at + TIME) >>> SPAN_BITS
      if (span !== last) weight += span === keptSpan ? SPAN_WEIGHT : SPAN_WEIGHT + NEW_SPAN_WEIGHT
      last = span
    }
    return weight
  }

  /** Begins a new turn of this process, as reported by store.lua. */
  beginTurn(turn: string): void {
    this.turn = turn
    this.#turnBeganAt = performance.now()
  }

  /** Notes the latest span (-1: none) of a device from before a call that asked for it and was stored in this turn. */
  learn(device: string, latestSpan: number): void {
    const known = this.#knownInTurn(device)
    known.isAsked = true
    const spanEnd = latestSpan < 0 ? -1 : (latestSpan + 1) * 2 ** SPAN_BITS - 1
    known.newestOfOthers = Math.min(known.newestOfOthers, spanEnd)
  }

  /** Notes that a call with records of this device has failed: the next call extends the life of its marks again. */
  failed(device: string): void {
    const known = this.#devices.get(device)
    if (known) known.keptSpan = -1
  }

  #knownInTurn(device: string): Known {
    const before = this.#devices.get(device)
    if (before?.turn === this.turn) return before
    const { newest = -1, keptSpan = -1, keptAt = 0 } = before ?? {}
    const known = { turn: this.turn, isAsked: false, newestOfOthers: Infinity, newest, keptSpan, keptAt }
    this.#devices.set(device, known)
    return known
  }
}

/** What this process knows of a device. Times in unix seconds. */
interface Known {
  readonly turn: string
  /** Whether its latest span was asked for in this turn. */
  isAsked: boolean
  /** The newest fix that another gateway, or this one in an earlier turn, may have stored. Infinity before the answer. */
  newestOfOthers: number
  /** The newest fix that this process stored, or tried to. */
  newest: number
  /** The span whose marks were last kept for the whole window, and when (ms UTC). */
  keptSpan: number
  keptAt: number
}

/** Drops records that repeat others in the call. If times only grow, none does. */
function withoutRepeats(records: Buffer): Buffer {
  let [last, at] = [-1, 0]
  for (; at < records.length; at += records[at]) {
    const time = records.readUInt32BE(at + TIME)
    if (time <= last) break
    last = time
  }
  if (at >= records.length) return records
  const unique = new Map<string, Buffer>()
  for (const { records: record } of slicesOf(records, 1)) {
    const timeAndPlace = record.toString('latin1', TIME, TIME + 12)
    if (!unique.has(timeAndPlace)) unique.set(timeAndPlace, record)
  }
  return Buffer.concat([...unique.values()])
}

const SPAN_BITS = 11
const SPAN_WEIGHT = 800
const NEW_SPAN_WEIGHT = 800
/** The size of a block of AES; that of a mark, as in store.lua. */
const BLOCK_BYTES = 16
const MARK_BYTES = 6
/** Offset of a record's time; latitude and longitude follow, 4 bytes each. */
const TIME = 7
/** Strings of marks in one second. */
const FORGET_AT_ONCE = 500
const KEEP_AGAIN_MS = 3_600_000
/** The most arguments that Lua can pass to one command. */
export const MOST_IN_RUN = 1000
