import { setTimeout as sleep } from 'node:timers/promises'
import { isConnectionError } from '../redis/connection.ts'
import { grouped } from '../redis/grouped.ts'
import { BEHIND_MS } from './keys.ts'
import type { Parked, RefusalReason } from './survey.ts'
import type { Script, Shard } from './shards.ts'

/** A lane that a worker may push for now. */
export interface Lease {
  readonly lane: string
  /** The token, see lua/lease.lua: each step and each renewal sets a new one; '' once the lease is lost. */
  token: string
  /** The time until which the lease holds, by `performance.now()` of the process that took it. */
  until?: number
  /** The id of the API that the lane is pushed to; undefined: the usual one. */
  api?: string
}

/** The APIs that lanes are pushed to, if there are several. */
export interface LaneApis {
  /** Each API id, '' for the usual one, and whether this process has room for more of its lanes. */
  readonly apis: readonly (readonly [id: string, hasRoom: boolean])[]
  /** Company and API of each company that does not push to the usual one. */
  readonly companies: ReadonlyMap<string, string>
}

/**
 * Returns whether the lease certainly holds now: a process that was stopped for long must not push a lane that another has
 * leased.
 */
export function stillHolds({ token, until = 0 }: Lease): boolean {
  return token !== '' && performance.now() < until
}

/** The next records to push of a lane. */
export interface Batch {
  /** Packed records, in the order stored. */
  readonly records: Buffer
  /** Why the lane is parked; the batch is then one record, a probe. */
  readonly parked?: Parked
}

export interface Delivered {
  /** Number of records, from the head of the lane; 0: none, only the next ones are wanted. */
  readonly count: number
  readonly status: number
  /** Most records wanted next; `atOnce`: even if they are not a whole batch. 0: none, the lane is given back. */
  readonly wanted: number
  readonly atOnce: boolean
  /** How many of them were delivered before, to another lane; undefined: none. */
  readonly redelivered?: number
  /** What is kept of them (`chunksOf`); undefined: nothing. */
  readonly chunks?: Buffer
}

export interface RetryDelay {
  readonly firstMs: number
  readonly maxMs: number
  /** The delay that `Retry-After` asked for, ms. */
  readonly leastMs: number
}

export interface LeaseOptions {
  readonly maxPositions: number
  readonly maxWaitMs: number
  /** How long delivered fixes are kept, ms after their own time; 0, the default: not at all. */
  readonly keepMs?: number
  readonly leaseMs?: number
  /** undefined: there is one API. */
  readonly apis?: () => LaneApis | undefined
}

/** A worker's operations on the lanes of a shard. With a lost lease nothing changes, and the result is `undefined` or false. */
export class Leases {
  readonly #shard: Shard
  readonly #options: Required<LeaseOptions>
  /** Whether the last claim left due lanes. Only this class writes it. */
  isMoreDue = false
  /** Tokens change during a renewal: no call with a token may be sent before it ends. */
  #renewal: Promise<unknown> | undefined

  constructor(shard: Shard, options: LeaseOptions) {
    this.#shard = shard
    this.#options = { leaseMs: LEASE_MS, keepMs: 0, apis: () => undefined, ...options }
  }

