import type { LimitFunction } from 'p-limit'
import type { Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'
import { observations } from '../observe/observations.ts'
import { countOverdue, type Shard } from '../store/index.ts'
import { say } from '../texts/text.ts'
import type { PushFigures } from './figures.ts'

interface WatchdogOptions {
  /** Whether this process pushes nothing now. */
  readonly idle: () => boolean
  readonly heal: () => Promise<void>
  readonly logger: Logger
}

/** Heals the hand-out of lanes where it has stopped, as queues have after a reconnect: lanes are overdue, nothing is pushed. */
export function healOverdue(shard: Shard, { idle, heal, logger }: WatchdogOptions): NodeJS.Timeout {
  return every(OVERDUE_LOOK_MS, async () => {
    if (!idle() || (await upstreamState(shard)) !== 'up') return
    const overdue = await countOverdue(shard, OVERDUE_MS)
    if (overdue === 0 || !idle()) return
    metrics.healed.inc({})
    logger.error({ lanes: overdue }, 'lanes are due and nobody pushes them: the hand-out of lanes is started again')
    await heal()
  })
}

/** Says where lanes wait for their turn for long although the API answers: `push.concurrency` allows no more. */
export function reportFullConcurrency(limit: LimitFunction, figures: () => PushFigures): NodeJS.Timeout {
  let fullS = 0
  return every(1000, async () => {
    const { answeredAt = 0, usualMs = 0 } = figures()
    fullS = limit.pendingCount > 0 && answeredAt > Date.now() - ANSWERS_MS ? fullS + 1 : 0
    if (fullS < FULL_S) return
    const most = Math.floor((limit.concurrency * 1000) / Math.max(1, usualMs))
    const { concurrency } = limit
    const evidence = say('{} requests at once, {} ms each: at most {} a second', concurrency, Math.round(usualMs), most)
    observations.note('push_full', { evidence })
  })
}

function every(ms: number, look: () => Promise<void>): NodeJS.Timeout {
  return setInterval(() => void look().catch(() => {}), ms)
}

async function upstreamState(shard: Shard): Promise<string> {
  return (await shard.hget(shard.keyNames.upstream, 'state')) ?? 'up'
}

const OVERDUE_LOOK_MS = 5000
const OVERDUE_MS = 20_000
const FULL_S = 30
const ANSWERS_MS = 5000
