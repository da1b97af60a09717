import { keys } from './keys.ts'
import { type Redis, scripts } from './redis.ts'

/**
 * What the roster consists of: devices by id; puts of lines by their time, a space and how many lines they have; when files
 * were written.
 */
export type RosterPart = 'devices' | 'routes' | 'files'

/** Something that was written, and when, ms UTC by Redis' clock. */
export interface Written {
  readonly at: number
  /** '' where only the time counts; `gone` and since when, where it counts no more. */
  readonly text: string
}

/** The roster as it is at one time; of puts only their fields. */
export interface StoredRoster {
  readonly at: number
  readonly devices: ReadonlyMap<string, Written>
  readonly files: ReadonlyMap<string, Written>
  readonly routes: readonly string[]
}

/** When the roster was last written, ms UTC; 0: never. */
export async function rosterWrittenAt(redis: Redis): Promise<number> {
  return Number((await redis.get(keys.roster('at'))) ?? 0)
}

/** Reads the roster; what a field of a put has never changes, and may be large. */
export async function readRoster(redis: Redis): Promise<StoredRoster> {
  const names = (['at', 'devices', 'files', 'routes'] as const).map(keys.roster)
  const answer = (await scripts(redis)('recall', names, [])) as [Buffer | null, Buffer[], Buffer[], Buffer[]]
  const [at, devices, files, routes] = answer
  return { at: Number(at ?? 0), devices: writtenIn(devices), files: writtenIn(files), routes: routes.map(String) }
}

/** Puts, by their fields; undefined where one of them is not there any more. */
export async function readRosterRoutes(redis: Redis, fields: readonly string[]): Promise<Written[] | undefined> {
  if (fields.length === 0) return []
  const values = await redis.hmget(keys.roster('routes'), ...fields)
  return values.includes(null) ? undefined : values.map((value) => written(value as string))
}

/** What is written to a part. */
export interface RosterWrite {
  readonly set: readonly (readonly [field: string, text: string])[]
  readonly drop?: readonly string[]
  /** The time of the last write that its author knows of: where there was another since, nothing is written. */
  readonly asOf?: number
}

/**
 * Sets and drops fields of a part in one step. In front of one that begins with a space stands the time of the write. One
 * with the text '' keeps its time where it is there already, until it is set to 'gone'; before that it is not dropped. Redis
 * does nothing else meanwhile: some 50,000 fields at once are enough.
 * @returns the time of the write, ms UTC; where nothing has changed, that of the last one; null where there was another one
 * since `asOf`
 */
export async function writeRoster(
  redis: Redis,
  part: RosterPart,
  { set, drop = [], asOf }: RosterWrite,
): Promise<number | null> {
  const fields = [set.length, asOf ?? '', ...set.flat(), ...drop]
  const at = await scripts(redis)('roster', [keys.roster('at'), keys.roster(part)], fields)
  return at === null ? null : Number(at)
}

/** Notes as of which write the roster is in effect at a gateway process. */
export async function noteApplied(redis: Redis, gateway: string, at: number): Promise<void> {
  await redis.hset(keys.roster('applied'), gateway, at)
}

function writtenIn(hash: readonly Buffer[]): Map<string, Written> {
  const texts = hash.map(String)
  const fields = texts.filter((_, index) => index % 2 === 0)
  return new Map(fields.map((field, index) => [field, written(texts[2 * index + 1])]))
}

function written(value: string): Written {
  const space = value.indexOf(' ')
  return space === -1
    ? { at: Number(value), text: '' }
    : { at: Number(value.slice(0, space)), text: value.slice(space + 1) }
}
