import { setTimeout as pause } from 'node:timers/promises'
import type { Fix } from '../../protocols/kit/index.ts'
import { LineFault, type VanLine } from './line/index.ts'
import type { Random } from './random.ts'

/** The device in a van: it keeps every fix, and sends it again until it is acknowledged. */
export interface Tracker {
  /** Takes a fix, which is sent after those before it. */
  record(fix: Fix): void
  /** Resolves once every fix is acknowledged, or the signal has ended the sending. */
  settled(): Promise<void>
  /** Closes the line; a packet on its way fails. */
  close(): void
  /** Why the last packet was not acknowledged; undefined if it was acknowledged. */
  readonly trouble: string | undefined
}

/**
 * `acknowledged` is called with the number of newly acknowledged fixes, always the oldest ones. `signal` ends the
 * sending.
 */
export interface TrackerOptions {
  readonly line: VanLine
  readonly random: Random
  readonly signal: AbortSignal
  readonly acknowledged: (fixes: number) => void
}

/** A tracker without fixes; its line is not open yet. */
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

/** Resolves to why a packet is not acknowledged; undefined if it is. */
async function deliver(line: VanLine, packet: readonly Fix[]): Promise<string | undefined> {
  try {
    await line.deliver(packet)
    return undefined
  } catch (error) {
    if (error instanceof LineFault) return error.message
    throw error
  }
}

/** Waits half a second, doubled with every failure up to eight, with jitter: a fleet must not reconnect all at once. */
async function patience(failures: number, random: Random, signal: AbortSignal): Promise<void> {
  const longest = Math.min(8000, 500 * 2 ** (failures - 1))
  await pause(longest * (0.5 + random() / 2), undefined, { signal }).catch(() => {})
}
