import type { Redis } from '../lanes/index.ts'

/**
 * For so long a process goes by the roster that it has seen last, and who writes it waits for gateways that do not say that
 * they have it: so no gateway that was stopped goes by an older one once the write is answered. Less than a sign of life holds.
 */
export const ROSTER_HOLDS_MS = 3000

/** Whether what is in effect of the roster is as of a moment ago. */
export interface Freshness {
  readonly now: boolean
  /** What was asked for at that time, by `performance.now()`, is in effect. */
  inEffect(askedAt: number): void
  close(): void
}

/** Not while Redis is away, nor until it has been read after that: others may have gone on with another roster. */
export function watchFreshness(redis: Redis): Freshness {
  let seenAt = -Infinity
  let lostAt = -Infinity
  const lose = () => void (lostAt = performance.now())
  redis.on('close', lose)
  return {
    get now() {
      return seenAt > lostAt && performance.now() - seenAt < ROSTER_HOLDS_MS
    },
    inEffect: (askedAt) => void (seenAt = askedAt),
    close: () => void redis.off('close', lose),
  }
}
