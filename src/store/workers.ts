import { randomUUID } from 'node:crypto'
import { keyOf, LEASE_MS } from './lease.ts'
import type { Shard, Store } from './shards.ts'

/** The worker processes, as one of them knows them. */
export interface Workers {
  /** How many live; at first 1. */
  readonly count: number
  stop(): Promise<void>
}

interface WorkersOptions {
  /** Is called twice a second. */
  readonly beaten?: () => void
  /** The ids of all APIs; default: of the usual one. */
  readonly apis?: () => readonly string[]
}

/** Notes twice a second that this worker process lives. Calls `changed` with the number of live workers when it changes. */
export function joinWorkers(
  redis: Store,
  changed: (count: number) => void,
  { beaten, apis = () => [''] }: WorkersOptions = {},
): Workers {
  const worker = randomUUID()

  async function beat(): Promise<void> {
    beaten?.()
    const [count] = await redis.inShards(beatIn)
    if (count === workers.count) return
    workers.count = count
    changed(count)
  }

  async function beatIn(shard: Shard): Promise<number> {
    const keys = shard.keyNames
    const touched = [keys.workers, keys.clock, keys.schedule, ...apis().map((api) => keyOf(keys.upstream, api))]
    return (await shard.run('beat', touched, [worker, FORGET_MS, LEASE_MS]).catch(() => workers.count)) as number
  }

  const timer = setInterval(() => void beat(), BEAT_MS)
  const workers = {
    count: 1,
    async stop() {
      clearInterval(timer)
      await redis.inShards((shard) => shard.zrem(shard.keyNames.workers, worker)).catch(() => {})
    },
  }
  void beat()
  return workers
}

const BEAT_MS = 500
/** After which a worker that has ended is forgotten. */
const FORGET_MS = 3000
