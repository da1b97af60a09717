import pLimit from 'p-limit'
import { receivedAt } from './record.ts'
import { fieldsOf, membersOf } from './slices.ts'
import type { Shard, Store } from './shards.ts'

/** A lane as operations see it: its parts in all shards as one. Instants in ms UTC. */
export interface LaneState {
  readonly lane: string
  readonly waiting: number
  readonly oldestAt?: number
  /** `status`: the HTTP status, or what went wrong if there was no answer. */
  readonly lastPush?: { readonly at: number; readonly status: string; readonly failures: number }
  readonly parked?: ParkedState
}

/** `fixes`: number of waiting ones; `nextTryAt`: absent during a try. */
interface ParkedState extends Parked {
  readonly fixes: number
  readonly nextTryAt?: number
}

/** Why something is not delivered, in the words of the service; status 0: a reason of waybridge. */
export interface RefusalReason {
  readonly status: number
  readonly message: string
}

/** Why a lane is parked whole. Instants in ms UTC. */
export interface Parked extends RefusalReason {
  /** Identifies the refused request; unknown for a lane that an earlier version has parked. */
  readonly trace?: { readonly requestId: string; readonly traceparent: string }
  readonly tries: number
  readonly at: number
  readonly since: number
}

/** One answer of the service that refused records. */
export interface Refused extends RefusalReason {
  readonly at: number
  readonly count: number
}

/** The custody account's counters: `received`, `delivered`, `filtered:<reason>` … */
export async function custodyCounters(redis: Store): Promise<Map<string, number>> {
  const sums = new Map<string, number>()
  for (const counters of await redis.inShards((shard) => shard.hgetall(shard.keyNames.custody)))
    for (const [name, value] of Object.entries(counters)) sums.set(name, (sums.get(name) ?? 0) + Number(value))
  return sums
}

/** The number of fixes that wait in a lane, or in its part in a shard, and since when, ms UTC. */
export interface LaneCount extends Pick<LaneState, 'lane' | 'waiting' | 'oldestAt'> {}

/** Yields every part of a lane with records, in slices of some dozen, counted from the stored lists. */
export async function* countLanes(redis: Store): AsyncGenerator<(LaneCount & { readonly isParked: boolean })[]> {
  for (const shard of redis.shards) {
    const known = new Set<string>()
    const { schedule, lanePrefix, parked, ahead } = shard.keyNames
    let slice = '0'
    do {
      const answer = await shard.run('count_lanes', [schedule, lanePrefix, parked, ahead], [slice])
      const [next, lanes, counts] = answer as [Buffer, Buffer, Buffer]
      const names = lanes.toString().split('\n')
      yield names.flatMap((lane, at) => {
        const count = counts.subarray(at * COUNT_BYTES, (at + 1) * COUNT_BYTES)
        if (known.has(lane) || count.length === 0 || count.readUInt32BE() === 0) return []
        known.add(lane)
        const oldest = count.subarray(5)
        return { lane, waiting: count.readUInt32BE(), isParked: count[4] === 1, oldestAt: receivedAt(oldest) }
      })
      slice = next.toString()
    } while (slice !== '0')
  }
}

/** Resolves to the state of lanes, in order. `shards`: whose parts of them count; all, unless the question is about a device. */
export async function describeLanes(
  redis: Store,
  lanes: readonly string[],
  shards = redis.shards,
): Promise<LaneState[]> {
  const [first, ...ofOthers] = await Promise.all(shards.map((shard) => describeIn(shard, lanes)))
  return first.map((state, index) => ofOthers.map((states) => states[index]).reduce(joinParts, state))
}

/** Two parts of a lane as one. */
function joinParts(one: LaneState, other: LaneState): LaneState {
  const { lane } = one
  const waiting = one.waiting + other.waiting
  const oldestAt = earlier(one.oldestAt, other.oldestAt)
  const lastPush = (one.lastPush?.at ?? 0) < (other.lastPush?.at ?? 0) ? other.lastPush : one.lastPush
  return { lane, waiting, oldestAt, lastPush, parked: joinParked(one.parked, other.parked) }
}

function joinParked(one?: ParkedState, other?: ParkedState): ParkedState | undefined {
  if (!one || !other) return one ?? other
  const nextTryAt = earlier(one.nextTryAt, other.nextTryAt)
  return { ...joinReasons(one, other), fixes: one.fixes + other.fixes, nextTryAt }
}

/** The latest answer counts. */
function joinReasons<Of extends Parked>(one: Of, other: Of): Of {
  return { ...(one.at < other.at ? other : one), since: Math.min(one.since, other.since) }
}

/** Returns the earlier of two instants, if there is one. */
export function earlier(one = Infinity, other = Infinity): number | undefined {
  const first = Math.min(one, other)
  return first === Infinity ? undefined : first
}

