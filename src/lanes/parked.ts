import { keys } from './keys.ts'
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

/** The lanes that are parked whole, and those that have refused records. */
export async function parkedLanes(redis: Redis): Promise<Set<string>> {
  return new Set([...(await redis.hkeys(keys.parked)), ...(await redis.smembers(keys.refusedLanes))])
}

/** What was refused of a lane, oldest first. */
export async function refusedOf(redis: Redis, lane: string): Promise<Refused[]> {
  const run = scripts(redis)
  const refused: Refused[] = []
  for (let first = 0; ; first += SLICE) {
    const headers = (await run('refused', [keys.refused(lane)], [first, first + SLICE - 1])) as Buffer[]
    refused.push(...headers.map((header) => JSON.parse(header.toString()) as Refused))
    if (headers.length < SLICE) return refused
  }
}

/** What was refused of each lane that has refused records. */
export async function* surveyRefused(redis: Redis): AsyncGenerator<{ lane: string; refused: Refused[] }> {
  for (const some of slices(await redis.smembers(keys.refusedLanes))) {
    const refused = await Promise.all(some.map((lane) => refusedOf(redis, lane)))
    yield* some.map((lane, index) => ({ lane, refused: refused[index] }))
  }
}

/** Has parked and refused records of lanes tried again. Answers how many there are. */
export async function releaseAll(redis: Redis, lanes: readonly string[]): Promise<number> {
  let released = 0
  for (const some of slices(lanes))
    for (const count of await Promise.all(some.map((lane) => release(redis, lane)))) released += count
  return released
}

/** Has a lane's parked and refused records tried again. Answers how many there are. */
export async function release(redis: Redis, lane: string): Promise<number> {
  const { schedule, refusedLanes, parked } = keys
  const touched = [schedule, keys.lane(lane), keys.refused(lane), refusedLanes, parked]
  return (await scripts(redis)('release', touched, [lane])) as number
}

function* slices(lanes: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < lanes.length; at += AT_ONCE) yield lanes.slice(at, at + AT_ONCE)
}

/** Entries read in one call: each has the records of a whole batch. */
const SLICE = 50
/** Lanes side by side. */
const AT_ONCE = 50
