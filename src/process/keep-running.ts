import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { explainError, UserError } from '../errors.ts'

/** Something that runs until it ends by itself or is stopped. */
export interface Runnable {
  readonly exited: Promise<unknown>
  /** Resolves once it has ended. */
  stop(): Promise<void>
}

/** What to keep running: `start` resolves once it is ready, and ends what it began when the signal is aborted. */
export interface Startable<R extends Runnable> {
  readonly name: string
  readonly logger: Logger
  readonly start: (signal: AbortSignal) => Promise<R>
}

/** Something that is started again whenever it ends. */
export interface Kept<R extends Runnable> {
  /** Resolves when it is ready for the first time; rejects with the UserError that prevents it. */
  readonly ready: Promise<void>
  /** The present run; undefined between two runs. */
  current(): R | undefined
  /** From now on it is not started again. A start in progress is aborted; a run that is ready goes on. */
  endRestarts(): void
  /** Ends it for good; resolves once it has ended. */
  stop(): Promise<void>
}

/** Restarts it at once, then after a delay that doubles up to 5 s; after 10 s of health the delay starts anew. */
export function keepRunning<R extends Runnable>({ name, logger, start }: Startable<R>): Kept<R> {
  const ready = Promise.withResolvers<void>()
  const ending = new AbortController()
  let wasReady = false
  let current: R | undefined
  const ended = loop().catch(ready.reject).finally(ready.resolve)
  return { ready: ready.promise, current: () => current, endRestarts: () => ending.abort(), stop }

  async function loop(): Promise<void> {
    let restarts = 0
    do {
      if ((await run()) >= HEALTHY_MS) restarts = 0
    } while (await pause(restartDelay(restarts++), ending.signal))
  }

  /** One run from start to end; returns how many ms it was ready. */
  async function run(): Promise<number> {
    try {
      current = await start(ending.signal)
      wasReady = true
      ready.resolve()
      // The start may have succeeded in the moment in which it was aborted.
      if (ending.signal.aborted) void current.stop()
      const since = Date.now()
      const end = await current.exited
      if (!ending.signal.aborted) logger.warn({ process: name, end }, `${name} ended; it is started again`)
      return Date.now() - since
    } catch (thrown) {
      const error = explainError(thrown) as Error
      if (error instanceof UserError && !wasReady) throw error
      if (!ending.signal.aborted) logger.error({ process: name, reason: error.message }, `${name} does not start`)
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

/** Returns false, and at once, if the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return delay(ms, true, { signal }).catch(() => false)
}

const HEALTHY_MS = 10_000
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 5000
