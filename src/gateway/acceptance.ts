import { setTimeout as sleep } from 'node:timers/promises'
import type { Transport } from '../../protocols/kit/index.ts'
import { observations } from '../observe/observations.ts'
import { countParked, type MemoryShares, type Part, parkedLanes, type Store } from '../store/index.ts'
import { FIX_BYTES, fullAt, memoryInfos, memoryLimits, memoryShare } from '../store/memory.ts'
import { say } from '../texts/text.ts'

export interface CapacityOptions {
  /** The share of Redis' memory above which nothing more is stored; delivery needs the remainder. */
  readonly stopAt: number
  /** When this many positions are parked, nothing more is stored in lanes that have parked positions. */
  readonly maxParked: number
  /** Bounds for other data, by Redis' memory. Only this class writes it. */
  readonly shares: MemoryShares
}

/** Watches whether Redis has room for more fixes. Without room nothing is acknowledged, so devices keep their fixes. */
export class Capacity {
  readonly #redis: Store
  readonly #options: CapacityOptions
  /** Whether there is no room for some lanes, or for all. Only this class writes it, and the next two. */
  hasShortage = false
  /** True while no fix at all can be stored. */
  isFull = false
  /** Whether memory is kept for fixes: what can be done without is not stored. */
  isScarce = false
  #crowdedLanes: ReadonlySet<string> = new Set()
  #looks = 0

  constructor(redis: Store, options: CapacityOptions) {
    this.#redis = redis
    this.#options = options
  }

  /** Returns why there is no room for these parts, if so. */
  shortageFor(parts: readonly Part[]): 'memory' | 'parked' | undefined {
    if (this.isFull && parts.length > 0) return 'memory'
    return parts.some((part) => 'lane' in part && this.#crowdedLanes.has(part.lane)) ? 'parked' : undefined
  }

  /** Returns the reasons why nothing is acknowledged, as sentences. */
  get problems(): readonly string[] {
    return this.isFull ? [fullAt(this.#options.stopAt)] : []
  }

  /** Call it once a second. Rejects if Redis does not answer. */
  async look(): Promise<void> {
    const { shares, stopAt } = this.#options
    const infos = await memoryInfos(this.#redis)
    const share = Math.max(...infos.map(memoryShare))
    const ofShard = memoryLimits(infos) / this.#redis.shards.length
    shares.markBytes = ofShard * SHARE
    // Whole: a script that discards a part of a fix would end in the middle.
    shares.heldFixes = Math.floor((ofShard * SHARE) / FIX_BYTES)
    shares.misunderstoodBytes = ofShard * MISUNDERSTOOD_SHARE
    this.isScarce = share > stopAt / 2
    this.isFull = share > (this.isFull ? stopAt - RESUME_BELOW : stopAt)
    if (this.isFull) observations.note('redis_full', { evidence: say('{} % of its memory', Math.round(share * 100)) })
    if (this.#looks++ % 3 === 0) await this.#lookAtParked()
    this.hasShortage = this.isFull || this.#crowdedLanes.size > 0
  }

  async #lookAtParked(): Promise<void> {
    const { shares } = this.#options
    const maxParked = Math.min(this.#options.maxParked, shares.heldFixes * this.#redis.shards.length)
    const fixes = await countParked(this.#redis)
    if (fixes > maxParked) observations.note('parked_full', { evidence: say('{} positions', fixes) })
    this.#crowdedLanes = fixes > maxParked ? await parkedLanes(this.#redis) : new Set<string>()
  }
}

const RESUME_BELOW = 0.02
/** The share of Redis' memory that marks, held fixes and parked fixes may each use. The remainder is for waiting fixes. */
const SHARE = 0.2
/** For frames that were not understood. */
const MISUNDERSTOOD_SHARE = 0.1

/**
 * While Redis does not answer or the roster is not current, a frame waits as long as trackers usually wait for an answer,
 * since otherwise a whole fleet would reconnect at once. An HTTP client gets its refusal earlier; over UDP the device sends
 * again.
 */
const WAIT_MS = { tcp: 30_000, mqtt: 30_000, http: 10_000, udp: 0 } satisfies Record<Transport, number>
const RETRY_MS = 250
/**
 * Failures after which a frame is retried. `parked` is not among them: too many parked positions last long, and waiting
 * frames would fill the memory of the gateway.
 */
const RETRIED: ReadonlySet<string> = new Set(['roster', 'redis', 'memory'])

/** How long frames wait until they can be stored. All frames that wait share one timer, and go on in their order. */
export class Waiting {
  readonly waitMs: Readonly<Record<Transport, number>>
  readonly #closing = new AbortController()
  #pause: Promise<void> | undefined

  constructor(waitMs: Readonly<Record<Transport, number>> = WAIT_MS) {
    this.waitMs = waitMs
  }

  /**
   * Pauses until the next attempt. Resolves to false at once if that would be after the deadline, by `performance.now()`, or
   * if another attempt would fail too.
   */
  async mayRetry(failure: string, deadline: number): Promise<boolean> {
    if (!RETRIED.has(failure) || this.#closing.signal.aborted || performance.now() + RETRY_MS > deadline) return false
    this.#pause ??= sleep(RETRY_MS, undefined, { signal: this.#closing.signal })
      .catch(() => {})
      .finally(() => (this.#pause = undefined))
    await this.#pause
    return true
  }

  /** From now on no frame waits. */
  close(): void {
    this.#closing.abort()
  }
}
