/** What a process exits with where a signal cut its ending short. */
export const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
export type StopSignal = keyof typeof EXIT_CODES

/**
 * Calls `first` at the first signal that asks this process to end, `again` at later ones, to the process' end, so that none
 * ends it half-way. What comes within half a second of the first is the same wish: Ctrl-C reaches a process that npm runs
 * from the terminal and from npm.
 */
export function onSignals(first: (signal: StopSignal) => void, again: (signal: StopSignal) => void): void {
  let since: number | undefined
  for (const signal of Object.keys(EXIT_CODES) as StopSignal[])
    process.on(signal, () => {
      if (since === undefined) {
        since = performance.now()
        first(signal)
      } else if (performance.now() - since > ONE_WISH_MS) {
        again(signal)
      }
    })
}

const ONE_WISH_MS = 500
