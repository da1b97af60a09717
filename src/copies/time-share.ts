import { setTimeout as sleep } from 'node:timers/promises'

/** Keeps what copies compute to a share of the time of this process, so that they delay no push to the tracking API. */
export class TimeShare {
  readonly #share: number
  /** When more may be computed, by `performance.now()`. */
  #freeAt = -Infinity

  /** `share`: of 1. */
  constructor(share: number) {
    this.#share = share
  }

  /** Resolves once this process may spend more time on copies. */
  async turn(): Promise<void> {
    for (let ms = this.#freeAt - performance.now(); ms > 0; ms = this.#freeAt - performance.now()) await sleep(ms)
  }

  /** Runs a synchronous computation and counts its time; the time of a promise that it returns does not count. */
  run<Result>(compute: () => Result): Result {
    const began = performance.now()
    const result = compute()
    const now = performance.now()
    this.#freeAt = Math.max(now, this.#freeAt) + (now - began) * (1 / this.#share - 1)
    return result
  }
}
