import { execFileSync } from 'node:child_process'
import { openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The clock of some processes: that of this process plus an offset. */
export interface ProcessClock {
  /** The environment of these processes. */
  readonly env: NodeJS.ProcessEnv
  /** How far it is ahead of that of this process, ms. */
  readonly aheadMs: number
  /** Every change of it, oldest first. */
  readonly steps: readonly ClockStep[]
  /** All processes see it at once; their monotonic clocks go on. */
  setAhead(ms: number): void
}

/** A change of a clock; `at`: ms UTC, by a clock that is right. */
export interface ClockStep {
  readonly at: number
  readonly fromMs: number
  readonly toMs: number
}

/** `dir`: for what it needs. Undefined if there is no C compiler, which makes the library that processes load. */
export function openClock(dir: string): ProcessClock | undefined {
  const [file, library] = [join(dir, 'clock'), join(dir, 'clock.so')]
  if (!compiled(library)) return undefined
  const ownAheadMs = ownAhead()
  writeFileSync(file, BigInt64Array.of(ownAheadMs))
  const descriptor = openSync(file, 'r+')
  const steps: ClockStep[] = []
  let aheadMs = 0
  return {
    env: { LD_PRELOAD: library, WAYBRIDGE_CLOCK: file },
    steps,
    get aheadMs() {
      return aheadMs
    },
    setAhead(ms) {
      if (ms === aheadMs) return
      steps.push({ at: Date.now(), fromMs: aheadMs, toMs: ms })
      aheadMs = ms
      // Eight bytes in one write: no process reads a half.
      writeSync(descriptor, BigInt64Array.of(ownAheadMs + BigInt(ms)), 0, 8, 0)
    },
  }
}

/** How far the clock of this process is ahead of that of the machine, ms: it may have been started with one of these clocks. */
function ownAhead(): bigint {
  const { WAYBRIDGE_CLOCK } = process.env
  return WAYBRIDGE_CLOCK ? readFileSync(WAYBRIDGE_CLOCK).readBigInt64LE() : 0n
}

/** libfaketime does not do: Redis' allocator asks for the time before it can. */
function compiled(library: string): boolean {
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, SOURCE], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** How the clocks of a run were changed. */
export interface ClockSteps {
  /** That of the product. */
  readonly steps: readonly ClockStep[]
  /** Those of its Redis servers; undefined if it shares that of the product. */
  readonly redisSteps?: readonly ClockStep[]
}

/** Whether a fix that came between two instants may seem to have waited too long: the gateway notes when it came, Redis measures the wait. */
export function seemsLate({ steps, redisSteps }: ClockSteps, from: number, until: number): boolean {
  const overlaps = (off: Period[]) => off.some(({ at, end }) => at <= until && from <= end)
  if (redisSteps) return overlaps(periods(steps, isBehind)) || overlaps(periods(redisSteps, isAhead))
  return steps.some(({ at, fromMs, toMs }) => isAhead(toMs - fromMs) && at >= from && at <= until)
}

/**
 * Until when a fix may be held because it seemed to be from the future, or came behind one that did: for a while after the clock was
 * set right. 0 if it was not behind between `from` and `until`, nor shortly before.
 */
export function heldUntil({ steps }: ClockSteps, from: number, until: number): number {
  const overlapping = periods(steps, isBehind).filter(({ at, end }) => at <= until && from <= end + RELEASED_MS)
  return Math.max(0, ...overlapping.map(({ end }) => end + RELEASED_MS))
}

/** ms UTC. */
interface Period {
  readonly at: number
  readonly end: number
}

/** When clocks were off; each step of a clock ends the one before. */
function periods(steps: readonly ClockStep[], isOff: (aheadMs: number) => boolean): Period[] {
  return steps.flatMap(({ at, toMs }, index) => (isOff(toMs) ? [{ at, end: steps[index + 1]?.at ?? Infinity }] : []))
}

const isAhead = (ms: number) => ms > JUMP_MS
const isBehind = (ms: number) => ms < -JUMP_MS
const SOURCE = fileURLToPath(new URL('clock.c', import.meta.url))
const JUMP_MS = 30_000
/** A gateway may be frozen, or about to start, and a failover may take 20 s. */
const RELEASED_MS = 40_000
