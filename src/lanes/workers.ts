import { randomUUID } from 'node:crypto'
import { keys } from './keys.ts'
import { type Redis, scripts } from './redis.ts'

/**
 * Notes twice a second that this worker process lives, and calls `changed` with the number of workers when it is another
 * one than before (at first: 1). A worker that has ended is forgotten after three seconds.
 */
export function joinWorkers(redis: Redis, changed: (count: number) => void): { stop(): Promise<void> } {
  const worker = randomUUID()
  let count = 1

  async function beat(): Promise<void> {
    const workers = (await scripts(redis)('beat', [keys.workers], [worker, FORGET_MS])) as number
    if (workers !== count) changed((count = workers))
  }

  const timer = setInterval(() => void beat().catch(() => {}), BEAT_MS)
  void beat().catch(() => {})
  return {
    async stop() {
      clearInterval(timer)
      await redis.zrem(keys.workers, worker).catch(() => {})
    },
  }
}

const BEAT_MS = 500
const FORGET_MS = 3000
