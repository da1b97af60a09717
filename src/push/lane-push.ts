import type { Logger } from '../observe/log.ts'
import {
  type ApiClockReporter,
  type Batch,
  chunksOf,
  countRecords,
  type KeepSettings,
  type Lease,
  type Leases,
  NOT_CURRENT,
  type Place,
  positionsJson,
  type RefusalReason,
  relocate,
  type Shard,
  slicesOf,
  stillHolds,
} from '../store/index.ts'
import type { ApiAnswer } from '../tracking/answer.ts'
import { newTrace, type RequestTrace } from '../tracking/client.ts'
import { isSuccess } from '../tracking/exchange.ts'
import type { Apikeys, PushApis } from './apis.ts'
import { NOT_THE_API } from './figures.ts'

/** What the lanes of a shard are pushed with. */
export interface LaneOptions {
  /** Where the records of a parked lane belong by now. */
  readonly place: Place
  readonly batch: { readonly max_positions: number }
  readonly keep: Pick<KeepSettings, 'delivered'>
  readonly push: { readonly first_delay: number; readonly max_delay: number }
  readonly apikeys: Apikeys
  readonly leases: Leases
  readonly apis: Pick<PushApis, 'of'>
  readonly apiClock: ApiClockReporter
  readonly stopping: AbortSignal
  readonly shard: Shard
  readonly logger: Logger
}

/** Pushes one leased lane: one request at a time, in order, then gives the lane back. */
export class LanePush {
  readonly #lease: Lease
  readonly #to: PushTarget
  readonly #options: LaneOptions
  /** The first records of the list, up to this number, contain at least one that is refused. */
  #suspects = 0
  #requests = 0
  /** Identifies its last request. */
  #trace: RequestTrace | undefined

  /** `to`: the API that the lane is pushed to, and what asks it for its company. */
  constructor(lease: Lease, to: PushTarget, options: LaneOptions) {
    this.#lease = lease
    this.#to = to
    this.#options = options
  }

