import { keys } from './keys.ts'
import type { Redis } from '../redis/connection.ts'

/** Opens the window for `forMs` from now on, or closes it if that is 0. Every gateway knows it within a second. */
export async function setEnrolment(redis: Redis, forMs: number): Promise<void> {
  if (forMs > 0) await redis.set(keys.enrolment, 'open', 'PX', forMs)
  else await redis.del(keys.enrolment)
}

/** How long the window stays open, ms, by Redis' clock; 0: it is closed. */
export async function enrolmentLeft(redis: Redis): Promise<number> {
  return Math.max(0, await redis.pttl(keys.enrolment))
}
