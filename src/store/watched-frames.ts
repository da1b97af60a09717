import type { Fix, Transport } from '../../protocols/kit/index.ts'
import { keys } from './keys.ts'
import type { Redis } from '../redis/connection.ts'

/* Devices are named by their ids without leading zeros. */

/** A frame of a watched device, as stored in Redis (JSON), with asterisks in place of secrets. */
export interface WatchedFrame {
  /** When it arrived, ms UTC. */
  readonly at: number
  readonly transport: Transport
  /** The gateway's; undefined over MQTT. */
  readonly port?: number
  readonly remote: string
  readonly protocol: string
  /** The first 1,024 bytes, base64; of a request its method, address and body. */
  readonly bytes: string
  /** How many there are. */
  readonly size: number
  /** The first 20. */
  readonly fixes: readonly Fix[]
  readonly fixCount: number
  /** Whether it has fixes of other devices, as that of a relay may. */
  readonly isShared?: true
  /** The answer to the device, base64. */
  readonly reply?: string
  /** Why it was not understood, refused, or not stored. */
  readonly error?: string
}

/** How many frames of a watched device are kept, and of how many devices: of more, those are let go that end first. */
export const FRAMES_WATCHED = 20
const MOST_WATCHED = 100
/** How long a device is watched, ms. */
const WATCHED_MS = 900_000

/**
 * Makes the gateways keep the frames of a device for 15 min from now on. Resolves to the end of that time, ms UTC by Redis'
 * clock.
 */
export async function watchFrames(redis: Redis, device: string): Promise<number> {
  const now = await clockOf(redis)
  await redis
    .multi()
    .zremrangebyscore(keys.watched, '-inf', now)
    .zadd(keys.watched, now + WATCHED_MS, device)
    .zremrangebyrank(keys.watched, 0, -MOST_WATCHED - 1)
    .exec()
  return now + WATCHED_MS
}

/** Until when a device is watched, ms UTC; undefined: it is not watched. */
export async function watchedUntil(redis: Redis, device: string): Promise<number | undefined> {
  const [until, now] = await Promise.all([redis.zscore(keys.watched, device), clockOf(redis)])
  return until !== null && Number(until) > now ? Number(until) : undefined
}

export async function watchedDevices(redis: Redis): Promise<string[]> {
  return redis.zrangebyscore(keys.watched, await clockOf(redis), '+inf')
}

/** Adds frames of watched devices, JSON each, the oldest first: the last 20 of each are kept, for 15 min. */
export async function addWatchedFrames(redis: Redis, frames: ReadonlyMap<string, readonly string[]>): Promise<void> {
  const writes = redis.multi()
  for (const [device, some] of frames) {
    const list = keys.watchedFrames(device)
    writes
      .lpush(list, ...some)
      .ltrim(list, 0, FRAMES_WATCHED - 1)
      .pexpire(list, WATCHED_MS)
  }
  await writes.exec()
}

/** The last frames of a watched device, JSON each, the latest first. */
export function readWatchedFrames(redis: Redis, device: string): Promise<string[]> {
  return redis.lrange(keys.watchedFrames(device), 0, -1)
}

/** Watches a device no more, and deletes its frames. */
export async function forgetWatched(redis: Redis, device: string): Promise<void> {
  await redis.multi().zrem(keys.watched, device).del(keys.watchedFrames(device)).exec()
}

/** ms UTC. */
async function clockOf(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time()
  return seconds * 1000 + Math.floor(micros / 1000)
}
