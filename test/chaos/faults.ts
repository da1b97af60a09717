import { appendFileSync, closeSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ProcessClock } from '../rig/clock.ts'
import type { Behaviour } from '../rig/journal-api.ts'
import { MAX_MEMORY, type Site } from '../rig/site.ts'
import type { UpstreamApi } from '../rig/upstream.ts'
import type { WireState } from '../rig/wire.ts'
import { parentOf, pidsIn, pidsWhere, signal as sendSignal, untilSo } from '../support/processes.ts'
import { nextChange } from './dst.ts'
import type { groupFaults } from './group-faults.ts'
import type { Fault } from './plan.ts'
import { PROCESSES, type System } from './system.ts'

/** What faults are injected into. */
export interface FaultTargets {
  /** Where Redis has replicas. */
  readonly group?: ReturnType<typeof groupFaults>
  readonly say?: (line: string) => void
  readonly site: Site
  readonly system: System
  readonly api: UpstreamApi
  readonly wireState: WireState
}

/**
 * Injects a fault, and undoes it when its time is over, or at the signal. Returns whether its target was there, within a few
 * seconds: another fault may have ended it.
 */
export async function injectFault(
  { lastsMs, ...fault }: Fault,
  targets: FaultTargets,
  signal: AbortSignal,
): Promise<boolean> {
  const { group, say } = targets
  const untilOver = () => pause(lastsMs, undefined, { signal }).catch(() => {})
  if (group?.has(fault.kind)) {
    const recovery = await group.inject(fault, untilOver).catch(() => undefined)
    if (recovery)
      say?.(
        `${fault.kind}: in step after ${seconds(recovery.inStepMs)}, first acknowledged after ${seconds(recovery.firstMs)}, all after ${seconds(recovery.recoveredMs)}`,
      )
    return recovery !== undefined
  }
  const [verb] = fault.kind.split('-')
  let undo: (() => unknown) | undefined
  const attempt = async () => {
    undo = await INJECTIONS[verb](fault, targets).catch(() => undefined)
    return undo !== undefined || signal.aborted
  }
  await untilSo(attempt, { withinMs: TARGET_MS })
  if (undo) await untilOver()
  await undo?.()
  return undo !== undefined
}

/** Undoes whatever has not been undone because its target did not answer. */
export async function undoAll({ system, api, wireState, site, group }: FaultTargets): Promise<void> {
  site.clock?.setAhead(0)
  api.behave('ok')
  wireState.mode = 'good'
  rmSync(join(site.dataDir, FILLING), { force: true })
  group?.undoAll()
  continueAll(system)
  await giveMemory(system, UNDO_MS)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

type FaultDetails = Pick<Fault, 'at' | 'kind' | 'pick'>

/** By the first word of a fault's kind. Returns what undoes it; rejects if the target is not there. */
const INJECTIONS: Readonly<Record<string, (what: FaultDetails, targets: FaultTargets) => Promise<() => unknown>>> = {
  async kill({ kind, pick }, { system }) {
    const who = secondOf(kind)
    send('SIGKILL', [one(system.pidsOf(who), pick)])
    if (who === 'supervisor') continueAll(system)
    return () => {}
  },

  stop: suspend,
  stall: suspend,

  /** Like a loss of power in the middle of a write that is not acknowledged. */
  async torn(_details, { system, site }) {
    // A Redis that answers has read its file to the end, and has cut off what was torn before.
    await system.redis((redis) => redis.ping())
    const supervisors = system.pidsOf('supervisor')
    if (supervisors.length < (site.sharedRedis ? 2 : 1)) throw new Error('a supervisor is being started again')
    send('SIGKILL', supervisors)
    continueAll(system)
    if (await isGone(join(site.dataDir, 'redis'))) tear(join(site.dataDir, 'redis/appendonlydir'))
    return () => {}
  },

  async memory(_details, { system }) {
    await system.redis(async (redis) => {
      const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])
      await redis.config('SET', 'maxmemory', used + SPARE_BYTES)
    })
    return () => giveMemory(system, 0)
  },

  async disk(_details, { site }) {
    if (!site.ownDisk) throw new Error('the data has no disk of its own')
    const file = join(site.dataDir, FILLING)
    fill(file)
    return () => rmSync(file, { force: true })
  },

  async api({ kind }, { api }) {
    api.behave(secondOf(kind) as Behaviour)
    return () => api.behave('ok')
  },

  async cut(_details, { wireState }) {
    wireState.mode = 'cut'
    return () => (wireState.mode = 'good')
  },

  async lose(_details, { wireState }) {
    wireState.mode = 'deaf'
    return () => (wireState.mode = 'good')
  },

  async clock({ kind }, { system, site }) {
    if (!site.clock) throw new Error('there is no C compiler')
    return CLOCK_INJECTIONS[secondOf(kind)](site.clock, system)
  },

  /** Waits until the clocks change; rejects if they changed before the first fault, or the run is at another time. */
  async dst({ at, kind }) {
    const leftMs = nextChange(kind, Date.now() - at) - Date.now()
    if (leftMs > DST_MS) throw new Error('this run is not at the time when it happens')
    await pause(Math.max(0, leftMs))
    return () => {}
  },
}

/** What happens to a clock, by the second word of a fault's kind. Returns what sets it right. */
const CLOCK_INJECTIONS: Readonly<Record<string, (clock: ProcessClock, system: System) => () => unknown>> = {
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
      continueAll(system)
      await pause(SET_RIGHT_MS)
      setRight()
    }
  },
}

function jump(clock: ProcessClock, ms: number): () => void {
  clock.setAhead(ms)
  return () => clock.setAhead(0)
}

/** Leaves out processes of a `start` that has ended: the next one waits until they end. */
async function suspend({ kind, pick }: FaultDetails, { system }: FaultTargets): Promise<() => void> {
  const pid = one(
    system.pidsOf(secondOf(kind)).filter((each) => parentOf(each) !== INIT),
    pick,
  )
  send('SIGSTOP', [pid])
  return () => send('SIGCONT', [pid])
}

/** Continues every process that is stopped: a new `start` waits until the processes of the one before have ended. */
function continueAll(system: System): void {
  for (const who of PROCESSES) send('SIGCONT', system.pidsOf(who))
}

function secondOf(kind: string): string {
  return kind.split('-')[1]
}

function one(pids: readonly number[], pick: number): number {
  if (pids.length === 0) throw new Error('there is no such process')
  return pids[pick % pids.length]
}

function send(name: NodeJS.Signals, pids: readonly number[]): void {
  for (const pid of pids) sendSignal(pid, name)
}

/** Sets the usual limit of memory; a Redis that does not answer is asked again for so long. */
async function giveMemory(system: System, withinMs: number): Promise<void> {
  const give = () => system.redis(async (redis) => (await redis.config('SET', 'maxmemory', MAX_MEMORY)) === 'OK')
  await untilSo(give, { withinMs, everyMs: 100 })
}

/** Kills every Redis of a folder, also one that is being started: a file must not be torn while it is written. */
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

/** Appends a part of a command; on a full disk less of it. */
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
/** NTP changes a clock by half a millisecond a second, which is much slower. */
const SLEW_MS = 10
const SLEW_EVERY_MS = 100
/** After a machine was suspended. */
const SET_RIGHT_MS = 3000
/** The longest wait: the run begins once all is ready. */
const DST_MS = 30_000
const FILLING = 'filling'
const SPARE_BYTES = 16 * 1024
const TARGET_MS = 5000
/** Before the next `start` looks for it. */
const GONE_MS = 250
const UNDO_MS = 30_000
