import { setTimeout as sleep } from 'node:timers/promises'
import { createLeases, type Lease, type Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import type { TrackingClient } from '../tracking/client.ts'
import { startDispatcher } from './dispatcher.ts'
import { createPushLane } from './push-lane.ts'
import { createRate } from './rate.ts'
import { createSlots } from './slots.ts'
import { createTickets } from './tickets.ts'
import { createUpstream } from './upstream.ts'
import { shareOfWorkers } from './workers.ts'

export interface PushingOptions {
  readonly redis: Redis
  /** For BullMQ, which wants connections of its own. */
  readonly redisUrl: string
  readonly client: Pick<TrackingClient, 'push'>
  readonly apikeyOf: (company: string) => string | undefined
  readonly batch: { readonly max_positions: number; readonly max_wait: number }
  readonly push: {
    readonly concurrency: number
    readonly max_requests_per_s: number | null
    readonly first_delay: number
    readonly max_delay: number
  }
  readonly logger: Logger
}

/** Pushes what waits, until it is stopped: dispatches due lanes as tickets and works those that this process takes. */
export function startPushing(options: PushingOptions): { stop(): Promise<void> } {
  const { apikeyOf, batch, client, logger, push, redis, redisUrl } = options
  const leases = createLeases(redis, { maxPositions: batch.max_positions, maxWaitMs: batch.max_wait })
  const slots = createSlots(push.concurrency)
  const rate = createRate(push.max_requests_per_s)
  const tickets = createTickets(redisUrl, logger)
  const held = new Set<Lease>()
  let stopping = false

  const pushLane = createPushLane({
    leases,
    client,
    apikeyOf,
    slots,
    rate,
    upstream: createUpstream(redis),
    firstDelayMs: push.first_delay,
    maxDelayMs: push.max_delay,
    logger,
    stopping: () => stopping,
  })

  /** Redis going away ends a lane's turn; its lease ends and the lane is offered again. */
  async function work(lease: Lease): Promise<void> {
    held.add(lease)
    await pushLane(lease).catch((error: unknown) => logger.debug({ err: error }, 'a lane waits for its lease to end'))
    held.delete(lease)
  }

  const share = shareOfWorkers(redis, (workers) => {
    slots.resize(Math.max(1, Math.floor(push.concurrency / workers)))
    rate.resize(push.max_requests_per_s === null ? null : push.max_requests_per_s / workers)
  })
  const renewing = setInterval(() => {
    if (held.size > 0) leases.renew([...held]).catch(() => {})
  }, RENEW_MS)
  tickets.take(async (ticket) => void (await Promise.all(ticket.map(work))))
  const dispatcher = startDispatcher(leases, tickets, logger)

  return {
    async stop() {
      stopping = true
      await dispatcher.stop()
      const deadline = Date.now() + STOP_MS
      while (held.size > 0 && Date.now() < deadline) await sleep(20)
      clearInterval(renewing)
      await share.stop()
      await tickets.close()
    },
  }
}

const RENEW_MS = 5000
/** How long requests on their way are waited for at the end. */
const STOP_MS = 6000
