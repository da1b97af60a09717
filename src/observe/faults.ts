import type { Logger } from './log.ts'

/**
 * Runs work that nobody awaits, in a callback or a timer, triggered by received data. Passes its error to `onFault`, because
 * a fault of waybridge must not end the process.
 */
export function guarded(work: () => unknown, onFault: (error: unknown) => void): void {
  void Promise.try(work).catch(onFault)
}

/**
 * Logs a fault of waybridge that senders can trigger, without letting them fill the log: each place in the code once in ten
 * minutes, and at most 100 places.
 */
export function logFault(logger: Logger, error: unknown, { what, ...about }: FaultPlace): void {
  const now = performance.now()
  let log = logs.get(logger)
  if (!log || now - log.sinceAt > QUIET_MS) logs.set(logger, (log = { sinceAt: now, places: new Set() }))
  const stack = error instanceof Error ? error.stack : undefined
  const place = `${what} ${/^ +at .+$/m.exec(stack ?? '')?.[0]}`
  if (log.places.has(place) || log.places.size >= MAX_PLACES) return
  log.places.add(place)
  logger.error({ err: error, ...about }, what)
}

/** `what`: in which work, in words. */
export interface FaultPlace {
  readonly what: string
  readonly protocol?: string
  readonly device?: string
  readonly bridge?: string
}

const logs = new WeakMap<Logger, { readonly sinceAt: number; readonly places: Set<string> }>()
const QUIET_MS = 600_000
const MAX_PLACES = 100
