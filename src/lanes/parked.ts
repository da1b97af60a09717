import { setTimeout as sleep } from 'node:timers/promises'
import type { AppenderOptions } from './append.ts'
import type { Part } from './group.ts'
import { keys } from './keys.ts'
import type { Lease } from './lease.ts'
import { move } from './move.ts'
import { deviceOf, records } from './record.ts'
import { type Redis, scripts } from './redis.ts'

/** Why a lane is parked whole. Instants in ms UTC. */
export interface Parked {
  readonly status: number
  readonly message: string
  readonly tries: number
  readonly at: number
  readonly since: number
}

/** One answer of the service under which records were refused. */
export interface Refused {
  readonly status: number
  readonly message: string
  readonly at: number
  readonly count: number
}

/** What `Place` answers while the process cannot know that its roster is current. */
export const NOT_CURRENT = Symbol('roster not current')

/**
 * The lane that a record belongs to by now, by its device and time; undefined where it has none any more; `NOT_CURRENT` while
 * nobody can tell.
 */
export type Place = (record: Buffer) => string | undefined | typeof NOT_CURRENT

/** The lanes that are parked whole, and those that have refused records. */
export async function parkedLanes(redis: Redis): Promise<Set<string>> {
  return new Set([...(await redis.hkeys(keys.parked)), ...(await refusedLanes(redis))])
}

/** What was refused of a lane, oldest first. */
export function refusedOf(redis: Redis, lane: string): Promise<Refused[]> {
  return Array.fromAsync(surveyRefused(redis, lane))
}

/** What was refused of a lane, oldest first, read in slices: there may be a million. */
export async function* surveyRefused(redis: Redis, lane: string): AsyncGenerator<Refused> {
  const run = scripts(redis)
  for (let first = 0; ; first += SLICE) {
    const headers = (await run('refused', [keys.refused(lane)], [first, first + SLICE - 1])) as Buffer[]
    for (const header of headers) yield JSON.parse(header.toString()) as Refused
    if (headers.length < SLICE) return
  }
}

/** How many records were refused, and of which lanes. */
export async function countRefused(redis: Redis): Promise<{ fixes: number; lanes: string[] }> {
  const lanes = await refusedLanes(redis)
  return { fixes: await sumOver(lanes, (lane) => redis.llen(keys.refused(lane))), lanes }
}

/** How many records are parked, refused ones and those of lanes that are parked whole, and of which lanes. */
export async function countParked(redis: Redis): Promise<{ fixes: number; lanes: Set<string> }> {
  const [refused, whole] = await Promise.all([countRefused(redis), redis.hkeys(keys.parked)])
  const fixes = await sumOver(whole, (lane) => redis.llen(keys.lane(lane)))
  return { fixes: refused.fixes + fixes, lanes: new Set([...whole, ...refused.lanes]) }
}

/** Has parked and refused records of lanes tried again, where they belong by now. Answers how many there are. */
export function releaseAll(redis: Redis, lanes: readonly string[], place: Place): Promise<number> {
  return sumOver(lanes, (lane) => release(redis, lane, place))
}

/**
 * Has a lane's parked and refused records tried again. A parked lane is due at once: whoever takes it looks up anew where
 * its records belong. Refused records go to the end of the lane where they belong by now. Answers how many there are.
 */
export async function release(redis: Redis, lane: string, place: Place): Promise<number> {
  const parked = (await redis.hexists(keys.parked, lane)) === 1 ? await redis.llen(keys.lane(lane)) : 0
  if (parked > 0) await scripts(redis)('due', [keys.schedule], [lane])
  return parked + (await emptyRefused(redis, lane, (record) => placeKnown(place, record) ?? lane))
}

/** Has every parked lane tried again at once. */
export async function releaseParked(redis: Redis): Promise<void> {
  const run = scripts(redis)
  for (const lane of await redis.hkeys(keys.parked)) await run('due', [keys.schedule], [lane])
}

/** Deletes parked and refused records of lanes, counted. Answers how many there were. */
export function discardAll(redis: Redis, lanes: readonly string[]): Promise<number> {
  return sumOver(lanes, (lane) => discard(redis, lane))
}

