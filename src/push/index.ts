import { setTimeout as sleep } from 'node:timers/promises'
import {
  joinMembers,
  keys,
  type Lease,
  Leases,
  type Place,
  type Redis,
  releaseParked,
  relocate,
} from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import type { TrackingClient } from '../tracking/client.ts'
import { startDispatcher } from './dispatcher.ts'
import { createPushLane } from './push-lane.ts'
import { createRate } from './rate.ts'
import { createSlots } from './slots.ts'
import { createTickets } from './tickets.ts'
import { reportUpstream } from './upstream.ts'
import { watchOverdue } from './watchdog.ts'

export interface PushingOptions {
  readonly redis: Redis
  /** For BullMQ, which wants connections of its own. */
  readonly redisUrl: string
  readonly client: Pick<TrackingClient, 'push'>
  readonly apikeyOf: (company: string) => string | undefined
  /** Where a record belongs as configured now. */
  readonly place: Place
  readonly batch: { readonly max_positions: number; readonly max_wait: number }
  readonly push: {
    readonly concurrency: number
    readonly max_requests_per_s: number | null
    readonly first_delay: number
    readonly max_delay: number
  }
  readonly logger: Logger
}

export interface Pushing {
  /** The configuration has changed: what is parked may be taken now. */
  configured(): void
  /** Ends what is on its way, within six seconds, and leaves the rest to others. */
  stop(): Promise<void>
}

/** Pushes what waits, until it is stopped: dispatches due lanes as tickets and works those that this process takes. */
export function startPushing(options: PushingOptions): Pushing {
  const { batch, logger, place, push, redis } = options
  const leases = new Leases(redis, { maxPositions: batch.max_positions, maxWaitMs: batch.max_wait })
  const slots = createSlots(push.concurrency)
  const rate = createRate(push.max_requests_per_s)
  const held = new Set<Lease>()
  const stopping = new AbortController()

  const pushLane = createPushLane({
    ...options,
    leases,
    rate,
    relocate: (lease) => relocate(redis, lease, place),
    maxPositions: batch.max_positions,
    firstDelayMs: push.first_delay,
    maxDelayMs: push.max_delay,
    stopping: () => stopping.signal.aborted,
  })

  /** Redis going away ends a lane's turn; its lease ends and the lane is offered again. */
  async function work(lease: Lease): Promise<void> {
    held.add(lease)
    await slots
      .run(() => pushLane(lease))
      .catch((error: unknown) => logger.debug({ err: error }, 'a lane waits for its lease to end'))
    held.delete(lease)
  }

  const workAll = async (ticket: readonly Lease[]) => void (await Promise.all(ticket.map(work)))
  const members = joinMembers(redis, keys.workers, (workers = 1) => {
    slots.resize(Math.max(1, Math.floor(push.concurrency / workers)))
    rate.resize(push.max_requests_per_s === null ? null : push.max_requests_per_s / workers)
  })
  const renewing = setInterval(() => {
    if (held.size > 0) leases.renew([...held]).catch(() => {})
  }, RENEW_MS)
  const tickets = createTickets(options.redisUrl, logger, workAll)
  const dispatcher = startDispatcher(leases, tickets, { logger, work: workAll })
  const watchdog = watchOverdue(redis, { idle: () => held.size === 0, heal: tickets.restart, logger })

  const reporting = reportUpstream(redis, logger)

  return {
    configured() {
      releaseParked(redis).catch((error: unknown) =>
        logger.debug({ err: error }, 'what is parked is tried at its time'),
      )
    },
    async stop() {
      stopping.abort()
      watchdog.stop()
      reporting.stop()
      await dispatcher.stop()
      const deadline = Date.now() + STOP_MS
      while (held.size > 0 && Date.now() < deadline) await sleep(20)
      clearInterval(renewing)
      await members.stop()
      await tickets.close()
    },
  }
}

const RENEW_MS = 5000
/** How long requests on their way are waited for at the end. */
const STOP_MS = 6000
