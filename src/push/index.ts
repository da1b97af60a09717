import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { within } from '../async.ts'
import { joinWorkers, type Lease, Leases, type Place, type Redis, releaseParked, relocate } from '../lanes/index.ts'
import { LanePush, type PushLaneOptions } from './push-lane.ts'
import { Rate } from './rate.ts'
import { type Ticket, Tickets } from './tickets.ts'
import { reportUpstream, watchOverdue } from './watch.ts'

export interface PushingOptions extends Pick<PushLaneOptions, 'apikeys' | 'client' | 'logger'> {
  readonly redis: Redis
  readonly redisUrl: string
  readonly place: Place
  readonly batch: { readonly max_positions: number; readonly max_wait: number }
  readonly push: {
    readonly concurrency: number
    readonly max_requests_per_s: number | null
    readonly first_delay: number
    readonly max_delay: number
  }
}

export interface Pushing {
  /** The configuration has changed: parked lanes are probed now. */
  configured(): void
  /** Ends the requests under way, within six seconds, and leaves the rest to other workers. */
  stop(): Promise<void>
}

/** Pushes waiting fixes until it is stopped: hands out due lanes as tickets and works the tickets that this process gets. */
export function startPushing(options: PushingOptions): Pushing {
  const { batch, logger, place, push, redis, redisUrl } = options
  const { concurrency, max_requests_per_s: perSecond } = push
  const leases = new Leases(redis, { maxPositions: batch.max_positions, maxWaitMs: batch.max_wait })
  const limit = pLimit(concurrency)
  const rate = perSecond === null ? null : new Rate(perSecond)
  const held = new Set<Lease>()
  const stopping = new AbortController()
  const laneOptions: PushLaneOptions = {
    ...options,
    leases,
    rate,
    relocate: (lease) => relocate(redis, lease, place),
    maxPositions: batch.max_positions,
    firstDelayMs: push.first_delay,
    maxDelayMs: push.max_delay,
    stopping: stopping.signal,
  }

  /** Where Redis goes away, a lane waits until its lease ends; then it is offered again. */
  async function work({ data }: Ticket): Promise<void> {
    const pushes = data.map(async (lease) => {
      held.add(lease)
      await limit(() => new LanePush(lease, laneOptions).run()).catch((error: unknown) =>
        logger.debug({ err: error }, 'a lane waits for its lease to end'),
      )
      held.delete(lease)
    })
    await Promise.all(pushes)
  }

  const workers = joinWorkers(redis, (count) => {
    limit.concurrency = Math.max(1, Math.floor(concurrency / count))
    if (perSecond !== null) rate?.resize(perSecond / count)
  })
  const renewing = setInterval(() => {
    if (held.size > 0) leases.renew([...held]).catch(() => {})
  }, RENEW_MS)
  const tickets = new Tickets({ leases, redisUrl, logger, work })
  const watches = [
    watchOverdue(redis, { idle: () => held.size === 0, heal: () => tickets.restart(), logger }),
    reportUpstream(redis, logger),
  ]

  return {
    configured() {
      releaseParked(redis).catch((error: unknown) =>
        logger.debug({ err: error }, 'parked lanes cannot be probed now; they are probed as scheduled'),
      )
    },
    async stop() {
      stopping.abort()
      for (const watch of watches) watch.stop()
      await tickets.stop()
      const deadline = Date.now() + STOP_MS
      while (held.size > 0 && Date.now() < deadline) await sleep(20)
      clearInterval(renewing)
      await within(LAST_WRITE_MS, workers.stop())
      await tickets.close()
    },
  }
}

const RENEW_MS = 5000
/** How long the end waits for requests under way. */
const STOP_MS = 6000
const LAST_WRITE_MS = 500
