import { setTimeout as sleep } from 'node:timers/promises'
import { keys } from './keys.ts'
import type { Lease } from './lease.ts'
import { sweep } from './move.ts'
import { deviceOf, records } from './record.ts'
import { type Redis, scripts } from './redis.ts'
import { sumOver } from './survey.ts'

/** What `Place` answers while the process cannot know that its roster is current. */
export const NOT_CURRENT = Symbol('roster not current')

/**
 * The lane that a record belongs to by now, by its device and time; undefined where it has none any more; `NOT_CURRENT` while
 * this is uncertain.
 */
export type Place = (record: Buffer) => string | undefined | typeof NOT_CURRENT

/**
 * Has parked and refused records of lanes tried again, and answers how many there are. A parked lane is due at once: the
 * worker that takes it looks up anew where its records belong. Refused records go to the end of the lane where they belong
 * by now. Once the roster is not current, this ends, and what is left stays as it is.
 */
export async function release(
  redis: Redis,
  lanes: readonly string[],
  place: Place,
): Promise<number | typeof NOT_CURRENT> {
  let isCurrent = true
  const released = await sumOver(lanes, async (lane) => {
    const count = isCurrent ? await releaseLane(redis, lane, place) : undefined
    isCurrent &&= count !== undefined
    return count ?? 0
  })
  return isCurrent ? released : NOT_CURRENT
}

/** undefined where the roster is not current. */
async function releaseLane(redis: Redis, lane: string, place: Place): Promise<number | undefined> {
  let parked = 0
  if ((await redis.hexists(keys.parked, lane)) === 1) {
    const oldest = await redis.lindexBuffer(keys.lane(lane), 0)
    if (oldest && place(oldest) === NOT_CURRENT) return undefined
    parked = await redis.llen(keys.lane(lane))
    await scripts(redis)('make_due', [keys.schedule], [lane])
  }
  const refused = await emptyRefused(redis, lane, (record) => {
    const to = place(record)
    return to === NOT_CURRENT ? undefined : { lane: to ?? lane, device: deviceOf(record), records: record }
  })
  return refused === undefined ? undefined : parked + refused
}

/** Makes every parked lane due now. */
export async function releaseParked(redis: Redis): Promise<void> {
  const run = scripts(redis)
  for (const lane of await redis.hkeys(keys.parked)) await run('make_due', [keys.schedule], [lane])
}

/** Deletes parked and refused records of lanes, counted. Answers how many there were. */
export function discard(redis: Redis, lanes: readonly string[]): Promise<number> {
  return sumOver(lanes, async (lane) => {
    const refused = (await emptyRefused(redis, lane, () => DELETED)) ?? 0
    const token = (await redis.hexists(keys.parked, lane)) === 1 ? await seize(redis, lane) : undefined
    return token ? refused + (await sweep(redis, { ...listOf(lane), token }, () => [DELETED])).left : refused
  })
}

/**
 * Moves the records of a leased lane to the lanes where they belong by now. Answers whether the rest may be pushed: not where
 * nothing is left or the lease was lost; `NOT_CURRENT` where that is not certain.
 */
export async function relocate(
  redis: Redis,
  { lane, token }: Lease,
  place: Place,
): Promise<boolean | typeof NOT_CURRENT> {
  let isCurrent = true
  const { complete, stayed } = await sweep(redis, { ...listOf(lane), token }, (record) => {
    const to = place(record)
    isCurrent = to !== NOT_CURRENT
    if (to === NOT_CURRENT) return undefined
    return to === undefined || to === lane ? 'stays' : [{ lane: to, device: deviceOf(record), records: record }]
  })
  return isCurrent ? complete && stayed > 0 : NOT_CURRENT
}

/** Leases a lane for an admin operation, once its present lease has ended; undefined where it is not there any more. */
async function seize(redis: Redis, lane: string): Promise<string | undefined> {
  for (let tries = 0; tries < SEIZE_TRIES; tries++) {
    const token = (await scripts(redis)('seize', [keys.schedule], [lane, SEIZE_MS])) as Buffer | null
    if (token) return token.toString()
    await sleep(SEIZE_AGAIN_MS)
  }
  return undefined
}

/**
 * Empties the refused records of a lane, in order, each to its fate. Answers how many; undefined where `fate` could not tell
 * of one: this and those behind it stay.
 */
async function emptyRefused(
  redis: Redis,
  lane: string,
  fate: (record: Buffer) => typeof DELETED | { lane: string; device: string; records: Buffer } | undefined,
): Promise<number | undefined> {
  let emptied = 0
  let told = true
  for (;;) {
    const list = { list: keys.refused(lane), index: keys.refusedLanes, name: lane }
    const { left, complete } = await sweep(redis, list, (entry) => {
      const fates = Array.from(records(entry.subarray(4 + entry.readUInt32BE(0))), fate)
      const known = fates.filter((each) => each !== undefined)
      told &&= known.length === fates.length
      return told ? known : undefined
    })
    emptied += left
    if (!told) return undefined
    if (complete) return emptied
  }
}

function listOf(lane: string) {
  return { list: keys.lane(lane), index: keys.schedule, name: lane }
}

const DELETED = { gone: 'discarded:deleted' } as const
const SEIZE_MS = 15_000
const SEIZE_AGAIN_MS = 200
const SEIZE_TRIES = 40
