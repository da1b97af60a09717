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

/** Logs when the tracking API goes down, limits us, or is up again: the scripts keep its state in Redis. */
export function reportUpstream(redis: Redis, logger: Logger): NodeJS.Timeout {
  let known = 'up'
  return every(UPSTREAM_LOOK_MS, async () => {
    const state = await upstreamState(redis)
    if (state === known) return
    known = state
    if (state === 'up') logger.info('the tracking API answers again: what waits is delivered')
    else logger.warn({ reason: state }, WORDS.get(state))
  })
}

function every(ms: number, look: () => Promise<void>): NodeJS.Timeout {
  return setInterval(() => void look().catch(() => {}), ms)
}

async function upstreamState(redis: Redis): Promise<string> {
  return (await redis.hget(keys.upstream, 'state')) ?? 'up'
}

const WORDS = new Map([
  ['down', 'the tracking API is down: fixes wait, one request at a time tries whether it is back'],
  ['limited', 'the tracking API limits us (429): fixes wait, one request at a time tries whether it takes more'],
])
const UPSTREAM_LOOK_MS = 1000
const OVERDUE_LOOK_MS = 5000
const OVERDUE_MS = 20_000
