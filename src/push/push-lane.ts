import {
  type Batch,
  countRecords,
  type Lease,
  type Leases,
  NOT_CURRENT,
  positionsJson,
  receivedAt,
  slicesOf,
  stillHolds,
} from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { metrics } from '../observe/metrics.ts'
import type { ApiAnswer } from '../tracking/client/answer.ts'
import type { TrackingClient } from '../tracking/client.ts'
import { type Consequence, consequence } from './outcome.ts'
import type { Rate } from './rate.ts'

export interface PushLaneOptions {
  readonly leases: Leases
  readonly client: Pick<TrackingClient, 'push'>
  /** The company's apikey, as configured now. */
  readonly apikeyOf: (company: string) => string | undefined
  /** Moves the records of a parked lane to the lanes where they belong by now; answers whether the rest may be pushed. */
  readonly relocate: (lease: Lease) => Promise<boolean | typeof NOT_CURRENT>
  readonly rate: Rate
  readonly maxPositions: number
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  readonly logger: Logger
  readonly stopping: () => boolean
}

/** Pushes what a leased lane holds, one request at a time and in order, and gives the lane back. Resolves then. */
export function createPushLane(options: PushLaneOptions): (lease: Lease) => Promise<void> {
  const { apikeyOf, client, leases, logger, maxPositions, rate, stopping } = options

  return async (lease) => {
    const turn: Turn = { lease, suspects: 0, pushed: 0, log: logOf(lease) }
    let batch = stopping() ? undefined : await first(lease)
    while (batch) batch = await settle(turn, batch)
  }

  async function first(lease: Lease): Promise<Batch | undefined> {
    const batch = await leases.take(lease)
    if (!batch?.parked) return batch
    const mayPush = await options.relocate(lease)
    if (mayPush === NOT_CURRENT) await leases.postpone(lease, ROSTER_AGAIN_MS)
    return mayPush === true ? leases.take(lease) : undefined
  }

  /** Pushes a batch and does what the answer leads to; the next batch where one is to be pushed at once. */
  async function settle(turn: Turn, batch: Batch): Promise<Batch | undefined> {
    const next = await push(turn.lease, batch.records)
    if (!next) return undefined
    turn.pushed++
    if (next.to === 'delivered') return delivered(turn, batch, next.status)
    if (next.to === 'retry') return retry(turn, next)
    return next.to === 'refuse' ? refused(turn, batch, next) : park(turn, next)
  }

  async function delivered(turn: Turn, { records }: Batch, status: number): Promise<Batch | undefined> {
    const count = countRecords(records)
    turn.suspects = Math.max(0, turn.suspects - count)
    metrics.delivered.inc({}, count)
    metrics.deliveryDelay.observe((Date.now() - receivedAt(records)) / 1000)
    const ended = turn.suspects === 0 && (turn.pushed >= BATCHES_A_TURN || stopping())
    const wanted = ended ? 0 : turn.suspects > 0 ? half(turn.suspects) : maxPositions
    return leases.done(turn.lease, { count, status, wanted, atOnce: turn.suspects > 0 })
  }

  async function retry({ lease, log }: Turn, { status, leastMs }: Consequence & { to: 'retry' }): Promise<undefined> {
    const delay = { firstMs: options.firstDelayMs, maxMs: options.maxDelayMs, leastMs }
    const delayMs = await leases.retry(lease, status, delay)
    log.debug({ reason: String(status), delay_ms: delayMs }, 'push failed, tried again later')
  }

  /** Halves what is refused until the position is found; that one is parked, the rest goes on. */
  async function refused(turn: Turn, batch: Batch, refusal: Refused): Promise<Batch | undefined> {
    const count = countRecords(batch.records)
    if (count > 1) {
      turn.suspects = count
      return { records: firstOf(batch.records, half(count)) }
    }
    turn.suspects = 0
    if (batch.parked && POSITIONS.has(batch.parked.status)) return park(turn, refusal)
    turn.log.warn({ reason: String(refusal.status), answer: refusal.message }, 'position refused and parked')
    const answer = await leases.refuse(turn.lease, refusal, stopping() ? 0 : maxPositions)
    return answer && answer.row >= REFUSED_IN_A_ROW && answer.next ? park(turn, refusal) : answer?.next
  }

  async function park({ lease, log }: Turn, { status, message }: Refused): Promise<undefined> {
    if (await leases.park(lease, { status, message }))
      log.warn({ reason: String(status), answer: message }, 'lane refused and parked')
  }

  /** Nothing is sent, and there is no consequence, where the lease no longer holds. */
  async function push(lease: Lease, records: Buffer): Promise<Consequence | undefined> {
    const [company, courier, route] = lease.lane.split('/')
    const apikey = apikeyOf(company)
    if (apikey === undefined) return NO_APIKEY
    await rate.turn()
    if (!stillHolds(lease)) return undefined
    const started = performance.now()
    const answer = await client.push({ courier, route, apikey, body: positionsJson(records) })
    metrics.pushDuration.observe((performance.now() - started) / 1000)
    metrics.pushRequests.inc({ code: codeOf(answer) })
    return consequence(answer)
  }

  function logOf({ lane }: Lease): Logger {
    const [, courier_id, route_id] = lane.split('/')
    return logger.child({ courier_id, route_id })
  }
}

/** A lane's time with this worker. */
interface Turn {
  readonly lease: Lease
  readonly log: Logger
  /** So many records from the head on are known to have a refused one among them. */
  suspects: number
  /** Requests so far. */
  pushed: number
}

type Refused = Consequence & { to: 'refuse' | 'park' }

/** Batches of one lane pushed before other lanes have a turn. */
const BATCHES_A_TURN = 8
/** Positions refused one after the other that park their lane whole. */
const REFUSED_IN_A_ROW = 8
/** When a parked lane is probed that could not be, because the roster was not current. */
const ROSTER_AGAIN_MS = 1000
/** Answers that are about positions, not about the lane. */
const POSITIONS = new Set([413, 422])
const NO_APIKEY: Consequence = {
  to: 'park',
  status: 0,
  message: 'the company of this lane has no apikey in gateway.yaml: add it under companies',
}

function half(count: number): number {
  return Math.max(1, count >> 1)
}

function firstOf(records: Buffer, count: number): Buffer {
  const [first] = slicesOf(records, count)
  return first.records
}

function codeOf(answer: ApiAnswer): string {
  return 'fault' in answer ? answer.fault : String(answer.status)
}
