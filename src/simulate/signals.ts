const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** A user's wish to end: the first signal says stop, the second, or `limitMs` after the first, hurry. */
export interface Signals {
  readonly stop: AbortSignal
  readonly hurry: AbortSignal
  /** What a process that had to hurry exits with; undefined without a signal. */
  readonly exitCode: () => number | undefined
}

/** Listens from now to the process' end. */
export function listenToSignals(limitMs: number): Signals {
  const stop = new AbortController()
  const hurry = new AbortController()
  let exitCode: number | undefined
  for (const [signal, code] of Object.entries(EXIT_CODES)) {
    process.on(signal, () => {
      if (stop.signal.aborted) hurry.abort()
      exitCode ??= code
      stop.abort()
      setTimeout(() => hurry.abort(), limitMs).unref()
    })
  }
  return { stop: stop.signal, hurry: hurry.signal, exitCode: () => exitCode }
}
