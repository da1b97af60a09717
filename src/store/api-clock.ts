import { keys } from './keys.ts'
import type { Redis } from '../redis/connection.ts'

/** The clock of the tracking API, by its `Date` header: how far it is ahead of Redis' clock, ms. */
export interface ApiClock {
  readonly aheadOfRedisMs: number
}

/** Notes now and then what time the tracking API says it is, so that gateways can judge their own clock by it. */
export class ApiClockReporter {
  readonly #redis: Redis
  #notedAt = -Infinity

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** `date`: of an answer to a request sent at `sentAt`, ms UTC. */
  note(date: string, sentAt: number): void {
    if (performance.now() - this.#notedAt < API_CLOCK_MS) return
    this.#notedAt = performance.now()
    // The header has whole seconds, rounded down.
    const aheadMs = Date.parse(date) + 500 - (sentAt + Date.now()) / 2
    if (Number.isFinite(aheadMs)) noteClockOfApi(this.#redis, aheadMs).catch(() => {})
  }
}

/** Notes the clock of the tracking API for ten minutes. `aheadOfUsMs`: how far it is ahead of this process' clock, ms. */
export async function noteClockOfApi(redis: Redis, aheadOfUsMs: number): Promise<void> {
  const clock: ApiClock = { aheadOfRedisMs: aheadOfUsMs + (await aheadOfRedis(redis)) }
  await redis.set(keys.apiClock, JSON.stringify(clock), 'PX', API_CLOCK_KEPT_MS)
}

/** Resolves to the latest note on the tracking API's clock; undefined if there is no recent one. */
export async function clockOfApi(redis: Redis): Promise<ApiClock | undefined> {
  const text = await redis.get(keys.apiClock)
  return text === null ? undefined : (JSON.parse(text) as ApiClock)
}

/** By how much the clock of this process is ahead of that of Redis, ms. */
export async function aheadOfRedis(redis: Redis): Promise<number> {
  const asked = Date.now()
  const [s, us] = await redis.time()
  return (asked + Date.now()) / 2 - (s * 1000 + us / 1000)
}

const API_CLOCK_MS = 10_000
const API_CLOCK_KEPT_MS = 600_000
