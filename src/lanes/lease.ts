import { setTimeout as sleep } from 'node:timers/promises'
import { BEHIND_MS } from './behind.ts'
import { grouped } from './grouped.ts'
import { keys } from './keys.ts'
import type { Parked } from './parked.ts'
import { type Redis, scripts } from './redis.ts'

/** A lane that a worker may push for now. `token` changes when the lease is renewed; '' once it is lost. */
export interface Lease {
  readonly lane: string
  token: string
  /** Until when it holds, by `performance.now()` of the process that took it. */
  until?: number
}

/** Whether the lease surely holds now: whoever was stopped for long must not push what is another's by now. */
export function stillHolds({ token, until = 0 }: Lease): boolean {
  return token !== '' && performance.now() < until
}

/** What to push next of a lane. */
export interface Batch {
  /** Packed records, in the order stored. */
  readonly records: Buffer
  /** Why the lane is parked: then this is one record, to see whether the service takes it now. */
  readonly parked?: Parked
}

/** Why something is not delivered, as the service said it; status 0: our own reason. */
export interface Refusal {
  readonly status: number
  readonly message: string
}

export interface Delivered {
  /** Records, from the head of the lane; 0: none, only the next are wanted. */
  readonly count: number
  /** The answer's. */
  readonly status: number
  /** Most records wanted next; 0: none, the lane is given back. */
  readonly wanted: number
  /** Whether the next are wanted though they may be no whole batch. */
  readonly atOnce: boolean
}

export interface RetryDelay {
  readonly firstMs: number
  readonly maxMs: number
  /** What `Retry-After` asked for, ms. */
  readonly leastMs: number
}

/** The workers' end of the lanes. Whoever lost a lease changes nothing: the answer is `undefined` or false. */
export interface Leases {
  /** Lanes that are due, at most `limit` (1,000), leased; one at a time while the service is down. */
  claim(limit: number): Promise<Lease[]>
  /** Renews leases in place; a lost one gets the token ''. One renewal at a time: a second does nothing. */
  renew(leases: readonly Lease[]): Promise<void>
  /**
   * What to push first. Of several who hold the same lease the first alone gets something; nothing of a lane that is
   * given back because the service is down by now.
   */
  take(lease: Lease): Promise<Batch | undefined>
  /** Drops what was delivered; the next batch where one is to be pushed at once. */
  done(lease: Lease, delivered: Delivered): Promise<Batch | undefined>
  /** Gives the lane back, due after a growing delay. Answers the delay, ms. */
  retry(lease: Lease, status: number | string, delay: RetryDelay): Promise<number | undefined>
  /** Parks the lane whole. */
  park(lease: Lease, refusal: Refusal): Promise<boolean>
  /** Parks the first record. Answers how many of the lane were refused in a row, and the next `wanted` records. */
  refuse(lease: Lease, refusal: Refusal, wanted: number): Promise<{ row: number; next?: Batch } | undefined>
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
  let renewing = false

  const take = grouped(async (leases: Lease[]) => {
    await renewal
    const args = leases.flatMap(({ lane, token }) => [lane, token])
    const asked = performance.now()
    const answers = await run('take', TAKE_KEYS, [maxPositions, BEHIND_MS, ...args])
    return leases.map((lease, index) => {
      const answer = (answers as ([Buffer, number, Buffer, Buffer] | null)[])[index]
      if (!answer) return null
      const [token, leftMs, records, why] = answer
      lease.token = token.toString()
      lease.until = asked + leftMs
      return batch(records, why)
    })
  }, GROUP)

  const done = grouped(async (items: (Delivered & { readonly lease: Lease })[]) => {
    await renewal
    const args = items.flatMap(({ lease: { lane, token }, count, status, wanted, atOnce }) => {
      return [lane, token, count, status, wanted, atOnce ? 1 : 0]
    })
    const answers = (await run('done', DONE_KEYS, [maxPositions, maxWaitMs, ...args])) as ([Buffer, Buffer] | null)[]
    return items.map(({ lease }, index) => {
      const answer = answers[index]
      if (!answer || answer[1].length === 0) return null
      lease.token = answer[0].toString()
      return batch(answer[1])
    })
  }, GROUP)

  /** What the service took must not be pushed again because Redis was away: this is tried for minutes: the lease tells. */
  async function doneInTime(item: Delivered & { readonly lease: Lease }): Promise<Batch | null> {
    for (const deadline = performance.now() + DONE_AGAIN_FOR_MS; ; ) {
      try {
        return await done(item)
      } catch (error) {
        if (performance.now() > deadline) throw error
        await sleep(DONE_AGAIN_MS)
      }
    }
  }

  async function renew(leases: readonly Lease[]): Promise<void> {
    const asked = performance.now()
    const before = leases.map(({ token }) => token)
    const args = leases.flatMap(({ lane, token }) => [lane, token])
    const tokens = (await run('renew', [schedule], [leaseMs, ...args])) as (Buffer | null)[]
    leases.forEach((lease, index) => {
      // Else a step that left before the renewal has its own new token, which the renewal did not know.
      if (lease.token === before[index]) lease.token = tokens[index]?.toString() ?? ''
      if (tokens[index]) lease.until = asked + leaseMs
    })
  }

  return {
    async claim(limit) {
      const [token, ...lanes] = (await run('claim', [schedule, upstream], [leaseMs, limit])) as Buffer[]
      return lanes.map((lane) => ({ lane: lane.toString(), token: token.toString() }))
    },
    async renew(leases) {
      if (renewing) return
      renewing = true
      const away = renew(leases).finally(() => (renewing = false))
      renewal = away.catch(() => {})
      await away
    },
    take: async (lease) => (await take(lease)) ?? undefined,
    done: async (lease, delivered) => (await doneInTime({ ...delivered, lease })) ?? undefined,
    async retry(lease, status, { firstMs, maxMs, leastMs }) {
      await renewal
      const { lane, token } = lease
      const args = [lane, token, status, firstMs, maxMs, Math.random(), leastMs]
      const delay = await run('retry', [schedule, keys.push(lane), upstream, failing], args)
      return (delay as number | null) ?? undefined
    },
    async park(lease, { status, message }) {
      await renewal
      const { lane, token } = lease
      const touched = [schedule, keys.push(lane), keys.parked, upstream, failing]
      return (await run('park', touched, [lane, token, status, message])) === 1
    },
    async refuse(lease, { status, message }, wanted) {
      await renewal
      const { lane, token } = lease
      const own = [keys.lane(lane), keys.push(lane), keys.refused(lane)]
      const touched = [schedule, ...own, keys.refusedLanes, keys.parked, keys.ahead, upstream, failing]
      const answer = (await run('refuse', touched, [lane, token, status, message, wanted])) as [number, Buffer] | null
      return answer ? { row: answer[0], next: batch(answer[1]) ?? undefined } : undefined
    },
  }
}

const { schedule, upstream, failing } = keys
const TAKE_KEYS = [schedule, keys.lanePrefix, keys.parked, keys.ahead, upstream]
const DONE_KEYS = [schedule, keys.custody, keys.lanePrefix, keys.pushPrefix, keys.parked, keys.ahead, upstream, failing]
const DONE_AGAIN_MS = 100
const DONE_AGAIN_FOR_MS = 120_000
const GROUP = { inFlight: 2, maxWeight: 64 }

function batch(records: Buffer, why?: Buffer): Batch | null {
  if (records.length === 0) return null
  const reason = why?.toString() ?? ''
  return { records, parked: reason.startsWith('{') ? (JSON.parse(reason) as Parked) : undefined }
}
