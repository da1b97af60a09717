import { isDeepStrictEqual } from 'node:util'
import { yieldToEventLoop } from '../async.ts'
import { companyOfLane } from '../domain/ids.ts'
import {
  countLanes,
  custodyCounters,
  earlier,
  type HoldReason,
  type LaneCount,
  parkedByLane,
  type Store,
  surveyHeld,
} from '../store/index.ts'
import { EVERYTHING, Scope } from './scope.ts'

export type FixAccount = Awaited<ReturnType<typeof takeAccount>>
type Custody = FixAccount['custody']

/** Fixes that are stored; instants in ms UTC. */
interface StoredFixes {
  readonly waiting: { fixes: number; lanes: number; oldestAt?: number }
  readonly parked: { fixes: number; lanes: number }
  readonly held: { fixes: number; devices: number }
}

/**
 * Where every fix is that was ever received; instants in ms UTC. Waiting, parked and held fixes are counted in what is stored,
 * slice by slice; the rest comes from the counters in Redis. `lanes`: all with records; `queued`: when the oldest fix of each lane that is
 * not parked was received. `heldFor`, `discardedFor`: fixes by reason.
 * `storedFor`: what is stored of the companies that are seen. `custody.difference`: received minus all others; 0 whenever nothing
 * moves.
 * @param companyOf the company of a device, by its id
 */
export async function takeAccount(redis: Store, companyOf: (device: string) => string | undefined = () => undefined) {
  const stored = new StoredByCompany()
  const queued = new Map<string, number>()
  const lanes = await countWaiting(redis, stored, queued)
  await countParked(redis, stored)
  const heldFor = await countHeld(redis, stored, companyOf)
  const { waiting, parked, held } = stored.of(EVERYTHING)
  const counters = await custodyCounters(redis)
  const discardedFor = withPrefix(counters, 'discarded:')
  const accounted = {
    filtered: sumOf(withPrefix(counters, 'filtered:').values()),
    delivered: counters.get('delivered') ?? 0,
    redelivered: counters.get('redelivered') ?? 0,
    waiting: waiting.fixes,
    parked: parked.fixes,
    held: held.fixes,
    discarded: sumOf(discardedFor.values()),
  }
  const received = counters.get('received') ?? 0
  // Fixes that were delivered and queued again, minus those that were removed from the queue again.
  const requeued = (counters.get('requeued') ?? 0) - (counters.get('withdrawn') ?? 0)
  const custody = { received, ...accounted, difference: received + requeued - sumOf(Object.values(accounted)) }
  return {
    lanes,
    queued,
    waiting,
    parked,
    held,
    heldFor,
    discardedFor,
    custody,
    storedFor: (scope: Scope) => stored.of(scope),
  }
}

/** Counts stored fixes by company. Held fixes of a device that is not configured belong to no company. */
class StoredByCompany {
  readonly #companies = new Map<string | undefined, StoredFixes>()

  ofCompany(company: string | undefined): StoredFixes {
    const known = this.#companies.get(company)
    const stored = known ?? nothingStored()
    if (!known) this.#companies.set(company, stored)
    return stored
  }

  of(scope: Scope): StoredFixes {
    const sum = nothingStored()
    for (const [company, { waiting, parked, held }] of this.#companies) {
      if (!scope.sees(company)) continue
      sum.waiting.fixes += waiting.fixes
      sum.waiting.lanes += waiting.lanes
      sum.waiting.oldestAt = earlier(sum.waiting.oldestAt, waiting.oldestAt)
      sum.parked.fixes += parked.fixes
      sum.parked.lanes += parked.lanes
      sum.held.fixes += held.fixes
      sum.held.devices += held.devices
    }
    return sum
  }
}

function nothingStored(): StoredFixes {
  return { waiting: { fixes: 0, lanes: 0 }, parked: { fixes: 0, lanes: 0 }, held: { fixes: 0, devices: 0 } }
}

/** Counts waiting fixes and resolves to all lanes with records. Waiting fixes in a parked part of a lane count as parked. */
async function countWaiting(redis: Store, stored: StoredByCompany, queued: Map<string, number>): Promise<LaneCount[]> {
  const lanes = new Map<string, LaneCount>()
  const counted = new Set<string>()
  for (const { lane, isParked, ...part } of (await Array.fromAsync(countLanes(redis))).flat()) {
    await yieldToEventLoop()
    const { waiting: before = 0, oldestAt: oldestBefore } = lanes.get(lane) ?? {}
    lanes.set(lane, { lane, waiting: before + part.waiting, oldestAt: earlier(oldestBefore, part.oldestAt) })
    if (isParked) continue
    const { waiting } = stored.ofCompany(companyOfLane(lane))
    waiting.fixes += part.waiting
    if (!counted.has(lane)) waiting.lanes++
    counted.add(lane)
    waiting.oldestAt = earlier(waiting.oldestAt, part.oldestAt)
    const oldestAt = earlier(queued.get(lane), part.oldestAt)
    if (oldestAt !== undefined) queued.set(lane, oldestAt)
  }
  return [...lanes.values()]
}

