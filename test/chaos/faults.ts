import { appendFileSync, closeSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parentOf, pidsIn, pidsWhere, signal as sendSignal, untilSo } from '../support/processes.ts'
import type { Mood } from './api.ts'
import type { ProcessClock } from './clock.ts'
import type { groupFaults } from './group-faults.ts'
import type { Fault } from './plan.ts'
import { nextChange } from './season.ts'
import { MAX_MEMORY, type Site } from './site.ts'
import { PROCESSES, type System } from './system.ts'
import type { UpstreamApi } from './upstream.ts'
import type { Weather } from './wire.ts'

/** What faults can be done to. */
export interface Victims {
  /** Where Redis has replicas. */
  readonly group?: ReturnType<typeof groupFaults>
  readonly say?: (line: string) => void
  readonly site: Site
  readonly system: System
  readonly api: UpstreamApi
  readonly weather: Weather
}

/**
 * Does a fault and undoes it when its time is over, or at the signal. Answers whether there was somebody to do it to, within a
 * few seconds: they may be suffering from another one.
 */
export async function commit({ lastsMs, ...fault }: Fault, victims: Victims, signal: AbortSignal): Promise<boolean> {
  const { group, say } = victims
  const suffer = () => pause(lastsMs, undefined, { signal }).catch(() => {})
  if (group?.has(fault.kind)) {
    const healed = await group.commit(fault, suffer).catch(() => undefined)
    if (healed)
      say?.(
        `${fault.kind}: in step after ${seconds(healed.inStepMs)}, first acknowledged after ${seconds(healed.firstMs)}, all after ${seconds(healed.recoveredMs)}`,
      )
    return healed !== undefined
  }
  const [verb] = fault.kind.split('-')
  let undo: (() => unknown) | undefined
  const attempt = async () => {
    undo = await DEEDS[verb](fault, victims).catch(() => undefined)
    return undo !== undefined || signal.aborted
  }
  await untilSo(attempt, { withinMs: VICTIM_MS })
  if (undo) await suffer()
  await undo?.()
  return undo !== undefined
}

/** Undoes whatever has not been undone, since those whom it concerned did not answer. */
export async function heal({ system, api, weather, site, group }: Victims): Promise<void> {
  site.clock?.setAhead(0)
  api.become('ok')
  weather.mood = 'good'
  rmSync(join(site.dataDir, FILLING), { force: true })
  group?.heal()
  goOn(system)
  await giveMemory(system, HEAL_MS)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

type Deed = Pick<Fault, 'at' | 'kind' | 'pick'>

/** By the first word of a fault's kind. Answers what undoes it; rejects where there is nobody to do it to. */
const DEEDS: Readonly<Record<string, (what: Deed, victims: Victims) => Promise<() => unknown>>> = {
  async kill({ kind, pick }, { system }) {
    const who = secondOf(kind)
    send('SIGKILL', [one(system.pidsOf(who), pick)])
    if (who === 'supervisor') goOn(system)
    return () => {}
  },

  stop: suspend,
  stall: suspend,

  /** As a machine that loses its power in the middle of a write, one that nobody was told of. */
  async torn(_deed, { system, site }) {
    // One that answers has read its file to the end, and cut off what was torn before.
    await system.redis((redis) => redis.ping())
    const supervisors = system.pidsOf('supervisor')
    if (supervisors.length < (site.sharedRedis ? 2 : 1)) throw new Error('somebody is being started again')
    send('SIGKILL', supervisors)
    goOn(system)
    if (await isGone(join(site.dataDir, 'redis'))) tear(join(site.dataDir, 'redis/appendonlydir'))
    return () => {}
  },

  async memory(_deed, { system }) {
    await system.redis(async (redis) => {
      const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])
      await redis.config('SET', 'maxmemory', used + SPARE_BYTES)
    })
    return () => giveMemory(system, 0)
  },

  async disk(_deed, { site }) {
    if (!site.ownDisk) throw new Error('the data has no disk of its own')
    const file = join(site.dataDir, FILLING)
    fill(file)
    return () => rmSync(file, { force: true })
  },

  async api({ kind }, { api }) {
    api.become(secondOf(kind) as Mood)
    return () => api.become('ok')
  },

  async cut(_deed, { weather }) {
    weather.mood = 'cut'
    return () => (weather.mood = 'good')
  },

  async lose(_deed, { weather }) {
    weather.mood = 'deaf'
    return () => (weather.mood = 'good')
  },

  async clock({ kind }, { system, site }) {
    if (!site.clock) throw new Error('there is no C compiler')
    return CLOCK_DEEDS[secondOf(kind)](site.clock, system)
  },

  /** Waits for it: not if it was before the first fault, nor if this run is at another time. */
  async dst({ at, kind }) {
    const leftMs = nextChange(kind, Date.now() - at) - Date.now()
    if (leftMs > SEASON_MS) throw new Error('this run is not at the time when it happens')
    await pause(Math.max(0, leftMs))
    return () => {}
  },
}

