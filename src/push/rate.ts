import { setTimeout as sleep } from 'node:timers/promises'

/** A bound on requests a second; null: none. */
export interface Rate {
  /** Resolves when the next request may leave. */
  turn(): Promise<void>
  /** Changes the bound, for those too who wait already. */
  resize(perSecond: number | null): void
}

/** Spreads requests evenly: no burst at the beginning of each second. */
export function createRate(perSecond: number | null): Rate {
  let bound = perSecond
  let last = -Infinity
  let line = Promise.resolve()

  const due = (asked: number) => (bound === null ? asked : Math.max(asked, last + 1000 / bound))

  async function leave(asked: number): Promise<void> {
    for (let now = performance.now(); due(asked) > now; now = performance.now()) await sleep(due(asked) - now)
    last = due(asked)
  }

  return {
    turn() {
      const asked = performance.now()
      line = line.then(() => leave(asked))
      return line
    },
    resize(perSecondNow) {
      bound = perSecondNow
    },
  }
}
