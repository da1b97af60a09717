import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { within } from '../async.ts'
import { joinWorkers, type Lease, Leases, releaseParked } from '../lanes/index.ts'
import { ApiClockWatch, PushWatch } from './figures.ts'
import { LanePush, type PushingOptions } from './push-lane.ts'
import { Rate } from './rate.ts'
import { type Ticket, Tickets } from './tickets.ts'
import { watchOverdue, watchTurns } from './watch.ts'

export type { PushFigures } from './figures.ts'

/** Pushes waiting fixes until it is stopped: hands out due lanes as tickets and works the tickets that this process gets. */
export function startPushing(options: PushingOptions) {
  const { batch, logger, push, redis, redisServer } = options
  const { concurrency, max_requests_per_s: perSecond } = push
  const leases = new Leases(redis, { maxPositions: batch.max_positions, maxWaitMs: batch.max_wait })
  const limit = pLimit(concurrency)
  const rate = perSecond === null ? null : new Rate(perSecond)
  const held = new Set<Lease>()
  const stopping = new AbortController()
  const watch = new PushWatch()
  const laneOptions = { ...options, leases, rate, apiClock: new ApiClockWatch(redis), watch, stopping: stopping.signal }

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
    if (rate && perSecond !== null) rate.perSecond = perSecond / count
  })
  const renewing = setInterval(() => {
    if (held.size > 0) leases.renew([...held]).catch(() => {})
  }, RENEW_MS)
  const idle = () => held.size === 0
  const tickets = new Tickets({ leases, redisServer, logger, idle, work })
  const overdue = watchOverdue(redis, { idle, heal: () => tickets.restart(), logger })

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
      clearInterval(overdue)
      clearInterval(turns)
      await tickets.stop()
      const deadline = performance.now() + STOP_MS
      while (held.size > 0 && performance.now() < deadline) await sleep(20)
      clearInterval(renewing)
      await within(LAST_WRITE_MS, workers.stop())
      await tickets.close()
    },
  }
}

const RENEW_MS = 5000
const STOP_MS = 6000
const LAST_WRITE_MS = 500
