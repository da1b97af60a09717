import { randomUUID } from 'node:crypto'
import { LEASE_MS } from './lease.ts'
import { type Redis, scripts } from './redis.ts'
import { inShards, keysOf } from './shards.ts'

/** Notes twice a second that this worker process lives. `changed` is told how many live when that changes; at first it is 1. */
export function joinWorkers(redis: Redis, changed: (count: number) => void): { stop(): Promise<void> } {
  const worker = randomUUID()
  let count = 1

  async function beat(): Promise<void> {
    const [workers] = await inShards(redis, beatIn)
    if (workers !== count) changed((count = workers))
  }

  async function beatIn(shard: Redis): Promise<number> {
    const { workers, clock, schedule, upstream } = keysOf(shard)
    const touched = [workers, clock, schedule, upstream]
    return (await scripts(shard)('beat', touched, [worker, FORGET_MS, LEASE_MS]).catch(() => count)) as number
  }

  const timer = setInterval(() => void beat(), BEAT_MS)
  void beat()
  return {
    async stop() {
      clearInterval(timer)
      await inShards(redis, (shard) => shard.zrem(keysOf(shard).workers, worker)).catch(() => {})
    },
  }
}

const BEAT_MS = 500
/** After which a worker that has ended is forgotten. */
const FORGET_MS = 3000