/** What happens to a clock, by the second word of a fault's kind. Answers what sets it right. */
const CLOCK_DEEDS: Readonly<Record<string, (clock: ProcessClock, system: System) => () => unknown>> = {
  ahead: (clock) => jump(clock, HOUR_MS),
  behind: (clock) => jump(clock, -HOUR_MS),

  slewed(clock) {
    const slewing = setInterval(() => clock.setAhead(clock.aheadMs + SLEW_MS), SLEW_EVERY_MS)
    return async () => {
      clearInterval(slewing)
      for (; clock.aheadMs > 0; await pause(SLEW_EVERY_MS)) clock.setAhead(Math.max(0, clock.aheadMs - SLEW_MS))
    }
  },

  suspended(clock, system) {
    for (const who of PROCESSES) send('SIGSTOP', system.pidsOf(who))
    return async () => {
      const setRight = jump(clock, HOUR_MS)
      goOn(system)
      await pause(SET_RIGHT_MS)
      setRight()
    }
  },
}

function jump(clock: ProcessClock, ms: number): () => void {
  clock.setAhead(ms)
  return () => clock.setAhead(0)
}

/** Not of a `start` that has died: the next one waits for its processes to end. */
async function suspend({ kind, pick }: Deed, { system }: Victims): Promise<() => void> {
  const pid = one(
    system.pidsOf(secondOf(kind)).filter((each) => parentOf(each) !== INIT),
    pick,
  )
  send('SIGSTOP', [pid])
  return () => send('SIGCONT', [pid])
}

/** Whoever is stopped; a new `start` waits until the processes of the one before have ended. */
function goOn(system: System): void {
  for (const who of PROCESSES) send('SIGCONT', system.pidsOf(who))
}

function secondOf(kind: string): string {
  return kind.split('-')[1]
}

function one(pids: readonly number[], pick: number): number {
  if (pids.length === 0) throw new Error('nobody there')
  return pids[pick % pids.length]
}

function send(name: NodeJS.Signals, pids: readonly number[]): void {
  for (const pid of pids) sendSignal(pid, name)
}

/** A Redis that was started anew has it again; one that does not answer is asked for so long. */
async function giveMemory(system: System, withinMs: number): Promise<void> {
  const give = () => system.redis(async (redis) => (await redis.config('SET', 'maxmemory', MAX_MEMORY)) === 'OK')
  await untilSo(give, { withinMs, everyMs: 100 })
}

/** Kills whatever is a Redis of a folder, or about to be one; a file that somebody still writes must not be torn. */
async function isGone(dir: string): Promise<boolean> {
  const deadline = Date.now() + GONE_MS
  const left = () => [...pidsIn(dir), ...pidsWhere((words) => words.some((word) => word.startsWith(dir)))]
  for (let pids = left(); pids.length > 0; pids = left()) {
    if (Date.now() > deadline) return false
    send('SIGKILL', pids)
    await pause(5)
  }
  return true
}

function fill(file: string): void {
  const descriptor = openSync(file, 'w')
  const block = Buffer.alloc(1 << 20)
  try {
    for (let size = block.length; size > 0; ) size = writeSync(descriptor, block, 0, size) === size ? size : size >> 1
  } catch (error) {
    unlessFull(error)
  } finally {
    closeSync(descriptor)
  }
}

/** On a full disk there is less of it. */
function tear(dir: string): void {
  const files = readdirSync(dir).filter((name) => name.endsWith('.incr.aof'))
  try {
    appendFileSync(join(dir, files.toSorted(byNumber).at(-1) as string), TORN_COMMAND)
  } catch (error) {
    unlessFull(error)
  }
}

function unlessFull(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
}

/** `appendonly.aof.12.incr.aof` */
function byNumber(a: string, b: string): number {
  return Number(a.split('.')[2]) - Number(b.split('.')[2])
}

const TORN_COMMAND = '*3\r\n$5\r\nRPUSH\r\n$19\r\n{wb0}:lane:1/1/1001\r\n$400\r\nnever acknowl'
/** Takes over the processes whose parent has died. */
const INIT = 1
const HOUR_MS = 3_600_000
/** Much faster than NTP, which changes a clock by half a millisecond a second. */
const SLEW_MS = 10
const SLEW_EVERY_MS = 100
/** After a machine was suspended. */
const SET_RIGHT_MS = 3000
/** How much later than in the middle of a run, which begins once all is ready. */
const SEASON_MS = 30_000
const FILLING = 'filling'
const SPARE_BYTES = 16 * 1024
const VICTIM_MS = 5000
/** Before the next `start` looks for it. */
const GONE_MS = 250
const HEAL_MS = 30_000