async function describeIn(shard: Shard, lanes: readonly string[]): Promise<LaneState[]> {
  const keys = shard.keyNames
  const touched = [keys.schedule, keys.lanePrefix, keys.pushesPrefix, keys.parked, keys.ahead]
  const states: Buffer[] = []
  // 1,000 in one call would hold everybody else up for 8 ms.
  for (let at = 0; at < lanes.length; at += LANES)
    states.push(...((await shard.run('survey', touched, lanes.slice(at, at + LANES))) as Buffer[]))
  return states.map((state, index) => stateOf(lanes[index], state))
}

function stateOf(lane: string, state: Buffer): LaneState {
  const [records, push, due, parked] = state.toString('utf8', HEAD_BYTES).split('\n')
  const [at, status, failures] = push.split(':')
  const nextTryAt = due === '' ? undefined : Number(due)
  return {
    lane,
    waiting: Number(records),
    oldestAt: records === '0' ? undefined : receivedAt(state),
    lastPush: push === '' ? undefined : { at: Number(at), status, failures: Number(failures) },
    parked: parked === '' ? undefined : { ...(JSON.parse(parked) as Parked), fixes: Number(records), nextTryAt },
  }
}

/** Resolves to the number of lanes of a shard that are due for longer than `ms`, or whose lease ended so long ago. */
export async function countOverdue(shard: Shard, ms: number): Promise<number> {
  const { clock, schedule } = shard.keyNames
  const [[seconds], renewedAt] = await Promise.all([shard.time(), shard.hget(clock, 'renewed_at')])
  // Until then, leases that have ended are left to their holders.
  if (seconds * 1000 < Number(renewedAt)) return 0
  return shard.zcount(schedule, '-inf', seconds * 1000 - ms)
}

/** The lanes that are parked whole, and those that have refused records. */
export async function parkedLanes(redis: Store): Promise<Set<string>> {
  const found = await redis.inShards(async (shard) => {
    const { parked, refusedLanes } = shard.keyNames
    return [...(await fieldsOf(shard, parked)).keys(), ...(await membersOf(shard, refusedLanes))]
  })
  return new Set(found.flat())
}

/** How many records are parked: refused ones, and those of lanes that are parked whole. */
export async function countParked(redis: Store): Promise<number> {
  return (await parkedByLane(redis)).values().reduce((sum, count) => sum + count, 0)
}

/** The same for each lane with such records. */
export async function parkedByLane(redis: Store): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const shard of redis.shards) {
    const keys = shard.keyNames
    const count = async (lanes: Iterable<string>, keyOf: (lane: string) => string) => {
      await pLimit(AT_ONCE).map(lanes, async (lane) => {
        counts.set(lane, (await shard.llen(keyOf(lane))) + (counts.get(lane) ?? 0))
      })
    }
    await count(await membersOf(shard, keys.refusedLanes), keys.refused)
    await count((await fieldsOf(shard, keys.parked)).keys(), keys.lane)
  }
  return counts
}

/** Yields the refused records of a lane, oldest first in each shard, read in slices: there may be a million entries. */
export async function* surveyRefused(redis: Store, lane: string, shards = redis.shards): AsyncGenerator<Refused> {
  for (const shard of shards)
    for (let first = 0, length = SLICE; length === SLICE; first += SLICE) {
      const entries = await shard.lrangeBuffer(shard.keyNames.refused(lane), first, first + SLICE - 1)
      for (const entry of entries) yield JSON.parse(entry.toString('utf8', 4, 4 + entry.readUInt32BE(0))) as Refused
      length = entries.length
    }
}

/** Bytes of the marks of duplicates. */
export async function countMarkBytes(redis: Store): Promise<number> {
  const bytes = await redis.inShards((shard) => shard.hget(shard.keyNames.markBytes, ''))
  return bytes.reduce((sum, each) => sum + Number(each ?? 0), 0)
}

/** The lanes that are parked whole, and why. */
export async function parkedWhole(redis: Store): Promise<(Parked & { readonly lane: string })[]> {
  const found = new Map<string, Parked>()
  for (const fields of await redis.inShards((shard) => fieldsOf(shard, shard.keyNames.parked)))
    for (const [lane, json] of fields) {
      const [parked, other] = [JSON.parse(json) as Parked, found.get(lane)]
      found.set(lane, other ? joinReasons(parked, other) : parked)
    }
  return Array.from(found, ([lane, parked]) => ({ lane, ...parked }))
}

/** The sum of what `each` returns for all items, such as lanes; some calls run side by side. */
export async function sumOver<Item>(items: readonly Item[], each: (item: Item) => Promise<number>): Promise<number> {
  const counts = await pLimit(AT_ONCE).map(items, each)
  return counts.reduce((sum, count) => sum + count, 0)
}

/** The bytes of a lane's count. */
const COUNT_BYTES = 12
/** The first bytes of a record, with its time of arrival. */
const HEAD_BYTES = 7
/** Entries read in one call. */
const SLICE = 200
/** Lanes described in one call. */
const LANES = 50
/** Lanes side by side. */
const AT_ONCE = 50
