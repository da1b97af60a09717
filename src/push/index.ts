import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '../async.ts'
import { ApiClockReporter, joinWorkers } from '../store/index.ts'
import type { TrackingClient } from '../tracking/client.ts'
import { Apikeys, type CompanyApi, type Keyring, PushApis } from './apis.ts'
import { DayFigures } from './day-figures.ts'
import { ParkedLanes } from './parked-lanes.ts'
import { type CorrectionOptions, CorrectionWorker } from './corrections.ts'
import type { LaneOptions } from './lane-push.ts'
import { ShardPush } from './shard-push.ts'
import { reportFullConcurrency } from './watchdog.ts'

export type { ApiFigures, CompanyApi } from './apis.ts'
export type { PushFigures } from './figures.ts'
export { type LaneFigures, WITHIN_S } from './lane-answers.ts'

interface PushingOptions extends CorrectionOptions {
  readonly client: Pick<TrackingClient, 'push'>
  /** The APIs of companies at the start; those of others, and all by default, push with `client`, to the usual one. */
  readonly companyApis?: ReadonlyMap<string, CompanyApi>
  /** The apikeys of each company at the start. */
  readonly apikeys: Keyring
  readonly push: CorrectionOptions['push'] & LaneOptions['push']
  /** Time zone of the local days that what is delivered counts for. */
  readonly zone: string
}

/** Pushes waiting fixes until it is stopped: hands out due lanes as tickets and works the tickets that this process gets. */
export function startPushing(options: PushingOptions) {
  const { client, logger, place, push, redis } = options
  const stopping = new AbortController()
  const days = new DayFigures(redis, options.zone)
  const apis = new PushApis({ client, push, days }, options.companyApis ?? new Map())
  const workers = joinWorkers(redis, (count) => apis.share(count), { beaten: () => days.writeIfDue(), apis: apis.ids })
  const apiClock = new ApiClockReporter(redis)
  const apikeys = new Apikeys(options.apikeys)
  const common = { ...options, apikeys, apis, apiClock, stopping: stopping.signal, workers }
  const shards = redis.shards.map((shard) => new ShardPush({ ...common, shard }))
  const parkedLanes = new ParkedLanes({ shards: redis.shards, place, stopping: stopping.signal, logger })
  const corrections = new CorrectionWorker(options)
  // The keys may have changed while this process did not run.
  parkedLanes.companiesChanged(new Set(options.apikeys.keys()))
  const turns = reportFullConcurrency(apis, logger)

  return {
    /** How the pushes fare, for the diagnosis. */
    figures: () => apis.figures(),
    /**
     * Call it when the roster has changed these devices, by ids without leading zeros (undefined: perhaps all). Parked lanes
     * with fixes of theirs that belong elsewhere now are tried.
     */
    rosterChanged: (devices?: ReadonlySet<string>) => parkedLanes.rosterChanged(devices),
    /** Uses these apikeys of all companies from now on; the parked lanes of companies that have other ones are tried. */
    setApikeys: (configured: Keyring) => parkedLanes.companiesChanged(apikeys.replace(configured)),
    /**
     * Sets the APIs of companies; requests under way end at the earlier ones. Parked lanes of companies whose API changed are
     * tried.
     */
    setApis(companies: ReadonlyMap<string, CompanyApi>) {
      const { ids, moved } = apis.replace(companies)
      if (moved.size === 0) return
      for (const shard of shards) shard.recall(ids)
      parkedLanes.companiesChanged(moved)
    },
    /** Ends the requests under way, within six seconds, and leaves the remaining lanes to other workers. */
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
