import { hash } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { everySecond } from '../async.ts'
import { type Observation, observations } from '../observe/observations.ts'
import { FORMAT, noteFormat } from './format.ts'
import { keys } from './keys.ts'
import type { Redis } from '../redis/connection.ts'
import type { Store } from './shards.ts'

/** Identity of a process. Instants in ms UTC. */
export interface ProcessIdentity {
  readonly role: 'gateway' | 'worker' | 'admin' | 'tracking'
  /**
   * The data folder of the `start` that runs the process: a process that is started again replaces the one before it.
   */
  readonly installation: string
  /** The number of the process among those of its role; undefined: it runs on its own. */
  readonly slot?: number
  /** When it was started again within the last ten minutes. */
  readonly restartsAt?: readonly number[]
  /** How often it was started again. */
  readonly restarts?: number
}

/** A process as the others see it. `Figures`: those of its role. */
interface ProcessSign extends Omit<ProcessIdentity, 'installation' | 'slot'> {
  readonly pid: number
  readonly host: string
  readonly sinceAt: number
  /** The newest format of the data that it knows. */
  readonly format?: number
  readonly figures?: Readonly<Record<string, unknown>>
}

/** `ageMs`: how long ago it gave its last sign, by the clock of Redis alone. */
export interface SeenProcess extends ProcessSign {
  readonly ageMs: number
}

interface StoredSign extends ProcessSign {
  readonly observations: readonly Observation[]
}

/**
 * Signs once a second: reports that this process lives, its observations, and its figures. If Redis cannot be written now, it
 * retries later.
 */
export function signOn(
  redis: Store,
  { installation, slot, role, restarts, restartsAt }: ProcessIdentity,
  figures: () => Promise<object> | object = () => ({}),
): { stop(): Promise<void> } {
  const id = processId({ installation, slot, role })
  const own = { role, pid: process.pid, host: hostname(), sinceAt: Date.now(), restarts, restartsAt, format: FORMAT }
  const key = keys.process(id)

  /** While Redis' memory is full it accepts no new sign, but prolongs the last one. */
  async function sign(): Promise<void> {
    const stored = { ...own, figures: await figures(), observations: observations.current() }
    await redis
      .run('sign', SIGN_KEYS, [id, FORMAT, JSON.stringify(stored), KEPT_MS])
      .then((format) => noteFormat(redis, format as number))
      .catch(() => redis.pexpire(key, KEPT_MS))
      .catch(() => {})
  }

  const signs = everySecond({ sign })
  return {
    /** Deletes the sign of life: a process that ends normally must not be reported as missing. */
    async stop() {
      await signs.stop()
      await Promise.all([redis.del(key), redis.srem(keys.processIds, id)]).catch(() => {})
    },
  }
}

/** Names a process. One that takes the place of another has its name. */
export function processId({ installation, slot, role }: ProcessIdentity): string {
  const which = slot ?? `pid ${process.pid}`
  return hash('sha256', [hostname(), resolve(installation), role, which].join('\n')).slice(0, 24)
}

/** Resolves to all processes that gave a sign of life within ten minutes, and the observations of the live ones. */
export async function readProcesses(redis: Redis) {
  const ids = await redis.smembers(keys.processIds)
  const reads = redis.pipeline()
  for (const id of ids) reads.get(keys.process(id)).pttl(keys.process(id))
  const answers = (ids.length > 0 ? await reads.exec() : null) ?? []
  const processes: SeenProcess[] = []
  const observed: Observation[] = []
  const gone: string[] = []
  for (const [index, id] of ids.entries()) {
    const [[, text], [, left]] = answers.slice(index * 2) as [unknown, string | number | null][]
    if (typeof text !== 'string') gone.push(id)
    else {
      const { observations: own, ...sign } = JSON.parse(text) as StoredSign
      const ageMs = Math.max(0, KEPT_MS - Number(left))
      processes.push({ ...sign, ageMs })
      if (ageMs < OBSERVED_MS) observed.push(...own)
    }
  }
  if (gone.length > 0) await redis.srem(keys.processIds, ...gone)
  return { processes, observations: observed }
}

/**
 * Resolves to those of these processes that are silent: their last sign of life is 5 s older than that of the process `own`,
 * by Redis' clock, or they have ended. While Redis was away no process could sign, so none is silent.
 */
export async function silentProcesses(redis: Redis, own: string, others: readonly string[]): Promise<string[]> {
  const [left, ...leftOfOthers] = await Promise.all([own, ...others].map((id) => redis.pttl(keys.process(id))))
  return left < 0 ? [] : others.filter((_, index) => left - leftOfOthers[index] > OBSERVED_MS)
}

const SIGN_KEYS = [keys.format, keys.processIds, keys.process('')]
/** A process that was killed and not started again is forgotten after that. */
const KEPT_MS = 600_000
/** After this silence, the observations and connections of a process no longer count. */
const OBSERVED_MS = 5000
