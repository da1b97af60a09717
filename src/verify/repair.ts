import { readKeptHour, requeue, type Store } from '../store/index.ts'
import type { DeliveredFix } from './delivered.ts'

export interface BatchSettings {
  readonly max_positions: number
  /** ms. */
  readonly max_wait: number
}

/**
 * Queues fixes again for the lane that they were delivered to, except those that are queued already. Counts them as
 * redelivered once they are delivered. Queues nothing in a lane with many waiting fixes. @returns how many were queued
 */
export async function repair(redis: Store, fixes: readonly DeliveredFix[], batch: BatchSettings): Promise<number> {
  const groups = Map.groupBy(
    fixes,
    ({ device, lane, timestamp }) => `${device} ${lane} ${Math.floor(timestamp / 3600)}`,
  )
  let queued = 0
  for (const same of groups.values())
    for (let at = 0; at < same.length; at += batch.max_positions)
      queued += await queue(redis, same.slice(at, at + batch.max_positions), batch)
  return queued
}

/** Queues fixes of one device, lane and hour; none if other calls keep changing the kept fixes. */
async function queue(redis: Store, fixes: readonly DeliveredFix[], batch: BatchSettings): Promise<number> {
  const [{ device, lane, timestamp }] = fixes
  const [shard, hour] = [redis.shardOf(device), Math.floor(timestamp / 3600)]
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const kept = await readKeptHour(shard, device, hour, (other) => other === lane)
    const positions = fixes.filter((fix) => kept.fixes.findLast((other) => isSame(fix, other))?.isQueued === false)
    if (positions.length === 0) return 0
    const wanted = { hour, lane, length: kept.length, positions }
    const became = await requeue(shard, device, wanted, { maxWaitMs: batch.max_wait, mostWaiting: batch.max_positions })
    if (became !== 'changed') return became === 'queued' ? positions.length : 0
  }
  return 0
}

type MeasuredPlace = Pick<DeliveredFix, 'timestamp' | 'latitude' | 'longitude'>

function isSame(one: MeasuredPlace, other: MeasuredPlace): boolean {
  return one.timestamp === other.timestamp && one.latitude === other.latitude && one.longitude === other.longitude
}

const MOST_TRIES = 20
