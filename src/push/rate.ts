import { setTimeout as sleep } from 'node:timers/promises'

/** A bound on requests a second. Requests leave evenly: no burst at the beginning of each second. */
export class Rate {
  /** A change applies to requests too that wait already. */
  perSecond: number
  #last = -Infinity
  #line = Promise.resolve()

  constructor(perSecond: number) {
    this.perSecond = perSecond
  }

  /** Resolves when the next request may leave. */
  turn(): Promise<void> {
    const asked = performance.now()
    this.#line = this.#line.then(() => this.#leave(asked))
    return this.#line
  }

  async #leave(asked: number): Promise<void> {
    for (let now = performance.now(); this.#due(asked) > now; now = performance.now())
      await sleep(this.#due(asked) - now)
    this.#last = Math.max(this.#due(asked), performance.now() - CATCH_UP_MS)
  }

  #due(asked: number): number {
    return Math.max(asked, this.#last + 1000 / this.perSecond)
  }
}

/** How far requests may fall behind and still catch up: timers are late, and a process may pause. */
const CATCH_UP_MS = 100
