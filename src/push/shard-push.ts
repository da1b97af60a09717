import { companyOfLane } from '../domain/ids.ts'
import type { Logger } from '../observe/log.ts'
import {
  type Batch,
  chunksOf,
  countRecords,
  countRedelivered,
  type KeepSettings,
  type Lease,
  Leases,
  NOT_CURRENT,
  type Place,
  positionsJson,
  type Shard,
  type Store,
  type RefusalReason,
  relocate,
  slicesOf,
  stillHolds,
  type Workers,
} from '../store/index.ts'
import type { ApiAnswer } from '../tracking/answer.ts'
import type { TrackingClient } from '../tracking/client.ts'
import { newTrace, type RequestTrace } from '../tracking/trace.ts'
import type { Apikeys, Keyring } from './apikeys.ts'
import type { CompanyApi, PushApi, PushApis } from './apis.ts'
import { type ApiClockReporter, NOT_THE_API } from './figures.ts'
import { type Ticket, Tickets } from './tickets.ts'
import { healOverdue } from './watchdog.ts'

interface ShardPushOptions extends Omit<LaneOptions, 'leases'> {
  readonly batch: LaneOptions['batch'] & { readonly max_wait: number }
  readonly apis: PushApis
  readonly workers: Workers
}

/** Pushes the lanes of one shard, or the parts of lanes in it. */
export class ShardPush {
  readonly #options: ShardPushOptions
  readonly #leases: Leases
  readonly #lane: LaneOptions
  readonly #held = new Set<Lease>()
  readonly #tickets: Tickets
  readonly #renewing: NodeJS.Timeout
  readonly #overdue: NodeJS.Timeout

