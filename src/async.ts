import { setImmediate } from 'node:timers/promises'

/** Waits for some work, but no longer than `ms`. Rejects where the work rejects in time. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  try {
    await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Lets other work of the process run, at most once in 5 ms. A loop over a fleet awaits it in each turn: otherwise nothing is
 * acknowledged for seconds while 100,000 devices are read.
 */
export async function yieldToEventLoop(): Promise<void> {
  if (performance.now() - yieldedAt < SLICE_MS) return
  await setImmediate()
  yieldedAt = performance.now()
}

let yieldedAt = 0
const SLICE_MS = 5

/** Runs a task after all earlier ones have settled. */
export type Turns = <Result>(task: () => Promise<Result>) => Promise<Result>

/** Makes a queue that runs one task at a time, in the order of the calls. */
export function inTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const turn = last.then(task)
    last = turn.catch(() => {})
    return turn
  }
}

/** A task that runs once a second. */
export interface Repetition {
  /** Stops it; resolves once the run in progress has ended. */
  stop(): Promise<void>
}

/** Runs a task now and then once a second, never twice at the same time. */
export function everySecond(work: () => Promise<void>): Repetition {
  let running: Promise<void> | undefined
  const start = () => void (running ??= work().finally(() => (running = undefined)))
  const timer = setInterval(start, 1000).unref()
  start()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
