import { randomUUID } from 'node:crypto'
import { keys } from './keys.ts'
import { LEASE_MS } from './lease.ts'
import { type Redis, scripts } from './redis.ts'

/** Notes twice a second that this worker process lives. `changed` is told how many live when that changes; at first it is 1. */
export function joinWorkers(redis: Redis, changed: (count: number) => void): { stop(): Promise<void> } {
  const worker = randomUUID()
  let count = 1

  async function beat(): Promise<void> {
    const workers = (await scripts(redis)('beat', KEYS, [worker, FORGET_MS, LEASE_MS]).catch(() => count)) as number
    if (workers !== count) changed((count = workers))
  }

  const timer = setInterval(() => void beat(), BEAT_MS)
  void beat()
  return {
    async stop() {
      clearInterval(timer)
      await redis.zrem(keys.workers, worker).catch(() => {})
    },
  }
}

const KEYS = [keys.workers, keys.clock, keys.schedule, keys.upstream]
const BEAT_MS = 500
/** After which a worker that has ended is forgotten. */
const FORGET_MS = 3000