  /** Resolves when the lane is given back, or its lease is lost. */
  async run(): Promise<void> {
    const { leases, place, shard, stopping } = this.#options
    if (this.#isElsewhere()) return leases.postpone(this.#lease, 0)
    let batch = stopping.aborted ? undefined : await leases.take(this.#lease)
    if (batch?.parked) {
      const mayPush = await relocate(shard, this.#lease, place)
      // A renewal has interrupted it, unless the lane is gone.
      if (mayPush !== true) await leases.postpone(this.#lease, mayPush === NOT_CURRENT ? ROSTER_AGAIN_MS : 0)
      batch = mayPush === true ? await leases.take(this.#lease) : undefined
    }
    while (batch) {
      const sent = { ...batch, ...countRecords(batch.records) }
      const outcome = await this.#request(sent)
      if (!outcome) return
      this.#requests++
      if (outcome.to === 'delivered') batch = await this.#delivered(sent, outcome.status)
      // What another API answers leads to nothing at the one that the company has now.
      else if (this.#isElsewhere()) return leases.postpone(this.#lease, 0)
      else if (outcome.to === 'refuse') batch = await this.#refused(sent, outcome)
      else return outcome.to === 'retry' ? this.#retry(outcome) : this.#park(outcome)
      if (batch && this.#isElsewhere()) return leases.postpone(this.#lease, 0)
    }
  }

  /** Whether the company has another API by now, or is asked in another way. */
  #isElsewhere(): boolean {
    const { api, client } = this.#options.apis.of(this.#lease.lane)
    return api !== this.#to.api || client !== this.#to.client
  }

  /**
   * Answers nothing, and has sent nothing, where the lease no longer holds. Where a key is refused the next one is tried, of
   * the keys as they are configured then, unless the company has another API by then.
   */
  async #request({ records, count }: SentBatch): Promise<Consequence | undefined> {
    const { apiClock, apikeys } = this.#options
    const { api, client } = this.#to
    const { rate, statistics } = api
    const [company, courier, route] = this.#lease.lane.split('/')
    const tried = new Set<string>()
    let outcome: Consequence = NO_APIKEY
    for (;;) {
      const apikey = apikeys.of(company).find((key) => !tried.has(key))
      if (apikey === undefined) return outcome
      tried.add(apikey)
      if (rate) await rate.turn()
      if (!stillHolds(this.#lease)) return undefined
      // The previous API is shown no key any more.
      if (this.#isElsewhere()) return outcome
      const sentAt = Date.now()
      const trace = newTrace()
      this.#trace = trace
      const request = statistics.began(this.#lease.lane, trace)
      const answer = await client.push({ courier, route, apikey, body: positionsJson(records), trace })
      statistics.ended(request, { answer, records, count })
      if (api.id === '' && 'date' in answer && answer.date !== undefined) apiClock.note(answer.date, sentAt)
      outcome = consequence(answer)
      if (outcome.to === 'delivered') apikeys.accepted(company, apikey)
      const isKeyRefused =
        outcome.to === 'park' && (outcome.status === FORBIDDEN || !apikeys.of(company).includes(apikey))
      if (!isKeyRefused) return outcome
    }
  }

  #delivered({ records, count, redelivered }: SentBatch, status: number): Promise<Batch | undefined> {
    const { batch, keep, leases, stopping } = this.#options
    const suspects = Math.max(0, this.#suspects - count)
    this.#suspects = suspects
    const isLast = this.#requests >= REQUESTS_OF_A_LANE || stopping.aborted
    const wanted = suspects > 0 ? Math.max(1, suspects >> 1) : isLast ? 0 : batch.max_positions
    const chunks = keep.delivered > 0 ? chunksOf(records) : undefined
    return leases.done(this.#lease, { count, status, wanted, atOnce: suspects > 0, redelivered, chunks })
  }

  async #retry({ status, leastMs }: Consequence & { to: 'retry' }): Promise<void> {
    const { leases, push } = this.#options
    const delay = { firstMs: push.first_delay, maxMs: push.max_delay, leastMs }
    const delayMs = await leases.retry(this.#lease, status, delay)
    this.#log().debug({ reason: String(status), delay_ms: delayMs }, 'push failed, tried again later')
  }

  /** Halves a refused batch until the refused position is found. That one is parked; the rest is pushed. */
  async #refused({ parked, records, count }: SentBatch, refusal: RefusalReason): Promise<Batch | undefined> {
    const { batch, leases, stopping } = this.#options
    if (count > 1) {
      this.#suspects = count
      const [firstHalf] = slicesOf(records, count >> 1)
      return { records: firstHalf.records }
    }
    this.#suspects = 0
    if (parked && ABOUT_POSITIONS.has(parked.status)) return this.#park(refusal)
    this.#to.api.statistics.refused(this.#lease.lane, { ...refusal, trace: this.#trace })
    this.#log().debug({ reason: String(refusal.status), answer: refusal.message }, 'position refused and parked')
    const answer = await leases.refuse(this.#lease, refusal, stopping.aborted ? 0 : batch.max_positions)
    return answer && answer.row >= REFUSED_IN_A_ROW && answer.next ? this.#park(refusal) : answer?.next
  }

  async #park({ status, message }: RefusalReason): Promise<undefined> {
    const trace = status === 0 ? undefined : this.#trace
    if (await this.#options.leases.park(this.#lease, { status, message, trace }))
      this.#log().debug({ reason: String(status), answer: message }, 'lane refused and parked')
  }

  #log(): Logger {
    const [, courier_id, route_id] = this.#lease.lane.split('/')
    return this.#options.logger.child({ courier_id, route_id, request_id: this.#trace?.requestId })
  }
}

type PushTarget = ReturnType<PushApis['of']>

/** A batch with how many records it has, and how many of them were delivered before, to another lane. */
type SentBatch = Batch & ReturnType<typeof countRecords>

/** What an answer of the tracking API leads to: positions are delivered, tried again or refused, or their lane is parked. */
export type Consequence =
  | { readonly to: 'delivered'; readonly status: number }
  /** `leastMs`: what `Retry-After` asked for. */
  | { readonly to: 'retry'; readonly status: number | string; readonly leastMs: number }
  | ({ readonly to: 'refuse' | 'park' } & RefusalReason)

/** 2xx delivers; a page or a redirect of somebody else, 408, 425, 429, 5xx and every fault may pass; 422 and 413 are about the positions, the rest about the lane. */
export function consequence(answer: ApiAnswer): Consequence {
  if (!('status' in answer)) return { to: 'retry', status: 'fault' in answer ? answer.fault : NOT_THE_API, leastMs: 0 }
  const { status, text, retryAfterMs = 0 } = answer
  if (isSuccess(status)) return { to: 'delivered', status }
  if (status >= 500 || MAY_PASS.has(status)) return { to: 'retry', status, leastMs: retryAfterMs }
  return { to: ABOUT_POSITIONS.has(status) ? 'refuse' : 'park', status, message: text }
}

const FORBIDDEN = 403
const MAY_PASS = new Set([408, 425, 429])
const ABOUT_POSITIONS = new Set([413, 422])
const NO_APIKEY: Consequence = {
  to: 'park',
  status: 0,
  message: 'the company of this lane has no apikey that is in effect: add it to gateway.yaml, under companies',
}
/** Requests of one lane before others have their turn. */
const REQUESTS_OF_A_LANE = 8
/** Positions refused one after the other that park their lane whole. */
const REFUSED_IN_A_ROW = 8
/** When a parked lane is probed that could not be, because the roster was not current. */
const ROSTER_AGAIN_MS = 1000
