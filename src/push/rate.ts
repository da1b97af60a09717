import { setTimeout as sleep } from 'node:timers/promises'

/** A bound on requests a second; null: none. */
export interface Rate {
  /** Resolves when the next request may leave. */
  turn(): Promise<void>
  resize(perSecond: number | null): void
}

/** Spreads requests evenly: no burst at the beginning of each second. */
export function createRate(perSecond: number | null): Rate {
  let bound = perSecond
  let next = 0
  return {
    async turn() {
      if (bound === null) return
      const now = performance.now()
      const mine = Math.max(now, next)
      next = mine + 1000 / bound
      if (mine > now) await sleep(mine - now)
    },
    resize(perSecondNow) {
      bound = perSecondNow
      next = 0
    },
  }
}
