const CLOSE_MS = 10_000
const EXIT_CODES = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const

/**
 * Closes and ends the process at the first signal, or when the supervisor is gone: exit 0. A second signal, or 10 s, cut
 * that short: exit 130, 143 or 129, after the signal.
 */
export function endOnRequest(close: () => Promise<void>, fault: (error: unknown) => void): void {
  let isEnding = false

  function end(code: number): void {
    isEnding = true
    setTimeout(() => process.exit(code), CLOSE_MS)
    close().then(() => process.exit(0), fault)
  }

  for (const [signal, code] of EXIT_CODES) process.on(signal, () => (isEnding ? process.exit(code) : end(code)))
  process.on('disconnect', () => isEnding || end(143))
  // It may have died while this process was starting.
  if (process.send && !process.connected) end(143)
}
