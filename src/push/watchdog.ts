import { keys, type Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'

export interface WatchdogOptions {
  /** Whether this process pushes nothing now. */
  readonly idle: () => boolean
  /** What brings the hand-out of lanes back. */
  readonly heal: () => Promise<void>
  readonly logger: Logger
}

/**
 * Looks out for lanes that are due for long while nothing is pushed and the service is up: the hand-out has stopped, as
 * queues have after a reconnect. That is a fault to show and to heal.
 */
export function watchOverdue(redis: Redis, { idle, heal, logger }: WatchdogOptions): { stop(): void } {
  async function look(): Promise<void> {
    const state = (await redis.hget(keys.upstream, 'state')) ?? 'up'
    if (!idle() || state !== 'up') return
    const [seconds] = await redis.time()
    const overdue = await redis.zcount(keys.schedule, '-inf', seconds * 1000 - OVERDUE_MS)
    if (overdue === 0 || !idle()) return
    metrics.healed.inc({})
    logger.error({ lanes: overdue }, 'lanes are due and nobody pushes them: the hand-out of lanes is started again')
    await heal()
  }

  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS)
  return { stop: () => clearInterval(timer) }
}

const OVERDUE_MS = 20_000
const LOOK_MS = 5000
