import pLimit from 'p-limit'
import { keys } from './keys.ts'
import { receivedAt } from './record.ts'
import { type Redis, scripts } from './redis.ts'

/** A lane as operations see it. Instants in ms UTC. */
export interface LaneState {
  readonly lane: string
  readonly waiting: number
  readonly oldestAt?: number
  /** `status`: of the answer, or what went wrong in place of one. */
  readonly lastPush?: { readonly at: number; readonly status: string; readonly failures: number }
  readonly parked?: Parked
  /** When it is pushed next; absent while it is being pushed. */
  readonly dueAt?: number
}

/** Why something is not delivered, as the service said it; status 0: our own reason. */
export interface RefusalReason {
  readonly status: number
  readonly message: string
}

/** Why a lane is parked whole. Instants in ms UTC. */
export interface Parked extends RefusalReason {
  readonly tries: number
  readonly at: number
  readonly since: number
}

/** One answer of the service under which records were refused. */
export interface Refused extends RefusalReason {
  readonly at: number
  readonly count: number
}

/** The custody account's counters: `received`, `delivered`, `filtered:<reason>` … */
export async function custodyCounters(redis: Redis): Promise<Map<string, number>> {
  return new Map(Object.entries(await redis.hgetall(keys.custody)).map(([name, value]) => [name, Number(value)]))
}

/** Every lane with records, in slices of some hundred, counted from what is stored. */
export async function* surveyLanes(redis: Redis): AsyncGenerator<LaneState[]> {
  const known = new Set<string>()
  for await (const slice of redis.zscanStream(keys.schedule, { count: 500 })) {
    const lanes = (slice as string[]).filter((_, index) => index % 2 === 0).filter((lane) => !known.has(lane))
    lanes.forEach((lane) => known.add(lane))
    yield (await describeLanes(redis, lanes)).filter(({ waiting }) => waiting > 0)
  }
}

/** The state of some hundred lanes at most, in their order. */
export async function describeLanes(redis: Redis, lanes: readonly string[]): Promise<LaneState[]> {
  const touched = [keys.schedule, keys.lane(''), keys.push(''), keys.parked, keys.ahead]
  const states = (await scripts(redis)('survey', touched, lanes)) as Buffer[]
  return states.map((state, index) => stateOf(lanes[index], state))
}

function stateOf(lane: string, state: Buffer): LaneState {
  const [records, push, due, parked] = state.toString('utf8', HEAD_BYTES).split('\n')
  const [at, status, failures] = push.split(':')
  return {
    lane,
    waiting: Number(records),
    oldestAt: records === '0' ? undefined : receivedAt(state),
    lastPush: push === '' ? undefined : { at: Number(at), status, failures: Number(failures) },
    parked: parked === '' ? undefined : (JSON.parse(parked) as Parked),
    dueAt: due === '' ? undefined : Number(due),
  }
}

/** How many lanes are due for longer than `ms`, or have a lease that ended before that. */
export async function countOverdue(redis: Redis, ms: number): Promise<number> {
  const [seconds] = await redis.time()
  return redis.zcount(keys.schedule, '-inf', seconds * 1000 - ms)
}

/** The lanes that are parked whole, and those that have refused records. */
export async function parkedLanes(redis: Redis): Promise<Set<string>> {
  return new Set([...(await redis.hkeys(keys.parked)), ...(await redis.zrange(keys.refusedLanes, '0', '-1'))])
}

/** How many records are parked: refused ones, and those of lanes that are parked whole. */
export async function countParked(redis: Redis): Promise<number> {
  return (await parkedByLane(redis)).values().reduce((sum, count) => sum + count, 0)
}

/** The same for each lane with such records. */
export async function parkedByLane(redis: Redis): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const count = async (lanes: readonly string[], keyOf: (lane: string) => string) => {
    await pLimit(AT_ONCE).map(lanes, async (lane) => {
      counts.set(lane, (await redis.llen(keyOf(lane))) + (counts.get(lane) ?? 0))
    })
  }
  await count(await redis.zrange(keys.refusedLanes, '0', '-1'), keys.refused)
  await count(await redis.hkeys(keys.parked), keys.lane)
  return counts
}

/** What was refused of a lane, oldest first, read in slices: there may be a million entries. */
export async function* surveyRefused(redis: Redis, lane: string): AsyncGenerator<Refused> {
  for (let first = 0; ; first += SLICE) {
    const entries = await redis.lrangeBuffer(keys.refused(lane), first, first + SLICE - 1)
    for (const entry of entries) yield JSON.parse(entry.toString('utf8', 4, 4 + entry.readUInt32BE(0))) as Refused
    if (entries.length < SLICE) return
  }
}

/** The sum of what each item, such as a lane, answers; some side by side. */
export async function sumOver<Item>(items: readonly Item[], each: (item: Item) => Promise<number>): Promise<number> {
  const counts = await pLimit(AT_ONCE).map(items, each)
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Of a record, until the time when it was received. */
const HEAD_BYTES = 7
/** Entries read in one call, or devices side by side. */
const SLICE = 200
/** Lanes side by side. */
const AT_ONCE = 50
