import { setTimeout } from 'node:timers/promises'
import { RoundRobin } from '../round-robin.ts'

/**
 * Starts TLS handshakes in turns, one of each network that waits: a handshake costs a gateway a millisecond, and who begins
 * one next to nothing. They take at most half of the time, so that devices that are connected are served meanwhile.
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
      // node:tls reads what has arrived, and answers it, in the ticks of `start`.
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
