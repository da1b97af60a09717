import { keys } from './keys.ts'
import type { Redis } from '../redis/connection.ts'

/** The clock of the tracking API, by its `Date` header: how far it is ahead of Redis' clock, ms. */
export interface ApiClock {
  readonly aheadOfRedisMs: number
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

const API_CLOCK_KEPT_MS = 600_000
