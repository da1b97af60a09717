import { randomUUID } from 'node:crypto'
import { everySecond } from '../async.ts'
import type { Logger } from '../observe/log.ts'
import {
  type Correction,
  describeLanes,
  endCorrection,
  holdsTurn,
  jobFaults,
  type KeepSettings,
  misplacedFixes,
  NOT_CURRENT,
  openCorrections,
  packDevice,
  packRecords,
  type Place,
  type Position,
  readKeptHour,
  keptHoursIn,
  requeue,
  type Shard,
  type Store,
  trimKept,
} from '../store/index.ts'
import { ROSTER_HOLDS_MS } from '../store/gateways.ts'
import type { ApiBounds } from './apis.ts'

export interface CorrectionOptions {
  readonly redis: Store
  /** Where the records of a parked lane belong by now. */
  readonly place: Place
  /** Default: every device is. */
  readonly isConfigured?: (device: string) => boolean
  readonly keep: KeepSettings
  readonly batch: { readonly max_positions: number; readonly max_wait: number }
  readonly push: ApiBounds & { readonly redeliver_share: number }
  readonly logger: Logger
}

/**
 * Keeps the kept fixes within their bounds, and carries out corrections: queues fixes that were delivered by a replaced
 * roster for the lanes where they now belong. One worker at a time does so for a shard.
 */
export class CorrectionWorker {
  readonly #options: CorrectionOptions
  readonly #worker = randomUUID()
  readonly #beat: { stop(): Promise<void> }
  #trimAt = 0
  /** Requests that may be queued now, of all shards. */
  #credit = 0
  /** When this process first saw the open corrections of a shard, by their keys, by `performance.now()`. */
  readonly #seenAt = new Map<Shard, ReadonlyMap<string, number>>()

  constructor(options: CorrectionOptions) {
    this.#options = options
    const jobs = { 'kept fixes': () => this.#trim(), corrections: () => this.#correct() }
    this.#beat = everySecond(jobs, jobFaults(options.logger))
  }

  stop(): Promise<void> {
    return this.#beat.stop()
  }

  async #trim(): Promise<void> {
    if (performance.now() < this.#trimAt) return
    await trimKept(this.#options.redis, this.#options.keep)
    this.#trimAt = performance.now() + TRIM_MS
  }

  async #correct(): Promise<void> {
    const { push, redis } = this.#options
    const perSecond = push.redeliver_share * (push.max_requests_per_s ?? push.concurrency)
    this.#credit = Math.min(this.#credit + perSecond, Math.max(1, perSecond))
    for (const shard of redis.shards) if (await this.#hasTurn(shard)) await this.#correctIn(shard)
  }

  async #hasTurn(shard: Shard): Promise<boolean> {
    const { corrections, correcting } = shard.keyNames
    if ((await shard.hlen(corrections)) === 0) return false
    return holdsTurn(shard, correcting, { holder: this.#worker, ms: TURN_MS })
  }

  /** The oldest corrections first, and all within a few seconds. */
  async #correctIn(shard: Shard): Promise<void> {
    const open = [...(await openCorrections(shard))].toSorted(([, one], [, other]) => one.at - other.at)
    const before = this.#seenAt.get(shard)
    const seenAt = new Map(open.map(([key]) => [key, before?.get(key) ?? performance.now()]))
    this.#seenAt.set(shard, seenAt)
    const deadline = performance.now() + MOST_MS
    for (const [key, correction] of open) {
      if (this.#credit < 1 || performance.now() > deadline) return
      const placedUntil = (seenAt.get(key) ?? performance.now()) + ROSTER_HOLDS_MS
      // Until then, the roster that this process or a gateway has read may be the replaced one.
      if (performance.now() < placedUntil || this.#mayReturn(correction)) continue
      // Checked first: fixes delivered from there later are among the kept fixes that are read next.
      const hasDrained = await this.#hasDrained(shard, correction, placedUntil)
      if (!(await this.#advance(shard, correction)) || !hasDrained) continue
      await endCorrection(shard, key)
      const { device, from, until } = correction
      this.#options.logger.info(
        { device, from, until },
        'what was delivered elsewhere is queued where the roster places it',
      )
    }
  }

  /** Whether its device is not configured, and may be configured again while its fixes are kept. */
  #mayReturn({ at, device }: Correction): boolean {
    const { isConfigured = () => true, keep } = this.#options
    return !isConfigured(device) && at > Date.now() - keep.delivered
  }

  /** @returns whether nothing is left to queue */
  async #advance(shard: Shard, { device, from, until }: Correction): Promise<boolean> {
    for (const hour of await keptHoursIn(shard, { from, until })) {
      for (;;) {
        const kept = await readKeptHour(shard, device, hour)
        const own = kept.fixes.filter(({ timestamp }) => timestamp * 1000 >= from && timestamp * 1000 < until)
        const misplaced = misplacedFixes(own, (fix) => this.#laneOf(device, fix))
        if (misplaced === NOT_CURRENT) return false
        if (misplaced.length === 0) break
        if (this.#credit < 1) return false
        const [{ to: lane }] = misplaced
        const positions = misplaced.filter(({ to }) => to === lane).map(({ fix }) => fix)
        const { max_positions, max_wait } = this.#options.batch
        const queued = { hour, lane, length: kept.length, positions: positions.slice(0, max_positions) }
        const became = await requeue(shard, device, queued, { maxWaitMs: max_wait, mostWaiting: max_positions })
        if (became === 'busy') return false
        if (became === 'queued') this.#credit--
      }
    }
    return true
  }

  /**
   * Returns whether nothing waits in the lanes where the replaced roster placed the device. Lanes that are parked whole are
   * looked up anew anyway, unless they are probed at this moment. The time at which the correction was noted is not used: the
   * clock may have been an hour wrong.
   */
  async #hasDrained(shard: Shard, { lanes }: Correction, placedUntil: number): Promise<boolean> {
    const states = await describeLanes(this.#options.redis, lanes, [shard])
    const now = Date.now()
    const before = now - (performance.now() - placedUntil)
    const isLater = (oldestAt: number) => oldestAt > before && oldestAt < now + MOST_SKEW_MS
    return states.every(
      ({ oldestAt, parked }) => parked?.nextTryAt !== undefined || oldestAt === undefined || isLater(oldestAt),
    )
  }

  #laneOf(device: string, position: Position): ReturnType<Place> {
    return this.#options.place(packRecords([position], packDevice(device), Date.now()))
  }
}

const TRIM_MS = 10_000
const TURN_MS = 5000
const MOST_MS = 3000
/** By so much the clocks of machines may differ without being wrong. */
const MOST_SKEW_MS = 60_000
