import { keys, type Redis } from '../lanes/index.ts'
import type { Consequence } from './outcome.ts'

export type UpstreamState = 'up' | 'down' | 'limited'

/** Notes in Redis, for operations, whether the tracking API takes what is pushed. */
export interface Upstream {
  note(lane: string, consequence: Consequence): void
}

/**
 * The API is down after five failures in a row over at least two lanes, or over the only one that waits, and at once where
 * connections are refused; limited, where it answers 429. Any other answer makes it up.
 */
export function createUpstream(redis: Redis): Upstream {
  let state: UpstreamState | undefined
  let failures = 0
  let lanes = new Set<string>()

  function become(next: UpstreamState): void {
    if (next === state) return
    state = next
    redis.hset(keys.upstream, 'state', next, 'since', Date.now()).catch(() => (state = undefined))
  }

  async function isDown(reason: number | string): Promise<boolean> {
    if (reason === 'refused') return true
    return failures >= FAILURES && (lanes.size > 1 || (await redis.zcard(keys.schedule)) === 1)
  }

  return {
    note(lane, consequence) {
      if (consequence.to !== 'retry') {
        failures = 0
        lanes = new Set()
        become('up')
      } else if (consequence.status === 429) {
        become('limited')
      } else {
        failures++
        lanes.add(lane)
        isDown(consequence.status).then(
          (down) => down && failures > 0 && become('down'),
          () => {},
        )
      }
    },
  }
}

const FAILURES = 5
