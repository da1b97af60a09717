import { apiName } from '../domain/addresses.ts'
import { guarded } from '../observe/faults.ts'
import type { Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'
import { observations } from '../observe/observations.ts'
import { countOverdue, jobFaults, type Shard } from '../store/index.ts'
import { joined, say } from '../texts/text.ts'
import type { PushApi, PushApis } from './apis.ts'

interface WatchdogOptions {
  /** Whether this process pushes nothing now. */
  readonly idle: () => boolean
  readonly heal: () => Promise<void>
  /** Whether there are several APIs. */
  readonly areSeveral: () => boolean
  readonly logger: Logger
}

/**
 * Restarts the hand-out of lanes if it has stopped, as queues do after some reconnects: lanes are overdue, and nothing is
 * pushed.
 */
export function healOverdue(shard: Shard, { idle, heal, areSeveral, logger }: WatchdogOptions): NodeJS.Timeout {
  return every(OVERDUE_LOOK_MS, logger, async () => {
    // Of several APIs, the lanes of those that are down are set aside.
    if (!idle() || (!areSeveral() && (await upstreamState(shard)) !== 'up')) return
    const overdue = await countOverdue(shard, OVERDUE_MS)
    if (overdue === 0 || !idle()) return
    metrics.healed.inc({})
    logger.error({ lanes: overdue }, 'lanes are due and nobody pushes them: the hand-out of lanes is started again')
    await heal()
  })
}

/** Reports lanes that wait long for their turn although their API answers, because `concurrency` allows no more requests. */
export function reportFullConcurrency(apis: Pick<PushApis, 'all'>, logger: Logger): NodeJS.Timeout {
  const fullS = new WeakMap<PushApi, number>()
  return every(1000, logger, async () => {
    for (const api of apis.all) {
      const { id, limit, rate, statistics } = api
      const { answeredAt = 0, usualMs = 0 } = statistics.figures()
      const isFull = !rate && limit.pendingCount > 0 && answeredAt > Date.now() - ANSWERS_MS
      const seconds = isFull ? (fullS.get(api) ?? 0) + 1 : 0
      fullS.set(api, seconds)
      if (seconds < FULL_S) continue
      const { concurrency } = limit
      const most = Math.floor((concurrency * 1000) / Math.max(1, usualMs))
      const evidence = say(
        '{} requests at once, {} ms each: at most {} a second',
        concurrency,
        Math.round(usualMs),
        most,
      )
      if (id === '') observations.note('push_full', { evidence })
      else
        observations.note('push_full', {
          subject: { api: apiName(id) },
          evidence: joined([apiName(id), evidence], ': '),
        })
    }
  })
}

function every(ms: number, logger: Logger, look: () => Promise<void>): NodeJS.Timeout {
  const onFault = jobFaults(logger)
  return setInterval(() => guarded(look, (error) => onFault(error, 'watchdog of pushes')), ms)
}

async function upstreamState(shard: Shard): Promise<string> {
  return (await shard.hget(shard.keyNames.upstream, 'state')) ?? 'up'
}

const OVERDUE_LOOK_MS = 5000
const OVERDUE_MS = 20_000
const FULL_S = 30
const ANSWERS_MS = 5000
