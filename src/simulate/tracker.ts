import { setTimeout as pause } from 'node:timers/promises'
import type { Fix } from '../../protocols/kit/index.ts'
import { type Line, LineFault } from './line/index.ts'
import type { Random } from './random.ts'

/** The box in a van: keeps every fix until it is acknowledged, and sends it again until then. */
export interface Tracker {
  /** Takes a fix, and sends it when those before it have been. */
  record(fix: Fix): void
  /** Resolves once nothing is left to send, or the signal has ended it. */
  settled(): Promise<void>
  /** Hangs up; what is under way comes to nothing. */
  close(): void
  /** Why the last packet came to nothing; undefined once one was acknowledged. */
  readonly trouble: string | undefined
}

/** `acknowledged` is told how many fixes more, of the oldest ones. `signal` ends it. */
export interface TrackerOptions {
  readonly line: Line
  readonly random: Random
  readonly signal: AbortSignal
  readonly acknowledged: (fixes: number) => void
}

/** A tracker with nothing recorded; its line is not open yet. */
export function createTracker({ line, random, signal, acknowledged }: TrackerOptions): Tracker {
  const waiting: Fix[] = []
  let sending: Promise<void> | undefined
  let trouble: string | undefined

  async function sendAll(): Promise<void> {
    for (let failures = 0; waiting.length > 0 && !signal.aborted; ) {
      const packet = waiting.slice(0, line.maxFixes)
      trouble = await deliver(line, packet)
      failures = trouble === undefined ? 0 : failures + 1
      if (trouble === undefined) acknowledged(waiting.splice(0, packet.length).length)
      else await patience(failures, random, signal)
    }
    sending = undefined
  }

  return {
    record(fix) {
      waiting.push(fix)
      sending ??= sendAll()
    },
    settled: async () => sending,
    close: () => line.close(),
    get trouble() {
      return trouble
    },
  }
}

/** Why it was not acknowledged; undefined where it was. */
async function deliver(line: Line, packet: readonly Fix[]): Promise<string | undefined> {
  try {
    await line.deliver(packet)
    return undefined
  } catch (error) {
    if (error instanceof LineFault) return error.message
    throw error
  }
}

/** Half a second, doubled with every failure up to eight, more or less: a fleet must not come back in one moment. */
async function patience(failures: number, random: Random, signal: AbortSignal): Promise<void> {
  const longest = Math.min(8000, 500 * 2 ** (failures - 1))
  await pause(longest * (0.5 + random() / 2), undefined, { signal }).catch(() => {})
}
