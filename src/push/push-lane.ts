import { countRecords, type Batch, type Lease, type Leases, positionsJson, receivedAt } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'
import type { Answer, TrackingClient } from '../tracking/client.ts'
import { consequence } from './outcome.ts'
import type { Rate } from './rate.ts'
import type { Slots } from './slots.ts'
import type { Upstream } from './upstream.ts'

export interface PushLaneOptions {
  readonly leases: Leases
  readonly client: Pick<TrackingClient, 'push'>
  /** The company's apikey, as configured now. */
  readonly apikeyOf: (company: string) => string | undefined
  readonly slots: Slots
  readonly upstream: Upstream
  readonly rate: Rate
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  readonly logger: Logger
  readonly stopping: () => boolean
}

/** Pushes what a leased lane holds, one request at a time and in order, and gives the lane back. Resolves then. */
export function createPushLane(options: PushLaneOptions): (lease: Lease) => Promise<void> {
  const { apikeyOf, client, leases, logger, rate, slots, stopping, upstream } = options

  async function pushLane(lease: Lease): Promise<void> {
    let batch = stopping() ? undefined : await leases.take(lease)
    for (let turn = 1; batch; turn++) batch = await settle(lease, batch, turn)
  }

  /** Pushes a batch and does what the answer leads to; the next batch where one is to be pushed at once. */
  async function settle(lease: Lease, batch: Batch, turn: number): Promise<Batch | undefined> {
    const answer = await push(lease.lane, batch.records)
    const next = answer === 'no_apikey' ? NO_APIKEY : consequence(answer)
    if (answer !== 'no_apikey') upstream.note(lease.lane, next)
    const count = countRecords(batch.records)
    if (next.to === 'delivered') {
      metrics.delivered.inc({}, count)
      metrics.deliveryDelay.observe((Date.now() - receivedAt(batch.records)) / 1000)
      return leases.done(lease, { count, status: next.status, more: turn < TURNS && !stopping() })
    }
    const [, courier_id, route_id] = lease.lane.split('/')
    const log = logger.child({ courier_id, route_id, reason: String(next.status) })
    if (next.to === 'retry') {
      const delay = { firstMs: options.firstDelayMs, maxMs: options.maxDelayMs, leastMs: next.leastMs }
      const delayMs = await leases.retry(lease, next.status, delay)
      log.debug({ delay_ms: delayMs }, 'push failed, tried again later')
    } else if (next.to === 'refuse') {
      await leases.refuse(lease, count, next)
      log.warn({ positions: count, answer: next.message }, 'positions refused and parked')
    } else {
      await leases.park(lease, next)
      log.warn({ answer: next.message }, 'lane refused and parked')
    }
    return undefined
  }

  async function push(lane: string, records: Buffer): Promise<Answer | 'no_apikey'> {
    const [company, courier, route] = lane.split('/')
    const apikey = apikeyOf(company)
    if (apikey === undefined) return 'no_apikey'
    await rate.turn()
    const started = performance.now()
    const answer = await client.push({ courier, route, apikey, body: positionsJson(records) })
    metrics.pushDuration.observe((performance.now() - started) / 1000)
    metrics.pushRequests.inc({ code: 'fault' in answer ? answer.fault : String(answer.status) })
    return answer
  }

  return (lease) => slots.run(() => pushLane(lease))
}

/** Batches of one lane pushed before other lanes have a turn. */
const TURNS = 8
const NO_APIKEY = {
  to: 'park',
  status: 0,
  message: 'the company of this lane has no apikey in gateway.yaml: add it under companies',
} as const
