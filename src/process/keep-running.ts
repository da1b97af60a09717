import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ConfigError } from '../config/problem.ts'
import { explainError, UserError } from '../errors.ts'

/** Something that runs until it ends by itself or is stopped; `stop` resolves once it has ended. */
export interface Runnable {
  readonly exited: Promise<unknown>
  stop(): Promise<void>
}

export type Kept<R extends Runnable> = ReturnType<typeof keepRunning<R>>

/**
 * Calls `start`, which resolves once the run is ready and must end it when its signal is aborted. Calls it again whenever the
 * run ends: at once, then after a delay that doubles up to 5 s and is reset after 10 s without a failure. `ready` resolves
 * when it is ready for the first time, or rejects with the UserError or ConfigError that prevents it; `current` returns the
 * present run; `endRestarts` aborts a start in progress but leaves a run that is ready; `stop` ends it for good.
 */
export function keepRunning<R extends Runnable>(
  name: string,
  logger: Logger,
  start: (signal: AbortSignal) => Promise<R>,
) {
  const ready = Promise.withResolvers<void>()
  const ending = new AbortController()
  let wasReady = false
  /** Why it did not start; in the log once until it is ready. */
  let obstacle = ''
  let current: R | undefined
  const ended = loop().catch(ready.reject).finally(ready.resolve)
  return { ready: ready.promise, current: () => current, endRestarts: () => ending.abort(), stop }

  async function loop(): Promise<void> {
    let restarts = 0
    do {
      if ((await run()) >= HEALTHY_MS) restarts = 0
    } while (await delay(restartDelay(restarts++), true, { signal: ending.signal }).catch(() => false))
  }

  /** Runs the process once, from start to end; returns how many ms it was ready. */
  async function run(): Promise<number> {
    try {
      current = await start(ending.signal)
      wasReady = true
      obstacle = ''
      ready.resolve()
      // The start may have succeeded in the moment in which it was aborted.
      if (ending.signal.aborted) void current.stop()
      const since = performance.now()
      const end = await current.exited
      if (!ending.signal.aborted) logger.warn({ process: name, end }, `${name} ended; it is started again`)
      return performance.now() - since
    } catch (thrown) {
      const error = explainError(thrown) as Error
      if ((error instanceof UserError || error instanceof ConfigError) && !wasReady) throw error
      if (!ending.signal.aborted && error.message !== obstacle)
        logger.error({ process: name, reason: error.message }, `${name} does not start`)
      obstacle = error.message
      return 0
    } finally {
      current = undefined
    }
  }

  async function stop(): Promise<void> {
    ending.abort()
    await current?.stop()
    await ended
  }
}

/** Returns how many ms to wait before a restart, after that many restarts without 10 s of health. */
export function restartDelay(restarts: number): number {
  return restarts === 0 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (restarts - 1), MAX_DELAY_MS)
}

const HEALTHY_MS = 10_000
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 5000