  /**
   * Leases due lanes, about `limit` (1,000). Of an API that is down, one at a time; of one without room in this process, or
   * while tickets wait, none.
   */
  async claim(limit: number): Promise<Lease[]> {
    const { apis, leaseMs } = this.#options
    const { aside, clock, failing, schedule, upstream, waitingTickets } = this.#shard.keyNames
    const known = apis()
    const ofApis = known
      ? [
          known.apis.length,
          ...known.apis.flatMap(([id, hasRoom]) => [id, hasRoom ? 1 : 0]),
          ...[...known.companies].flat(),
        ]
      : []
    const answer = await this.#shard.run(
      'claim',
      [schedule, upstream, waitingTickets, clock, aside, failing],
      [leaseMs, limit, MOST_WAITING, ...ofApis],
    )
    const [token, isMore, ...lanes] = answer as [Buffer, number, ...Buffer[]]
    this.isMoreDue = isMore === 1
    return lanes.map((lane) => ({ lane: lane.toString(), token: token.toString() }))
  }

  /** Makes lanes due that were set aside because of these APIs: their companies may now push to others. */
  async recall(apis: Iterable<string>): Promise<void> {
    const { aside, schedule } = this.#shard.keyNames
    for (const api of apis)
      while (((await this.#shard.run('recall', [schedule, keyOf(aside, api)], [])) as number) === RECALLED) continue
  }

  /** Renews leases in place; a lost one gets the token ''. Only one renewal runs at a time: a second call does nothing. */
  async renew(leases: readonly Lease[]): Promise<void> {
    if (this.#renewal) return
    const renewal = again((isAgain) => this.#renew(leases, isAgain), isConnectionError).finally(
      () => (this.#renewal = undefined),
    )
    this.#renewal = renewal.catch(() => {})
    await renewal
  }

  /**
   * Returns what to push first. If several hold the same lease, only the first gets something. A lane that is given back
   * because the service is down gets nothing.
   */
  readonly take = grouped(async (leases: Lease[]) => {
    await this.#renewal
    const args = leases.flatMap(({ lane, token, api = '' }) => [lane, token, api])
    const { leaseMs, maxPositions } = this.#options
    const { schedule, lanePrefix, parked, ahead, upstream } = this.#shard.keyNames
    const touched = [schedule, lanePrefix, parked, ahead, upstream]
    const asked = performance.now()
    const answers = await this.#shard.run('take', touched, [maxPositions, BEHIND_MS, ...args])
    return (answers as ([Buffer, number, Buffer, Buffer] | null)[]).map((answer, index): Batch | undefined => {
      if (!answer) return undefined
      const [token, leftMs, records, why] = answer
      Object.assign(leases[index], { token: token.toString(), until: asked + Math.min(leftMs, leaseMs) })
      if (records.length === 0) return undefined
      return why.length > 0 ? { records, parked: JSON.parse(why.toString()) as Parked } : { records }
    })
  }, GROUP)

  /** Drops delivered records. Resolves to the next batch if one is to be pushed at once. */
  async done(lease: Lease, delivered: Delivered): Promise<Batch | undefined> {
    // Delivered records must not be pushed again because Redis was away: the token tells whether the lease is still ours.
    return again(() => this.#done({ ...delivered, lease }))
  }

  /** Gives the lane back, due after a growing delay. Resolves to the delay, ms. */
  async retry(
    lease: Lease,
    status: number | string,
    { firstMs, maxMs, leastMs }: RetryDelay,
  ): Promise<number | undefined> {
    const { schedule, pushesPrefix } = this.#shard.keyNames
    const touched = [schedule, pushesPrefix, ...this.#stateOf(lease)]
    const known = this.#options.apis()
    const ofApis = known ? [lease.api ?? '', ...[...known.companies].flat()] : []
    const delay = [firstMs, maxMs, Math.random(), leastMs]
    const answer = await this.#end('retry', touched, lease, [status, ...delay, ...ofApis])
    return (answer as number | null) ?? undefined
  }

  /** Gives back a lane for which nothing was pushed; it is due after a delay. */
  async postpone(lease: Lease, delayMs: number): Promise<void> {
    const [upstream] = this.#stateOf(lease)
    await this.#end('postpone', [this.#shard.keyNames.schedule, upstream], lease, [delayMs])
  }

  /** Parks the lane whole. */
  async park(lease: Lease, { status, message, trace }: RefusalReason & Pick<Parked, 'trace'>): Promise<boolean> {
    const { schedule, pushesPrefix, parked } = this.#shard.keyNames
    const touched = [schedule, pushesPrefix, parked, ...this.#stateOf(lease)]
    return (await this.#end('park', touched, lease, [status, message, JSON.stringify(trace ?? null)])) === 1
  }

  /** Parks the first record. Resolves to how many of the lane were refused in a row, and to the next `wanted` records. */
  async refuse(
    lease: Lease,
    { status, message }: RefusalReason,
    wanted: number,
  ): Promise<{ row: number; next?: Batch } | undefined> {
    const { schedule, lane, pushesPrefix, refused, refusedLanes, parked, ahead } = this.#shard.keyNames
    const own = [lane(lease.lane), pushesPrefix, refused(lease.lane)]
    const touched = [schedule, ...own, refusedLanes, parked, ahead, ...this.#stateOf(lease)]
    const answer = (await this.#end('refuse', touched, lease, [status, message, wanted])) as [number, Buffer] | null
    if (!answer) return undefined
    const [row, records] = answer
    return { row, next: records.length > 0 ? { records } : undefined }
  }

  /** The keys of the API that a lane is pushed to: its state, and the lanes that fail. */
  #stateOf({ api = '' }: Lease): string[] {
    const { upstream, failing } = this.#shard.keyNames
    return [keyOf(upstream, api), keyOf(failing, api)]
  }

  async #end(script: Script, touched: readonly string[], lease: Lease, args: readonly (string | number)[]) {
    await this.#renewal
    return this.#shard.run(script, touched, [lease.lane, lease.token, ...args])
  }

  readonly #done = grouped(async (items: (Delivered & { readonly lease: Lease })[]) => {
    await this.#renewal
    const { keepMs, maxPositions, maxWaitMs } = this.#options
    const args = items.flatMap(
      ({ lease: { lane, token, api = '' }, count, status, wanted, atOnce, redelivered = 0, chunks = '' }) => {
        return [lane, token, count, status, wanted, atOnce ? 1 : 0, redelivered, chunks, api]
      },
    )
    const keys = this.#shard.keyNames
    const touched = [keys.schedule, keys.custody, keys.lanePrefix, keys.pushesPrefix, keys.parked, keys.ahead]
    const answers = await this.#shard.run(
      'done',
      [...touched, keys.upstream, keys.failing, keys.keptPrefix, keys.keptHours],
      [maxPositions, dueAfter(maxWaitMs), keepMs, ...args],
    )
    return (answers as ([Buffer, Buffer] | null)[]).map((answer, index): Batch | undefined => {
      if (!answer) return undefined
      items[index].lease.token = answer[0].toString()
      return { records: answer[1] }
    })
  }, DONE_GROUP)

  async #renew(leases: readonly Lease[], isAgain: boolean): Promise<void> {
    const { leaseMs } = this.#options
    const asked = performance.now()
    const before = leases.map(({ token }) => token)
    const args = leases.flatMap(({ lane, token }) => [lane, token])
    const tokens = (await this.#shard.run(
      'renew',
      [this.#shard.keyNames.schedule],
      [leaseMs, isAgain ? 1 : 0, ...args],
    )) as (Buffer | null)[]
    leases.forEach((lease, index) => {
      // If the token has changed, a step was sent before the renewal: the step has its own new token, which the renewal did
      // not know.
      if (lease.token === before[index]) lease.token = tokens[index]?.toString() ?? ''
      if (tokens[index]) lease.until = asked + leaseMs
    })
  }
}

/** Repeats a step that fails, for two minutes at most, while its errors may pass. */
async function again<Answer>(
  step: (isAgain: boolean) => Promise<Answer>,
  mayPass: (error: Error) => boolean = () => true,
): Promise<Answer> {
  const deadline = performance.now() + AGAIN_FOR_MS
  for (let isAgain = false; ; isAgain = true) {
    try {
      return await step(isAgain)
    } catch (error) {
      if (performance.now() > deadline || !mayPass(error as Error)) throw error
      await sleep(AGAIN_MS)
    }
  }
}

/** A key of the usual API (''), or of another one. */
export function keyOf(key: string, api: string): string {
  return api === '' ? key : `${key}:${api}`
}

/** Returns the ms after which a lane with new records is due, so that no fix waits longer than `maxWaitMs` for others. */
export function dueAfter(maxWaitMs: number): number {
  return Math.max(0, maxWaitMs - LOOK_MS)
}

/** How often a worker looks for due lanes. */
export const LOOK_MS = 200
/** How long a lease holds that is not renewed. */
export const LEASE_MS = 15_000
/** If this many tickets wait for a worker, no more are added. */
const MOST_WAITING = 8
/** Lanes that one call recalls. */
const RECALLED = 1000
const AGAIN_MS = 100
const AGAIN_FOR_MS = 120_000
const GROUP = { inFlight: 2, maxWeight: 128 }
const DONE_GROUP = { ...GROUP, apartMs: 25, enough: 48 }
