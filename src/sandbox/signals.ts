import { EXIT_CODES, onSignals } from '../process/signals.ts'

/** The signals by which a user ends a command. */
export interface Signals {
  /** Aborted by the first signal. */
  readonly stop: AbortSignal
  /** A signal that is aborted `ms` after the user's first signal, or by the second one. */
  within(ms: number): AbortSignal
  /** The exit code of a process that a signal cut short; 1 without a signal. */
  exitCode(): number
}

/** Listens from now to the process' end. */
export function listenToSignals(): Signals {
  const first = new AbortController()
  const second = new AbortController()
  let exitCode: number | undefined
  onSignals(
    (signal) => {
      exitCode = EXIT_CODES[signal]
      first.abort()
    },
    () => second.abort(),
  )
  return {
    stop: first.signal,
    within(ms) {
      const late = new AbortController()
      first.signal.addEventListener('abort', () => setTimeout(() => late.abort(), ms).unref())
      return AbortSignal.any([late.signal, second.signal])
    },
    exitCode: () => exitCode ?? 1,
  }
}
