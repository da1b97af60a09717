import { EXIT_CODES, onSignals, type StopSignal } from './signals.ts'

const CLOSE_MS = 10_000

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

  onSignals((signal) => (isEnding ? cut(signal) : end(EXIT_CODES[signal])), cut)
  process.on('disconnect', () => isEnding || end(143))
  // It may have died while this process was starting.
  if (process.send && !process.connected) end(143)
}

function cut(signal: StopSignal): never {
  process.exit(EXIT_CODES[signal])
}
