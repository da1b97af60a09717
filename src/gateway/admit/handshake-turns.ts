import { setTimeout } from 'node:timers/promises'
import { RoundRobin } from '../round-robin.ts'

/**
 * Starts TLS handshakes one by one, the waiting networks in turn. A handshake costs a gateway a millisecond, and an attacker
 * next to nothing. Handshakes get at most half of the time; the other half is for connected devices.
 */
export class HandshakeTurns {
  readonly #waiting = new RoundRobin<() => void>()
  #isRunning = false

  /** Calls `start` when it is the network's turn; at once if no other handshake waits and the last turn was not used up. */
  add(network: string, start: () => void): void {
    this.#waiting.add(network, start)
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    let turnBeganAt = performance.now()
    for (let start = this.#waiting.next(); start; start = this.#waiting.next()) {
      start()
      // node:tls reads the bytes that have arrived, and answers them, in the ticks of `start`.
      await new Promise<void>((resolve) => process.nextTick(resolve))
      if (performance.now() - turnBeganAt < TURN_MS) continue
      await setTimeout(TURN_MS)
      turnBeganAt = performance.now()
    }
    this.#isRunning = false
  }
}

/** The turns of all listeners of this process. */
export const handshakeTurns = new HandshakeTurns()

const TURN_MS = 5
