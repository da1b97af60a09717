import { randomUUID } from 'node:crypto'
import { everySecond } from '../async.ts'
import { type Observation, observations } from '../observe/observations.ts'
import { keys } from './keys.ts'
import type { Redis } from './redis.ts'

/** Tells the other processes once a second what this process observes. What cannot be written now is written later. */
export function shareObservations(redis: Redis): { stop(): Promise<void> } {
  const id = randomUUID()
  let wasEmpty = true

  async function share(): Promise<void> {
    const current = observations.current()
    if (current.length === 0 && wasEmpty) return
    wasEmpty = current.length === 0
    const written = redis.set(keys.observed(id), JSON.stringify(current), 'PX', KEPT_MS)
    await Promise.all([written, redis.sadd(keys.observers, id)]).catch(() => {})
  }

  return everySecond(share)
}

/** What all processes that live observe. */
export async function readObservations(redis: Redis): Promise<Observation[]> {
  const ids = await redis.smembers(keys.observers)
  if (ids.length === 0) return []
  const found = await redis.mget(ids.map(keys.observed))
  const gone = ids.filter((_, index) => found[index] === null)
  if (gone.length > 0) await redis.srem(keys.observers, ...gone)
  return found.flatMap((text) => (text === null ? [] : (JSON.parse(text) as Observation[])))
}

const KEPT_MS = 5000

/** The clock of the tracking API, as its `Date` says: how far it is ahead of that of Redis, ms. */
export interface ApiClock {
  readonly aheadOfRedisMs: number
}

/** Notes the clock of the tracking API for ten minutes. `aheadOfUsMs`: how far it is ahead of this process' clock, ms. */
export async function noteClockOfApi(redis: Redis, aheadOfUsMs: number): Promise<void> {
  const clock: ApiClock = { aheadOfRedisMs: aheadOfUsMs + (await aheadOfRedis(redis)) }
  await redis.set(keys.apiClock, JSON.stringify(clock), 'PX', API_CLOCK_KEPT_MS)
}

/** What was noted last; undefined where nothing was lately. */
export async function clockOfApi(redis: Redis): Promise<ApiClock | undefined> {
  const text = await redis.get(keys.apiClock)
  return text === null ? undefined : (JSON.parse(text) as ApiClock)
}

/** How far the clock of this process is ahead of that of Redis, ms. */
export async function aheadOfRedis(redis: Redis): Promise<number> {
  const asked = Date.now()
  const [s, us] = await redis.time()
  return (asked + Date.now()) / 2 - (s * 1000 + us / 1000)
}

const API_CLOCK_KEPT_MS = 600_000