/** Deletes a lane's parked and refused records, counted. Answers how many there were. */
export async function discard(redis: Redis, lane: string): Promise<number> {
  let discarded = await emptyRefused(redis, lane, () => undefined)
  const token = (await redis.hexists(keys.parked, lane)) === 1 ? await seize(redis, lane) : undefined
  if (token === undefined) return discarded
  for (;;) {
    const entries = await redis.lrangeBuffer(keys.lane(lane), 0, SLICE - 1)
    const counters = [['discarded:deleted', entries.length] as const]
    const where = { list: keys.lane(lane), index: keys.schedule, name: lane, token }
    const what = { ...where, entries: [...entries.entries()], parts: [], counters }
    if (entries.length === 0 || !(await move(redis, UNBOUNDED, what))) return discarded
    discarded += entries.length
  }
}

/** Leases a lane to nobody's worker, once the one that probes it now has ended; undefined where it is not there any more. */
async function seize(redis: Redis, lane: string): Promise<string | undefined> {
  for (let tries = 0; tries < SEIZE_TRIES; tries++) {
    const token = (await scripts(redis)('seize', [keys.schedule], [lane, SEIZE_MS])) as Buffer | null
    if (token) return token.toString()
    if ((await redis.zscore(keys.schedule, lane)) === null) return undefined
    await sleep(SEIZE_AGAIN_MS)
  }
  return undefined
}

/**
 * Moves what waits in a leased lane to the lanes where it belongs by now. Answers whether the rest of it may be pushed: not
 * where nothing is left, or where it could not be finished.
 */
export async function relocate(redis: Redis, lease: Lease, place: Place): Promise<boolean> {
  const { lane } = lease
  for (let from = 0; ; ) {
    const entries = await redis.lrangeBuffer(keys.lane(lane), from, from + SLICE - 1)
    if (entries.length === 0) return from > 0
    const moved = entries.flatMap((record, index) => {
      const to = placeKnown(place, record)
      return to === undefined || to === lane ? [] : [{ to, record, position: from + index }]
    })
    const what = {
      list: keys.lane(lane),
      index: keys.schedule,
      name: lane,
      token: lease.token,
      entries: moved.map(({ position, record }) => [position, record] as const),
      parts: moved.map(({ to, record }) => ({ lane: to, device: deviceOf(record), records: record })),
      counters: [],
    }
    if (moved.length > 0 && !(await move(redis, UNBOUNDED, what))) return false
    from += entries.length - moved.length
  }
}

/** What was stored once is not looked up again, and nothing of it is held. */
const UNBOUNDED: AppenderOptions = {
  maxWaitMs: 0,
  seen: null,
  hold: { maxFixesPerDevice: 0, maxUnknownDevices: 0 },
}

function placeKnown(place: Place, record: Buffer): string | undefined {
  const to = place(record)
  return to === NOT_CURRENT ? undefined : to
}

async function emptyRefused(
  redis: Redis,
  lane: string,
  place: (record: Buffer) => string | undefined,
): Promise<number> {
  let released = 0
  for (;;) {
    const entries = await redis.lrangeBuffer(keys.refused(lane), 0, SLICE - 1)
    if (entries.length === 0) return released
    const found = entries.flatMap((entry) => [...records(entry.subarray(4 + entry.readUInt32BE(0)))])
    const parts = found.flatMap((record): Part[] => {
      const to = place(record)
      return to === undefined ? [] : [{ lane: to, device: deviceOf(record), records: record }]
    })
    const gone = found.length - parts.length
    const what = {
      list: keys.refused(lane),
      index: keys.refusedLanes,
      name: lane,
      entries: [...entries.entries()],
      parts,
      counters: gone > 0 ? [['discarded:deleted', gone] as const] : [],
    }
    if (await move(redis, UNBOUNDED, what)) released += found.length
  }
}

function refusedLanes(redis: Redis): Promise<string[]> {
  return redis.zrange(keys.refusedLanes, '0', '-1')
}

/** The sum of what each lane answers, some lanes side by side. */
async function sumOver(lanes: readonly string[], each: (lane: string) => Promise<number>): Promise<number> {
  let sum = 0
  for (let at = 0; at < lanes.length; at += AT_ONCE)
    for (const number of await Promise.all(lanes.slice(at, at + AT_ONCE).map(each))) sum += number
  return sum
}

const SEIZE_MS = 15_000
const SEIZE_AGAIN_MS = 200
const SEIZE_TRIES = 40
/** Entries read in one call. */
const SLICE = 200
/** Lanes side by side. */
const AT_ONCE = 50
