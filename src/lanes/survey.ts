import { keys } from './keys.ts'
import type { Parked } from './parked.ts'
import { receivedAt } from './record.ts'
import { type Redis, scripts } from './redis.ts'

/** A lane that has something stored, as operations see it. Instants in ms UTC. */
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

/** Every lane with records, in slices of some hundred, counted from what is stored. */
export async function* surveyLanes(redis: Redis): AsyncGenerator<LaneState> {
  const seen = new Set<string>()
  for await (const slice of redis.zscanStream(keys.schedule, { count: 200 })) {
    const lanes = (slice as string[]).filter((_, index) => index % 2 === 0).filter((lane) => !seen.has(lane))
    lanes.forEach((lane) => seen.add(lane))
    yield* (await describeLanes(redis, lanes)).filter(({ waiting }) => waiting > 0)
  }
}

/** The state of some hundred lanes at most, in their order. */
export async function describeLanes(redis: Redis, lanes: readonly string[]): Promise<LaneState[]> {
  const touched = [keys.lanePrefix, keys.pushPrefix, keys.parked, keys.schedule, keys.ahead]
  const counts = (await scripts(redis)('count', touched, [...lanes])) as Counted[]
  return counts.map((counted, index) => laneState(lanes[index], counted))
}

/** The custody account's counters: `received`, `delivered`, `filtered:<reason>` … */
export async function custodyCounters(redis: Redis): Promise<Map<string, number>> {
  return new Map(Object.entries(await redis.hgetall(keys.custody)).map(([name, value]) => [name, Number(value)]))
}

type Counted = [waiting: number, head: Buffer, push: Buffer, parked: Buffer, score: Buffer]

function laneState(lane: string, [waiting, head, push, parked, score]: Counted): LaneState {
  const [at, status, failures] = push.toString().split(':')
  const due = score.length > 0 ? Number(score) : NaN
  return {
    lane,
    waiting,
    oldestAt: head.length > 0 ? receivedAt(head) : undefined,
    lastPush: push.length > 0 ? { at: Number(at), status, failures: Number(failures) } : undefined,
    parked: parked.length > 0 ? (JSON.parse(parked.toString()) as Parked) : undefined,
    dueAt: Number.isInteger(due) ? due : undefined,
  }
}
