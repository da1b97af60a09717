/** The exit code of a process whose shutdown is cut short by a signal. */
export const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
export type StopSignal = keyof typeof EXIT_CODES

/**
 * Calls `first` at the first signal that asks this process to end and `again` at later ones, so that no signal ends the
 * process by default. A signal within half a second of the first counts as the same request: with Ctrl-C, a process that npm
 * runs gets one from the terminal and one from npm.
 */
export function onSignals(first: (signal: StopSignal) => void, again: (signal: StopSignal) => void): void {
  let since: number | undefined
  for (const signal of Object.keys(EXIT_CODES) as StopSignal[])
    process.on(signal, () => {
      if (since === undefined) {
        since = performance.now()
        first(signal)
      } else if (performance.now() - since > SAME_REQUEST_MS) {
        again(signal)
      }
    })
}

/**
 * Closes and ends the process at the first signal, or when the supervisor closes the channel or dies: exit 0. A second
 * signal, or 9 s, cut that short: exit 130, 143 or 129, after the signal.
 */
export function endOnRequest(close: () => Promise<void>, fault: (error: unknown) => void): void {
  let isEnding = false

  function end(code: number): void {
    if (isEnding) return
    isEnding = true
    setTimeout(() => process.exit(code), CLOSE_MS)
    close().then(() => process.exit(0), fault)
  }

  onSignals(
    (signal) => end(EXIT_CODES[signal]),
    (signal) => process.exit(EXIT_CODES[signal]),
  )
  process.on('disconnect', () => end(EXIT_CODES.SIGTERM))
  // The supervisor may have died while this process was starting.
  if (process.send && !process.connected) end(EXIT_CODES.SIGTERM)
}

const SAME_REQUEST_MS = 500
/** The time to close: everything must have ended within 10 s, even if the supervisor was killed. */
const CLOSE_MS = 9000
