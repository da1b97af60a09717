import { randomUUID } from 'node:crypto'
import { keys, type Redis } from '../lanes/index.ts'

/**
 * Tells every second how many worker processes there are around this Redis, so that each takes its share of what all
 * of them together may do. A worker that is gone is forgotten after three seconds.
 */
export function shareOfWorkers(redis: Redis, changed: (workers: number) => void): { stop(): Promise<void> } {
  const me = randomUUID()
  let known = 1

  async function beat(): Promise<void> {
    const now = Date.now()
    await redis.zadd(keys.workers, now, me)
    await redis.zremrangebyscore(keys.workers, '-inf', now - GONE_MS)
    const workers = Math.max(1, await redis.zcard(keys.workers))
    if (workers !== known) changed((known = workers))
  }

  const quietly = () => void beat().catch(() => {})
  const timer = setInterval(quietly, 1000)
  quietly()
  return {
    async stop() {
      clearInterval(timer)
      await redis.zrem(keys.workers, me).catch(() => {})
    },
  }
}

const GONE_MS = 3000
