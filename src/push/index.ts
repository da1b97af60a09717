import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { within } from '../async.ts'
import { joinWorkers } from '../store/index.ts'
import { Apikeys, type Keyring } from './apikeys.ts'
import { DayFigures } from './day-figures.ts'
import { ApiClockReporter, PushStatistics } from './figures.ts'
import { ParkedLanes } from './parked-lanes.ts'
import { Rate } from './rate.ts'
import { CorrectionWorker } from './corrections.ts'
import { type PushingOptions, ShardPush } from './shard-push.ts'
import { reportFullConcurrency } from './watchdog.ts'

export type { PushFigures } from './figures.ts'
export { type LaneFigures, WITHIN_S } from './lane-answers.ts'

/** Pushes waiting fixes until it is stopped: hands out due lanes as tickets and works the tickets that this process gets. */
export function startPushing(options: PushingOptions) {
  const { logger, place, push, redis } = options
  const { concurrency, max_requests_per_s: perSecond } = push
  const limit = pLimit(concurrency)
  const rate = perSecond === null ? null : new Rate(perSecond)
  const stopping = new AbortController()
  const days = new DayFigures(redis, options.zone)
  const statistics = new PushStatistics(days)
  const changed = (count: number) => {
    limit.concurrency = Math.max(1, Math.floor(concurrency / count))
    if (rate && perSecond !== null) rate.perSecond = perSecond / count
  }
  const workers = joinWorkers(redis, changed, () => days.writeIfDue())
  const apiClock = new ApiClockReporter(redis)
  const apikeys = new Apikeys(options.apikeys)
  const common = { ...options, apikeys, limit, rate, apiClock, statistics, stopping: stopping.signal, workers }
  const shards = redis.shards.map((shard) => new ShardPush({ ...common, shard }))
  const parkedLanes = new ParkedLanes({ shards: redis.shards, place, stopping: stopping.signal, logger })
  const corrections = new CorrectionWorker(options)
  // The keys may have changed while this process did not run.
  parkedLanes.apikeysChanged(new Set(options.apikeys.keys()))
  const turns = rate ? undefined : reportFullConcurrency(limit, () => statistics.figures())

  return {
    /** How the pushes fare, for the diagnosis. */
    figures: () => statistics.figures(),
    /**
     * The roster has changed these devices, by ids without leading zeros (undefined: perhaps all): parked lanes with fixes of
     * them that belong elsewhere by now are tried.
     */
    rosterChanged: (devices?: ReadonlySet<string>) => parkedLanes.rosterChanged(devices),
    /** Uses these apikeys of all companies from now on; the parked lanes of companies that have other ones are tried. */
    setApikeys: (configured: Keyring) => parkedLanes.apikeysChanged(apikeys.replace(configured)),
    /** Ends the requests under way, within six seconds, and leaves the rest to other workers. */
    async stop() {
      stopping.abort()
      clearInterval(turns)
      await within(LAST_WRITE_MS, corrections.stop())
      await Promise.all(shards.map((shard) => shard.stop()))
      const deadline = performance.now() + STOP_MS
      while (shards.some(({ isIdle }) => !isIdle) && performance.now() < deadline) await sleep(20)
      await within(LAST_WRITE_MS, Promise.all([workers.stop(), days.close()]))
      await Promise.all(shards.map((shard) => shard.close()))
    },
  }
}

const STOP_MS = 6000
const LAST_WRITE_MS = 500
