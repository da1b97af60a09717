import { keys } from './keys.ts'
import { receivedAt } from './record.ts'
import { type Redis, scripts } from './redis.ts'

/** A lane that has something stored, as operations see it. Instants in ms UTC. */
export interface LaneState {
  readonly lane: string
  readonly waiting: number
  readonly oldestAt?: number
  readonly lastPush?: { readonly at: number; readonly status: string; readonly failures: number }
  readonly parked?: Parked
}

/** Why a lane is parked whole. */
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

/** Every lane with records, in slices of some hundred, counted from what is stored. */
export async function* surveyLanes(redis: Redis): AsyncGenerator<LaneState> {
  const run = scripts(redis)
  const seen = new Set<string>()
  for await (const slice of redis.zscanStream(keys.schedule, { count: 500 })) {
    const lanes = (slice as string[]).filter((_, index) => index % 2 === 0).filter((lane) => !seen.has(lane))
    lanes.forEach((lane) => seen.add(lane))
    const counts = (await run('count', [keys.lanePrefix, keys.pushPrefix, keys.parked], lanes)) as Counted[]
    for (const [index, lane] of lanes.entries()) yield laneState(lane, counts[index])
  }
}

/** What was refused of each lane that has refused records. */
export async function* surveyRefused(redis: Redis): AsyncGenerator<{ lane: string; refused: Refused[] }> {
  for (const lane of await redis.smembers(keys.refusedLanes)) {
    const entries = await redis.lrangeBuffer(keys.refused(lane), 0, -1)
    yield { lane, refused: entries.map(refusedHeader) }
  }
}

/** Has a lane's parked and refused records tried again. Answers how many there are. */
export async function release(redis: Redis, lane: string): Promise<number> {
  const { schedule, refusedLanes, parked } = keys
  const touched = [schedule, keys.lane(lane), keys.refused(lane), refusedLanes, parked]
  return (await scripts(redis)('release', touched, [lane])) as number
}

/** The custody account's counters: `received`, `delivered`, `filtered:<reason>` … */
export async function custodyCounters(redis: Redis): Promise<Map<string, number>> {
  return new Map(Object.entries(await redis.hgetall(keys.custody)).map(([name, value]) => [name, Number(value)]))
}

type Counted = [number, Buffer, Buffer, Buffer]

function laneState(lane: string, [waiting, head, push, parked]: Counted): LaneState {
  const [at, status, failures] = push.toString().split(':')
  return {
    lane,
    waiting,
    oldestAt: head.length > 0 ? receivedAt(head) : undefined,
    lastPush: push.length > 0 ? { at: Number(at), status, failures: Number(failures) } : undefined,
    parked: parked.length > 0 ? (JSON.parse(parked.toString()) as Parked) : undefined,
  }
}

function refusedHeader(entry: Buffer): Refused {
  return JSON.parse(entry.toString('utf8', 4, 4 + entry.readUInt32BE(0))) as Refused
}
