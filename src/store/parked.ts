import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Lease } from './lease.ts'
import { type Fate, NOT_CURRENT, type Swept, sweep } from './move.ts'
import { deviceOf, isRedelivered } from './record.ts'
import type { RecordSource } from './store-records.ts'
import { sumOver } from './survey.ts'
import type { Shard, Store } from './shards.ts'

/** Returns the lane where a record belongs now, by its device and time; undefined if it has none any more. */
export type Place = (record: Buffer) => string | undefined | typeof NOT_CURRENT

/**
 * Makes parked and refused records of lanes due again. Resolves to their number. A parked lane is due at once: the worker
 * that takes it looks up where its records belong now. Refused records go to the end of the lane where they belong now. If
 * the roster stops being current, this ends, and the remaining records stay unchanged.
 */
export async function release(
  redis: Store,
  lanes: readonly string[],
  place: Place,
): Promise<number | typeof NOT_CURRENT> {
  let isCurrent = true
  const released = await sumOver(partsOf(redis, lanes), async ([shard, lane]) => {
    const count = isCurrent ? await releasePart(shard, lane, place) : NOT_CURRENT
    if (count !== NOT_CURRENT) return count
    isCurrent = false
    return 0
  })
  return isCurrent ? released : NOT_CURRENT
}

/** The parts of some lanes in the shards. */
function partsOf(redis: Store, lanes: readonly string[]): (readonly [shard: Shard, lane: string])[] {
  return lanes.flatMap((lane) => redis.shards.map((shard) => [shard, lane] as const))
}

async function releasePart(shard: Shard, lane: string, place: Place): Promise<number | typeof NOT_CURRENT> {
  const keys = shard.keyNames
  let parked = 0
  if ((await shard.hexists(keys.parked, lane)) === 1) {
    const oldest = await shard.lindexBuffer(keys.lane(lane), 0)
    if (oldest && place(oldest) === NOT_CURRENT) return NOT_CURRENT
    parked = await shard.llen(keys.lane(lane))
    await tryParked(shard, [lane])
  }
  const { left, end } = await sweepRefused(shard, lane, (record) => {
    const to = place(record)
    return to === NOT_CURRENT ? to : movedTo(to ?? lane, record, lane)
  })
  return end === NOT_CURRENT ? end : parked + left
}

/** Makes those lanes of a shard due that are parked whole. One that is being tried is tried again at once if it is refused. */
export async function tryParked(shard: Shard, lanes: readonly string[]): Promise<void> {
  const { parked, schedule } = shard.keyNames
  for (let at = 0; at < lanes.length; at += LANES)
    await shard.run('try_parked', [schedule, parked], lanes.slice(at, at + LANES))
}

/** The lanes of a shard that are parked whole. */
export function lanesParked(shard: Shard): Promise<string[]> {
  return shard.hkeys(shard.keyNames.parked)
}

/** Resolves to the lanes of a shard that are parked whole and have a record that now belongs to another lane. */
export async function misplacedLanes(shard: Shard, place: Place): Promise<string[] | typeof NOT_CURRENT> {
  const lanes = await lanesParked(shard)
  const found = await pLimit(AT_ONCE).map(lanes, (lane) => hasMisplaced(shard, lane, place))
  return found.includes(NOT_CURRENT) ? NOT_CURRENT : lanes.filter((_, index) => found[index])
}

async function hasMisplaced(shard: Shard, lane: string, place: Place): Promise<boolean | typeof NOT_CURRENT> {
  for (let at = 0; ; at += SLICE) {
    const records = await shard.lrangeBuffer(shard.keyNames.lane(lane), at, at + SLICE - 1)
    for (const record of records) {
      const to = place(record)
      if (to === NOT_CURRENT) return to
      if (to !== undefined && to !== lane) return true
    }
    if (records.length < SLICE) return false
  }
}

/** Deletes parked and refused records of lanes, and counts them. Resolves to their number. */
export function discard(redis: Store, lanes: readonly string[]): Promise<number> {
  return sumOver(partsOf(redis, lanes), async ([shard, lane]) => {
    const refused = await sweepRefused(shard, lane, () => DELETED)
    const { parked, schedule, upstream } = shard.keyNames
    const isParked = async () => (await shard.hexists(parked, lane)) === 1
    const token = (await isParked()) ? await seize(shard, lane) : undefined
    if (!token) return refused.left
    // Its probe may have been accepted in the meantime.
    if (await isParked())
      return refused.left + (await sweep(shard, { ...listOf(shard, lane), token }, () => DELETED)).left
    await shard.run('postpone', [schedule, upstream], [lane, token, 0])
    return refused.left
  })
}

/**
 * Moves the records of a leased lane of a shard to the lanes where they belong now. Resolves to whether the remaining records
 * may be pushed; false if none are left or the lease was lost.
 */
export async function relocate(
  shard: Shard,
  { lane, token }: Lease,
  place: Place,
): Promise<boolean | typeof NOT_CURRENT> {
  const { end, stayed } = await sweep(shard, { ...listOf(shard, lane), token }, (record) => {
    const to = place(record)
    if (to === NOT_CURRENT) return to
    return to === undefined || to === lane ? 'stays' : movedTo(to, record, lane)
  })
  return end === NOT_CURRENT ? end : end === 'reached' && stayed > 0
}

/**
 * Returns the fate of a record that goes to a lane. A record that was delivered before ends, because another lane may have
 * had it.
 */
function movedTo(to: string, record: Buffer, from: string): Fate {
  if (to !== from && isRedelivered(record, 0)) return { withdrawn: record }
  return { lane: to, device: deviceOf(record), records: record }
}

/**
 * Leases a lane of a shard for an admin operation, once its present lease has ended; resolves to undefined if the lane is
 * gone.
 */
export async function seize(shard: Shard, lane: string): Promise<string | undefined> {
  for (let tries = 0; tries < SEIZE_TRIES; tries++) {
    const token = (await shard.run('seize', [shard.keyNames.schedule], [lane, SEIZE_MS])) as Buffer | null
    if (token) return token.toString()
    await sleep(SEIZE_AGAIN_MS)
  }
  return undefined
}

/**
 * Sweeps the refused records of a lane of a shard until each is handled, or until the fate of one is uncertain: this one and
 * those after it stay.
 */
export async function sweepRefused(
  shard: Shard,
  lane: string,
  fate: (record: Buffer) => Fate | typeof NOT_CURRENT,
): Promise<Pick<Swept, 'left' | 'end'>> {
  const keys = shard.keyNames
  const list = { list: keys.refused(lane), index: keys.refusedLanes, name: lane }
  for (let left = 0; ; ) {
    const swept = await sweep(shard, list, (entry) => fate(entry.subarray(4 + entry.readUInt32BE(0))))
    left += swept.left
    if (swept.end !== 'changed') return { left, end: swept.end }
  }
}

/** A lane's own records in a shard. */
export function listOf(shard: Shard, lane: string): RecordSource {
  const keys = shard.keyNames
  return { list: keys.lane(lane), index: keys.schedule, name: lane }
}

/** Lanes of one call of the script. */
const LANES = 100
/** Records read in one call, and lanes read side by side. */
const SLICE = 200
const AT_ONCE = 10
const DELETED = { gone: 'discarded:deleted' } as const
const SEIZE_MS = 15_000
const SEIZE_AGAIN_MS = 200
const SEIZE_TRIES = 40
