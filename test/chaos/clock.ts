import { execFileSync } from 'node:child_process'
import { openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The clock of all processes of a product: as that of this machine, but for how far it is off. */
export interface ProductClock {
  /** What its processes have in their environment. */
  readonly env: NodeJS.ProcessEnv
  /** How far it is ahead, ms. */
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

/** `dir`: for what it needs. Undefined where there is no C compiler, which makes the library that processes load. */
export function openClock(dir: string): ProductClock | undefined {
  const [file, library] = [join(dir, 'clock'), join(dir, 'clock.so')]
  if (!compiled(library)) return undefined
  writeFileSync(file, Buffer.alloc(8))
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
      // Eight bytes at once: nobody reads a half.
      writeSync(descriptor, BigInt64Array.of(BigInt(ms)), 0, 8, 0)
    },
  }
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

/** Whether the clock went forward so far that what waited before seems to have waited for too long. */
export function jumpedAhead(steps: readonly ClockStep[], from: number, until: number): boolean {
  return steps.some(({ at, fromMs, toMs }) => toMs - fromMs > JUMP_MS && at >= from && at <= until)
}

/**
 * Until when a fix may be held because it seemed to be from the future: for a while after the clock was set right. 0 where it was not
 * behind between `from` and `until`.
 */
export function heldUntil(steps: readonly ClockStep[], from: number, until: number): number {
  const behind = steps.flatMap(({ at, toMs }, index) =>
    toMs < -JUMP_MS ? [{ at, end: steps[index + 1]?.at ?? Infinity }] : [],
  )
  const overlapping = behind.filter(({ at, end }) => at <= until && from <= end)
  return Math.max(0, ...overlapping.map(({ end }) => end + RELEASED_MS))
}

const SOURCE = fileURLToPath(new URL('clock.c', import.meta.url))
const JUMP_MS = 30_000
/** A gateway may be frozen, or about to start. */
const RELEASED_MS = 20_000
