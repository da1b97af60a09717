import { hostname } from 'node:os'
import { metrics } from '../observe/metrics.ts'
import { observations } from '../observe/observations.ts'
import { aheadOfRedis, clockOfApi, type Redis } from '../store/index.ts'
import { joined, say, type Text } from '../texts/text.ts'

/** Evidence about the clock of this machine; none of it comes from a device. */
export interface ClockEvidence {
  /** By how much the clock is ahead of that of Redis, ms. */
  readonly aheadOfRedisMs?: number
  /** By how much the clock is ahead of the `Date` of the tracking API, ms. */
  readonly aheadOfApiMs?: number
  /** The size of a jump against the monotonic clock, ms; absent if there was none within `JUMP_COUNTS_MS`. */
  readonly jumpMs?: number
  /** Whether the kernel reports a synchronised clock; absent if it cannot be asked. */
  readonly isSynchronised?: boolean
}

/**
 * Pure. Returns why the clock of this machine is in doubt, as a sentence; undefined if it is not. The clock of the API counts
 * only if the kernel does not report ours as synchronised; otherwise the API's clock is wrong.
 */
export function judgeClock(evidence: ClockEvidence): Text | undefined {
  const { aheadOfApiMs, aheadOfRedisMs = 0, isSynchronised, jumpMs = 0 } = evidence
  const agreesWithApi = aheadOfApiMs !== undefined && Math.abs(aheadOfApiMs) <= TOLERANCE_MS
  if (Math.abs(aheadOfRedisMs) > TOLERANCE_MS)
    return say('the clock differs from that of Redis by {}', seconds(aheadOfRedisMs))
  if (agreesWithApi) return undefined
  if (Math.abs(jumpMs) > TOLERANCE_MS) return say('the clock jumped by {}', seconds(jumpMs))
  if (aheadOfApiMs === undefined || isSynchronised) return undefined
  return say('the clock differs from that of the tracking API by {}, and is not synchronised', seconds(aheadOfApiMs))
}

/**
 * The clock of this machine, which may jump. Each look judges whether it is in doubt. Devices do not count, since they could
 * forge their times.
 */
export class OwnClock {
  /** True from the start until the clock of Redis agrees. */
  isInDoubt = true
  /** How often the clock has jumped since the start, as seen by `now`; only this class sets it and `isInDoubt`. */
  jumps = 0
  readonly #redis: Redis
  readonly #askKernel: () => Promise<boolean | undefined>
  /** Wall clock minus monotonic clock at the last look. */
  #offset = Date.now() - performance.now()
  #jump = { at: -Infinity, ms: 0 }
  #isSynchronised: boolean | undefined
  #askedKernelAt = -Infinity
  readonly #followers: (() => void)[] = []

  /** `askKernel`: resolves with whether the kernel calls the clock synchronised; undefined: it cannot be asked. */
  constructor(redis: Redis, askKernel: () => Promise<boolean | undefined>) {
    this.#redis = redis
    this.#askKernel = askKernel
  }

  /** ms UTC. If the clock has jumped, it is in doubt from now on, and followers are called before this returns. */
  now(): number {
    const now = Date.now()
    const jump = now - performance.now() - this.#offset
    if (Math.abs(jump) > TOLERANCE_MS) this.#jumped(jump)
    return now
  }

  /** Calls `jumped` when the clock has jumped. */
  follow(jumped: () => void): void {
    this.#followers.push(jumped)
  }

  /** Call it once a second. */
  async look(): Promise<void> {
    const now = performance.now()
    this.#offset = this.now() - now
    const { jumps } = this
    if (now - this.#askedKernelAt > KERNEL_AGAIN_MS) {
      this.#askedKernelAt = now
      this.#isSynchronised = await this.#askKernel()
    }
    const others = await this.#aheadOfOthers().catch(() => undefined)
    const doubt = judgeClock({
      ...others,
      jumpMs: now - this.#jump.at < JUMP_COUNTS_MS ? this.#jump.ms : undefined,
      isSynchronised: this.#isSynchronised,
    })
    // A Redis that does not answer ends no doubt.
    if (!doubt && !others) return
    // It holds back the fixes of all companies. Another machine may show it.
    if (doubt) observations.note('own_clock', { evidence: joined([hostname(), doubt], ': ') })
    // What others say is of the time before a jump during this look.
    this.isInDoubt = doubt !== undefined || this.jumps !== jumps
    metrics.clockAlarm.set(this.isInDoubt ? 1 : 0)
  }

  #jumped(ms: number): void {
    this.#offset += ms
    this.jumps++
    this.#jump = { at: performance.now(), ms }
    this.isInDoubt = true
    for (const jumped of this.#followers) jumped()
  }

  async #aheadOfOthers(): Promise<Pick<ClockEvidence, 'aheadOfRedisMs' | 'aheadOfApiMs'>> {
    const [aheadOfRedisMs, api] = await Promise.all([aheadOfRedis(this.#redis), clockOfApi(this.#redis)])
    return { aheadOfRedisMs, aheadOfApiMs: api && aheadOfRedisMs - api.aheadOfRedisMs }
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`
}

/** The `Date` of an answer has whole seconds, and answers take time. */
const TOLERANCE_MS = 30_000
/** How long a jump keeps the clock in doubt if nothing else confirms it. */
const JUMP_COUNTS_MS = 600_000
const KERNEL_AGAIN_MS = 600_000
