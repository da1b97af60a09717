import { setImmediate } from 'node:timers/promises'

/** Waits for the work, but no longer than `ms`. Rejects if the work rejects in time. */
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
 * Lets other work of the process run, at most once in 5 ms. A loop over all devices awaits it in each turn: otherwise reading
 * 100,000 devices delays every acknowledgement by seconds. Undefined: not now; check for it, because awaiting undefined in
 * each turn costs more.
 */
export function yieldToEventLoop(): Promise<void> | undefined {
  return performance.now() - yieldedAt < SLICE_MS ? undefined : nextTurn()
}

async function nextTurn(): Promise<void> {
  await setImmediate()
  yieldedAt = performance.now()
}

let yieldedAt = 0
const SLICE_MS = 5

/** Returns a function that runs one task at a time, in the order of the calls. */
export function inTurns(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const turn = last.then(task)
    last = turn.catch(() => {})
    return turn
  }
}

/**
 * Runs jobs about once a second, concurrently. Skips a job that still runs. A job that fails does not affect others, and
 * `onFault` gets its error and its name; without `onFault` the error ends the process. `stop` resolves once all jobs have
 * ended.
 */
export function everySecond(
  jobs: Readonly<Record<string, () => unknown>>,
  onFault: (error: unknown, job: string) => void = rethrow,
): { stop(): Promise<void> } {
  const running = new Map<string, Promise<void>>()
  const start = () => {
    for (const [name, job] of Object.entries(jobs)) if (!running.has(name)) running.set(name, run(name, job))
  }
  const run = async (name: string, job: () => unknown) => {
    try {
      await Promise.try(job)
    } catch (error) {
      onFault(error, name)
    } finally {
      running.delete(name)
    }
  }
  const timer = setInterval(start, 1000).unref()
  start()
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(running.values())
    },
  }
}

function rethrow(error: unknown): never {
  throw error
}

/**
 * Returns a function that runs a task for all callers: never twice at the same time, and not again within `maxAgeMs` of its
 * end, which may depend on the result. After a failure, the next caller runs it again.
 */
export function shared<Result>(
  maxAgeMs: number | ((result: Result) => number),
  task: () => Promise<Result>,
): () => Promise<Result> {
  let latest: Promise<Result>
  /** By `performance.now()`: until when the latest counts; in the future while the task runs. */
  let until = -Infinity
  return () => {
    if (performance.now() <= until) return latest
    until = Infinity
    latest = task()
    latest.then(
      (result) => (until = performance.now() + (typeof maxAgeMs === 'number' ? maxAgeMs : maxAgeMs(result))),
      () => (until = -Infinity),
    )
    return latest
  }
}
