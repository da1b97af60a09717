import { countOverdue, keys, type Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'

interface WatchdogOptions {
  /** Whether this process pushes nothing now. */
  readonly idle: () => boolean
  readonly heal: () => Promise<void>
  readonly logger: Logger
}

/** Heals the hand-out of lanes where it has stopped, as queues have after a reconnect: lanes are overdue, nothing is pushed. */
export function watchOverdue(redis: Redis, { idle, heal, logger }: WatchdogOptions): NodeJS.Timeout {
  return every(OVERDUE_LOOK_MS, async () => {
    if (!idle() || (await upstreamState(redis)) !== 'up') return
    const overdue = await countOverdue(redis, OVERDUE_MS)
    if (overdue === 0 || !idle()) return
    metrics.healed.inc({})
    logger.error({ lanes: overdue }, 'lanes are due and nobody pushes them: the hand-out of lanes is started again')
    await heal()
  })
}

function every(ms: number, look: () => Promise<void>): NodeJS.Timeout {
  return setInterval(() => void look().catch(() => {}), ms)
}

async function upstreamState(redis: Redis): Promise<string> {
  return (await redis.hget(keys.upstream, 'state')) ?? 'up'
}

const OVERDUE_LOOK_MS = 5000
const OVERDUE_MS = 20_000
