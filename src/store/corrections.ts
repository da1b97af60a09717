import { randomUUID } from 'node:crypto'
import { companyOfLane, sameId } from '../domain/ids.ts'
import { dueAfter } from './lease.ts'
import { NOT_CURRENT } from './move.ts'
import type { Place } from './parked.ts'
import { chunksOf } from './kept-chunks.ts'
import type { KeptFix } from './kept-fixes.ts'
import { packDevice, packRedelivered, type Position } from './record.ts'
import type { Shard, Store } from './shards.ts'

/**
 * Fixes of a device that were delivered by a replaced roster, and are to be delivered where the present roster places them.
 * Progress is noted only in the kept fixes.
 */
export interface Correction {
  readonly device: string
  /** Their own times, [from, until), ms UTC. */
  readonly from: number
  readonly until: number
  /** Lanes in which fixes of the device may still wait that the replaced roster placed there. */
  readonly lanes: readonly string[]
  /** When it was noted, ms UTC: the oldest one is carried out first. */
  readonly at: number
}

/** A delivered fix, and the lane where it belongs. */
export interface Misplaced {
  readonly fix: KeptFix
  readonly to: string
}

/**
 * Returns the fixes whose lane has not got them, each once, in the order of their times. A fix is identified by its time and
 * place. Lanes of other companies are ignored. @param laneOf returns where the roster places a fix
 */
export function misplacedFixes(
  kept: readonly KeptFix[],
  laneOf: (fix: KeptFix) => ReturnType<Place>,
): Misplaced[] | typeof NOT_CURRENT {
  const found: Misplaced[] = []
  const deliveries = Map.groupBy(kept, ({ timestamp, latitude, longitude }) => `${timestamp} ${latitude} ${longitude}`)
  for (const [fix, ...others] of deliveries.values()) {
    const to = laneOf(fix)
    if (to === NOT_CURRENT) return to
    if (to === undefined || companyOfLane(to) !== companyOfLane(fix.lane)) continue
    // Before a fix is delivered to a lane, it is queued for it, or queued and withdrawn in turns.
    const own = [fix, ...others].filter(({ lane }) => lane === to)
    if (own.length % 2 === 0 && own.every(({ isQueued }) => isQueued)) found.push({ fix, to })
  }
  return found.toSorted((one, other) => one.fix.timestamp - other.fix.timestamp)
}

/** Stores corrections, for the workers. Rejects unless they are stored, on the replicas too where there have to be some. */
export async function addCorrections(redis: Store, corrections: readonly Correction[]): Promise<void> {
  for (const correction of corrections) {
    const shard = redis.shardOf(correction.device)
    const json = JSON.stringify(correction)
    await shard.confirmed(() => shard.hset(shard.keyNames.corrections, randomUUID(), json))
  }
}

/** The corrections of a shard that are not done, by their keys. */
export async function openCorrections(shard: Shard): Promise<Map<string, Correction>> {
  const found = await shard.hgetall(shard.keyNames.corrections)
  return new Map(Object.entries(found).map(([key, json]) => [key, JSON.parse(json) as Correction]))
}

export async function endCorrection(shard: Shard, key: string): Promise<void> {
  await shard.hdel(shard.keyNames.corrections, key)
}

/** Deletes the corrections of a device. */
export async function forgetCorrections(shard: Shard, device: string): Promise<void> {
  for (const [key, correction] of await openCorrections(shard))
    if (sameId(correction.device) === sameId(device)) await endCorrection(shard, key)
}

export interface Requeue {
  /** The hour of their times, since 1970. */
  readonly hour: number
  readonly lane: string
  readonly positions: readonly Position[]
  /** The length of the list of kept fixes when it was read. */
  readonly length: number
}

export interface RequeueOptions {
  readonly maxWaitMs: number
  /** Most records of a lane in which something is queued. */
  readonly mostWaiting: number
}

/** Queues kept fixes of a device and hour for a lane. @returns `changed` if something was kept or deleted since they were read */
export async function requeue(
  shard: Shard,
  device: string,
  { hour, lane, length, positions }: Requeue,
  { maxWaitMs, mostWaiting }: RequeueOptions,
): Promise<'queued' | 'busy' | 'changed'> {
  const id = sameId(device)
  const records = packRedelivered(positions, packDevice(id), Date.now())
  const { schedule, custody, lanePrefix, clock, keptPrefix, keptHours } = shard.keyNames
  const answer = await shard.run(
    'requeue',
    [schedule, custody, lanePrefix, clock, keptPrefix, keptHours],
    [hour, id, length, lane, records, positions.length, chunksOf(records), dueAfter(maxWaitMs), mostWaiting],
  )
  return answer === null ? 'changed' : answer === 1 ? 'queued' : 'busy'
}