  constructor(options: ShardPushOptions) {
    const { apis, batch, keep, shard, logger } = options
    this.#options = options
    this.#leases = new Leases(shard, {
      maxPositions: batch.max_positions,
      maxWaitMs: batch.max_wait,
      keepMs: keep.delivered,
      apis: apis.lanes,
    })
    this.#lane = { ...options, leases: this.#leases }
    this.#renewing = setInterval(() => this.#renew(), RENEW_MS)
    const { apis } = options
    const ofLanes = { idOf: (lane: string) => apis.of(companyOfLane(lane)).api.id, ids: apis.ids }
    this.#tickets = new Tickets({ ...options, apis: ofLanes, leases: this.#leases, work: this.#work })
    this.#overdue = healOverdue(shard, {
      idle: () => this.isIdle,
      heal: () => this.#tickets.restart(),
      areSeveral: () => apis.lanes() !== undefined,
      logger,
    })
  }

  /** Whether this process pushes nothing of the shard now. */
  get isIdle(): boolean {
    return this.#held.size === 0
  }

  /** Claims no more lanes; those that are held stay leased. */
  async stop(): Promise<void> {
    clearInterval(this.#overdue)
    await this.#tickets.stop()
  }

  async close(): Promise<void> {
    clearInterval(this.#renewing)
    await this.#tickets.close()
  }

  /**
   * Looks up anew the API of lanes that were set aside because of these APIs. If Redis does not answer, they are due in a
   * minute.
   */
  recall(apis: readonly string[]): void {
    this.#leases.recall(apis).catch(() => {})
  }

  /** If Redis goes away, a lane waits until its lease ends, and is then offered again. */
  readonly #work = async ({ data }: Ticket): Promise<void> => {
    const { apis, logger } = this.#options
    const pushes = data.map(async (lease) => {
      const { api, client } = apis.of(companyOfLane(lease.lane))
      lease.api = api.id
      this.#held.add(lease)
      await to.api
        .limit(() => new LanePush(lease, to, this.#lane).run())
        .catch((error: unknown) => logger.debug({ err: error }, 'a lane waits for its lease to end'))
      this.#held.delete(lease)
    })
    // The lanes of a ticket are of one API, unless it was changed since they were claimed.
    const { api } = apis.of(companyOfLane(data[0]?.lane ?? ''))
    api.tickets++
    await Promise.all(pushes)
    api.tickets--
  }

  #renew(): void {
    if (this.#held.size > 0) this.#leases.renew([...this.#held]).catch(() => {})
  }
}

/** Pushes one leased lane: one request at a time, in order, then gives the lane back. */
class LanePush {
  readonly #lease: Lease
  readonly #options: LanePushOptions
  /** The first records of the list, up to this number, contain at least one that is refused. */
  #suspects = 0
  #requests = 0
  /** Of its last request. */
  #trace: RequestTrace | undefined

  constructor(lease: Lease, options: LanePushOptions) {
    this.#lease = lease
    this.#options = options
  }

  /** Resolves when the lane is given back, or its lease is lost. */
  async run(): Promise<void> {
    const { leases, place, shard, stopping } = this.#options
    if (this.#isElsewhere()) return leases.postpone(this.#lease, 0)
    let batch = stopping.aborted ? undefined : await leases.take(this.#lease)
    if (batch?.parked) {
      const mayPush = await relocate(shard, this.#lease, place)
      if (mayPush === NOT_CURRENT) await leases.postpone(this.#lease, ROSTER_AGAIN_MS)
      batch = mayPush === true ? await leases.take(this.#lease) : undefined
    }
    while (batch) {
      const outcome = await this.#request(batch.records)
      if (!outcome) return
      this.#requests++
      if (outcome.to === 'delivered') batch = await this.#delivered(batch, outcome.status)
      // What another API answers leads to nothing at the one that the company has now.
      else if (this.#isElsewhere()) return leases.postpone(this.#lease, 0)
      else if (outcome.to === 'refuse') batch = await this.#refused(batch, outcome)
      else return outcome.to === 'retry' ? this.#retry(outcome) : this.#park(outcome)
      if (batch && this.#isElsewhere()) return leases.postpone(this.#lease, 0)
    }
  }

  /** Whether the company has another API by now, or is asked in another way. */
  #isElsewhere(): boolean {
    const { api, apis, client } = this.#options
    const now = apis.of(companyOfLane(this.#lease.lane))
    return now.api !== api || now.client !== client
  }

  /**
   * Answers nothing, and has sent nothing, where the lease no longer holds. Where a key is refused the next one is tried, of
   * the keys as they are configured then, unless the company has another API by then.
   */
  async #request(records: Buffer): Promise<Consequence | undefined> {
    const { api, apiClock, apikeys, client } = this.#options
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
      // The API of before is shown no key any more.
      if (this.#isElsewhere()) return outcome
      const sentAt = Date.now()
      const trace = newTrace()
      this.#trace = trace
      const request = statistics.began(this.#lease.lane, trace)
      const answer = await client.push({ courier, route, apikey, body: positionsJson(records), trace })
      statistics.ended(request, { answer, records })
      if (api.id === '' && 'date' in answer && answer.date !== undefined) apiClock.note(answer.date, sentAt)
      outcome = consequence(answer)
      if (outcome.to === 'delivered') apikeys.accepted(company, apikey)
      const isKeyRefused =
        outcome.to === 'park' && (outcome.status === FORBIDDEN || !apikeys.of(company).includes(apikey))
      if (!isKeyRefused) return outcome
    }
  }

  #delivered({ records }: Batch, status: number): Promise<Batch | undefined> {
    const { batch, keep, leases, stopping } = this.#options
    const count = countRecords(records)
    const suspects = Math.max(0, this.#suspects - count)
    this.#suspects = suspects
    const isLast = this.#requests >= REQUESTS_OF_A_LANE || stopping.aborted
    const wanted = suspects > 0 ? Math.max(1, suspects >> 1) : isLast ? 0 : batch.max_positions
    const chunks = keep.delivered > 0 ? chunksOf(records, Date.now() - keep.delivered) : undefined
    const redelivered = countRedelivered(records)
    return leases.done(this.#lease, { count, status, wanted, atOnce: suspects > 0, redelivered, chunks })
  }

  async #retry({ status, leastMs }: Consequence & { to: 'retry' }): Promise<void> {
    const { leases, push } = this.#options
    const delay = { firstMs: push.first_delay, maxMs: push.max_delay, leastMs }
    const delayMs = await leases.retry(this.#lease, status, delay)
    this.#log().debug({ reason: String(status), delay_ms: delayMs }, 'push failed, tried again later')
  }

  /** Halves a refused batch until the refused position is found. That one is parked; the rest is pushed. */
  async #refused({ parked, records }: Batch, refusal: RefusalReason): Promise<Batch | undefined> {
    const { batch, leases, stopping } = this.#options
    const count = countRecords(records)
    if (count > 1) {
      this.#suspects = count
      const [firstHalf] = slicesOf(records, count >> 1)
      return { records: firstHalf.records }
    }
    this.#suspects = 0
    if (parked && ABOUT_POSITIONS.has(parked.status)) return this.#park(refusal)
    this.#options.api.statistics.refused(this.#lease.lane, { ...refusal, trace: this.#trace })
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
  if (status >= 200 && status < 300) return { to: 'delivered', status }
  if (status >= 500 || MAY_PASS.has(status)) return { to: 'retry', status, leastMs: retryAfterMs }
  return { to: ABOUT_POSITIONS.has(status) ? 'refuse' : 'park', status, message: text }
}

const RENEW_MS = 5000