async function countParked(redis: Store, stored: StoredByCompany): Promise<void> {
  for (const [lane, fixes] of await parkedByLane(redis)) {
    const { parked } = stored.ofCompany(companyOfLane(lane))
    parked.fixes += fixes
    parked.lanes++
  }
}

async function countHeld(redis: Store, stored: StoredByCompany, companyOf: (device: string) => string | undefined) {
  const heldFor: Record<HoldReason, number> = { unknown: 0, no_route: 0, clock: 0, suspicious: 0 }
  const devices = new Set<string>()
  for await (const { reason, device, fixes } of surveyHeld(redis)) {
    const { held } = stored.ofCompany(companyOf(device))
    heldFor[reason] += fixes
    held.fixes += fixes
    if (!devices.has(device)) held.devices++
    devices.add(device)
  }
  return heldFor
}

/** Returns the counters whose names begin with a prefix, by the rest of the name. */
function withPrefix(counters: ReadonlyMap<string, number>, prefix: string): Map<string, number> {
  const found = [...counters].filter(([name]) => name.startsWith(prefix))
  return new Map(found.map(([name, value]) => [name.slice(prefix.length), value]))
}

function sumOf(numbers: Iterable<number>): number {
  return Array.from(numbers).reduce((sum, number) => sum + number, 0)
}

/**
 * Takes the account every five seconds. Two equal accounts in a row show that nothing moved; a difference then means that fixes
 * are lost or counted twice.
 */
export class CustodyCollector {
  readonly #take: () => Promise<FixAccount>
  readonly #everyMs: number
  #dueAt = -Infinity
  #last: Custody | undefined
  #known = 0
  #account: FixAccount | undefined
  /** Since when the oldest fix of each lane that is not parked waits there, as far as known. */
  #queued = new Map<string, QueuedLane>()
  #takenAt = Infinity

  constructor(account: () => Promise<FixAccount>, { everyMs = 4500 } = {}) {
    this.#take = account
    this.#everyMs = everyMs
  }

  /** Call it once a second. Rejects where Redis does not answer. */
  async look(): Promise<void> {
    if (performance.now() < this.#dueAt) return
    const takenAt = Date.now()
    try {
      this.#compare(await this.#take(), takenAt)
    } catch (error) {
      this.#last = undefined
      throw error
    } finally {
      this.#dueAt = performance.now() + this.#everyMs
    }
  }

  /** Resolves to a fresh account; while a count takes long, to the last one, so that callers do not wait and Redis is spared. */
  async recent(): Promise<FixAccount> {
    return this.#account && isLarge(this.#account) ? this.#account : this.#take()
  }

  /** The last account; undefined before the first one. */
  get account(): FixAccount | undefined {
    return this.#account
  }

  /** The waiting fixes, and when the oldest began to wait. It may be older: it may have been held or parked before. */
  get backlog(): StoredFixes['waiting'] | undefined {
    const { waiting } = this.#account ?? {}
    let oldestAt: number | undefined
    for (const { since } of this.#queued.values()) oldestAt = earlier(oldestAt, since)
    return waiting && { ...waiting, oldestAt }
  }

  /** Returns how many fixes of these companies wait. */
  waitingOf(companies: readonly string[]): number {
    return this.#account?.storedFor(new Scope(companies)).waiting.fixes ?? 0
  }

  /** The difference on which two equal accounts in a row agree. */
  get difference(): number {
    return this.#known
  }

  #compare(account: FixAccount, takenAt: number): void {
    const before = this.#queued
    this.#queued = new Map()
    for (const [lane, oldestAt] of account.queued)
      this.#queued.set(lane, { oldestAt, since: queuedSince(oldestAt, before.get(lane), this.#takenAt) })
    this.#takenAt = takenAt
    this.#account = account
    if (isDeepStrictEqual(account.custody, this.#last)) this.#known = account.custody.difference
    this.#last = account.custody
  }
}

/** `oldestAt`: when its oldest fix was received; `since`: from when on it waits, as far as that is known. ms UTC. */
interface QueuedLane {
  readonly oldestAt: number
  readonly since: number
}

/** Returns since when fixes are queued. A fix older than any at the account of `takenAt` was held or parked at that time. */
function queuedSince(oldestAt: number, before: QueuedLane | undefined, takenAt: number): number {
  if (oldestAt < (before?.oldestAt ?? takenAt)) return Date.now()
  return before ? Math.max(before.since, oldestAt) : oldestAt
}

/** To count 20,000 lanes takes Redis 75 ms. */
function isLarge({ held, lanes, parked }: FixAccount): boolean {
  return held.devices + parked.lanes + lanes.length > FEW
}

const FEW = 2000
