import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { within } from '../async.ts'
import { joinWorkers, releaseParked, shardsOf } from '../lanes/index.ts'
import { ApiClockWatch, PushWatch } from './figures.ts'
import { Rate } from './rate.ts'
import { type PushingOptions, ShardPush } from './shard-push.ts'
import { watchTurns } from './watch.ts'

export type { PushFigures } from './figures.ts'

/** Pushes waiting fixes until it is stopped: hands out due lanes as tickets and works the tickets that this process gets. */
export function startPushing(options: PushingOptions) {
  const { logger, push, redis } = options
  const { concurrency, max_requests_per_s: perSecond } = push
  const limit = pLimit(concurrency)
  const rate = perSecond === null ? null : new Rate(perSecond)
  const stopping = new AbortController()
  const watch = new PushWatch()
  const workers = joinWorkers(redis, (count) => {
    limit.concurrency = Math.max(1, Math.floor(concurrency / count))
    if (rate && perSecond !== null) rate.perSecond = perSecond / count
  })
  const apiClock = new ApiClockWatch(redis)
  const common = { ...options, limit, rate, apiClock, watch, stopping: stopping.signal, workers }
  const shards = shardsOf(redis).map((shard, number) => new ShardPush({ ...common, shard, number }))
  const turns = rate ? undefined : watchTurns(limit, () => watch.figures())

  return {
    /** How the pushes fare, for the diagnosis. */
    figures: () => watch.figures(),
    /** The configuration has changed: parked lanes are probed now. */
    configured() {
      releaseParked(redis).catch((error: unknown) =>
        logger.debug({ err: error }, 'parked lanes cannot be probed now; they are probed as scheduled'),
      )
    },
    /** Ends the requests under way, within six seconds, and leaves the rest to other workers. */
    async stop() {
      stopping.abort()
      clearInterval(turns)
      await Promise.all(shards.map((shard) => shard.stop()))
      const deadline = performance.now() + STOP_MS
      while (shards.some(({ isIdle }) => !isIdle) && performance.now() < deadline) await sleep(20)
      await within(LAST_WRITE_MS, workers.stop())
      await Promise.all(shards.map((shard) => shard.close()))
    },
  }
}

const STOP_MS = 6000
const LAST_WRITE_MS = 500
