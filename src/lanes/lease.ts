import { grouped } from './grouped.ts'
import { keys } from './keys.ts'
import { type Redis, scripts } from './redis.ts'

/** A lane that a worker may push for now. `token` changes when the lease is renewed; '' once it is lost. */
export interface Lease {
  readonly lane: string
  token: string
}

/** What to push next of a lane. */
export interface Batch {
  /** Packed records, in the order stored. */
  readonly records: Buffer
  /** Of a parked lane: one record, to see whether the service takes it now. */
  readonly probe: boolean
}

/** Why a lane is not delivered, as the service said it. */
export interface Refusal {
  readonly status: number
  readonly message: string
}

export interface Delivered {
  readonly count: number
  readonly status: number
  readonly more: boolean
}

export interface RetryDelay {
  readonly firstMs: number
  readonly maxMs: number
  /** What `Retry-After` asked for, ms. */
  readonly leastMs: number
}

/** The workers' end of the lanes. Whoever lost a lease changes nothing: the answer is `undefined` or false. */
export interface Leases {
  /** Lanes that are due, at most `limit` (1,000), leased. */
  claim(limit: number): Promise<Lease[]>
  /** Renews leases in place; a lost one gets the token ''. */
  renew(leases: readonly Lease[]): Promise<void>
  take(lease: Lease): Promise<Batch | undefined>
  /** Drops the first `count` records as delivered; the next batch, if `more` is wanted and it is to be pushed at once. */
  done(lease: Lease, delivered: Delivered): Promise<Batch | undefined>
  /** Gives the lane back, due after a growing delay. Answers the delay, ms. */
  retry(lease: Lease, status: number | string, delay: RetryDelay): Promise<number | undefined>
  /** Parks the lane whole. */
  park(lease: Lease, refusal: Refusal): Promise<boolean>
  /** Parks the first `count` records and gives the lane back, due at once. */
  refuse(lease: Lease, count: number, refusal: Refusal): Promise<boolean>
}

export interface LeaseOptions {
  readonly maxPositions: number
  readonly maxWaitMs: number
  readonly leaseMs?: number
}

export function createLeases(redis: Redis, { maxPositions, maxWaitMs, leaseMs = 15_000 }: LeaseOptions): Leases {
  const run = scripts(redis)
  /** Tokens change while a renewal is away: nothing that carries one may leave meanwhile. */
  let renewal: Promise<unknown> = Promise.resolve()

  const take = grouped(async (leases: Lease[]) => {
    await renewal
    const args = leases.flatMap(({ lane, token }) => [lane, token])
    const answers = await run('take', [keys.schedule, keys.lanePrefix, keys.parked], [maxPositions, ...args])
    return (answers as ([Buffer, number] | null)[]).map((answer) => answer && batch(answer[0], answer[1] === 1))
  }, GROUP)

  const done = grouped(async (items: (Delivered & { readonly lease: Lease })[]) => {
    await renewal
    const args = items.flatMap(({ lease: { lane, token }, count, status, more }) => [
      lane,
      token,
      count,
      status,
      more ? 1 : 0,
    ])
    const { schedule, custody, lanePrefix, pushPrefix, parked } = keys
    const answers = await run(
      'done',
      [schedule, custody, lanePrefix, pushPrefix, parked],
      [maxPositions, maxWaitMs, ...args],
    )
    return (answers as (Buffer | null)[]).map((answer) => answer && batch(answer, false))
  }, GROUP)

  async function renew(leases: readonly Lease[]): Promise<void> {
    const args = leases.flatMap(({ lane, token }) => [lane, token])
    const tokens = (await run('renew', [keys.schedule], [leaseMs, ...args])) as (Buffer | null)[]
    leases.forEach((lease, index) => (lease.token = tokens[index]?.toString() ?? ''))
  }

  return {
    async claim(limit) {
      const [token, ...lanes] = (await run('claim', [keys.schedule], [leaseMs, limit])) as Buffer[]
      return lanes.map((lane) => ({ lane: lane.toString(), token: token.toString() }))
    },
    renew(leases) {
      const renewing = renew(leases)
      renewal = renewing.catch(() => {})
      return renewing
    },
    take: async (lease) => (await take(lease)) ?? undefined,
    done: async (lease, delivered) => (await done({ ...delivered, lease })) ?? undefined,
    async retry(lease, status, { firstMs, maxMs, leastMs }) {
      const { lane } = lease
      await renewal
      const args = [lane, lease.token, status, firstMs, maxMs, Math.random(), leastMs]
      return ((await run('retry', [keys.schedule, keys.push(lane)], args)) as number | null) ?? undefined
    },
    async park(lease, { status, message }) {
      const { lane } = lease
      await renewal
      const touched = [keys.schedule, keys.push(lane), keys.parked]
      return (await run('park', touched, [lane, lease.token, status, message])) === 1
    },
    async refuse(lease, count, { status, message }) {
      const { lane } = lease
      await renewal
      const { schedule, refusedLanes, parked } = keys
      const touched = [schedule, keys.lane(lane), keys.push(lane), keys.refused(lane), refusedLanes, parked]
      return (await run('refuse', touched, [lane, lease.token, count, status, message])) === 1
    },
  }
}

const GROUP = { inFlight: 2, maxWeight: 64 }

function batch(records: Buffer, probe: boolean): Batch | null {
  return records.length === 0 ? null : { records, probe }
}
