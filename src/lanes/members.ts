import { randomUUID } from 'node:crypto'
import { type Redis, scripts } from './redis.ts'

/** The processes of one kind that live around a Redis. */
export interface Members {
  /** How many there are, this one included; undefined while Redis has not said so lately. */
  readonly count: number | undefined
  stop(): Promise<void>
}

/**
 * Tells twice a second that this process lives, and learns who else does. One that is gone is forgotten after three
 * seconds. `changed` hears of another number, and of `undefined` once it is not known any more.
 */
export function joinMembers(redis: Redis, key: string, changed: (count: number | undefined) => void): Members {
  const me = randomUUID()
  const run = scripts(redis)
  let count: number | undefined
  let heardAt = -Infinity

  async function beat(): Promise<void> {
    const asked = performance.now()
    const members = (await run('beat', [key], [me, GONE_MS])) as number
    heardAt = asked
    become(members)
  }

  function become(next: number | undefined): void {
    if (next === count) return
    count = next
    changed(next)
  }

  const quietly = () => {
    if (performance.now() - heardAt > STALE_MS) become(undefined)
    void beat().catch(() => {})
  }
  const timer = setInterval(quietly, 500)
  quietly()
  return {
    get count() {
      return performance.now() - heardAt > STALE_MS ? undefined : count
    },
    async stop() {
      clearInterval(timer)
      await redis.zrem(key, me).catch(() => {})
    },
  }
}

const GONE_MS = 3000
/** Shorter than a process is remembered: whoever is not sure of the others is so before they are sure that it is gone. */
const STALE_MS = 2500
