import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { explained, UserError } from '../errors.ts'

const HEALTHY_MS = 10_000
const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 5000

/** Something that runs until it ends by itself or is told to. */
export interface Runnable {
  readonly exited: Promise<unknown>
  /** Resolves once it has ended. */
  stop(): Promise<void>
}

/** What is to be kept running: `start` resolves once it is ready, and ends what it began when the signal is aborted. */
export interface Startable<R extends Runnable> {
  readonly name: string
  readonly logger: Logger
  readonly start: (signal: AbortSignal) => Promise<R>
}

/** Something that is started again whenever it ends. */
export interface Kept<R extends Runnable> {
  /** Resolves when it is ready for the first time; rejects with the UserError that kept it from that. */
  readonly ready: Promise<void>
  /** The present run, or undefined between two. */
  current(): R | undefined
  /** Ends it for good; resolves once it has ended. */
  stop(): Promise<void>
}

/** Starts it again at once, then after a delay that doubles up to 5 s and starts anew after 10 s of health. */
export function keepRunning<R extends Runnable>({ name, logger, start }: Startable<R>): Kept<R> {
  const ready = Promise.withResolvers<void>()
  const stopping = new AbortController()
  let wasReady = false
  let current: R | undefined
  const ended = loop().catch(ready.reject).finally(ready.resolve)
  return { ready: ready.promise, current: () => current, stop }

  async function loop(): Promise<void> {
    let restarts = 0
    do {
      if ((await run()) >= HEALTHY_MS) restarts = 0
    } while (await pause(restartDelay(restarts++), stopping.signal))
  }

  /** One run from start to end; answers for how many ms it was ready. */
  async function run(): Promise<number> {
    try {
      current = await start(stopping.signal)
      wasReady = true
      ready.resolve()
      const since = Date.now()
      const end = await current.exited
      if (!stopping.signal.aborted) logger.warn({ process: name, end }, `${name} ended; it is started again`)
      return Date.now() - since
    } catch (thrown) {
      const error = explained(thrown) as Error
      if (error instanceof UserError && !wasReady) throw error
      if (!stopping.signal.aborted) logger.error({ process: name, reason: error.message }, `${name} does not start`)
      return 0
    } finally {
      current = undefined
    }
  }

  async function stop(): Promise<void> {
    stopping.abort()
    await current?.stop()
    await ended
  }
}

/** How many ms to wait before a start again, after so many without 10 s of health between them. */
export function restartDelay(restarts: number): number {
  return restarts === 0 ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (restarts - 1), MAX_DELAY_MS)
}

/** Answers false, without waiting to the end, if the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return delay(ms, true, { signal }).catch(() => false)
}
