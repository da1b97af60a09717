import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import {
  countParked,
  custodyCounters,
  parkedLanes,
  type HoldReason,
  type Redis,
  surveyHeld,
  surveyLanes,
} from '../lanes/index.ts'

export type FixAccount = Awaited<ReturnType<typeof takeAccount>>
type Custody = FixAccount['custody']

/**
 * Where every fix is that was ever received; instants in ms UTC. Waiting, parked and held fixes are counted in what is stored,
 * slice by slice; the rest comes from the counters in Redis. `heldFor`, `discardedFor`: fixes by reason.
 * `custody.difference`: received minus all others; 0 whenever nothing moves.
 */
export async function takeAccount(redis: Redis) {
  const waiting = await countWaiting(redis)
  const parked = { fixes: await countParked(redis), lanes: (await parkedLanes(redis)).size }
  const { held, heldFor } = await countHeld(redis)
  const counters = await custodyCounters(redis)
  const discardedFor = withPrefix(counters, 'discarded:')
  const accounted = {
    filtered: sumOf(withPrefix(counters, 'filtered:').values()),
    delivered: counters.get('delivered') ?? 0,
    waiting: waiting.fixes,
    parked: parked.fixes,
    held: held.fixes,
    discarded: sumOf(discardedFor.values()),
  }
  const received = counters.get('received') ?? 0
  const custody = { received, ...accounted, difference: received - sumOf(Object.values(accounted)) }
  return { waiting, parked, held, heldFor, discardedFor, custody }
}

/** What waits in a parked lane counts as parked. */
async function countWaiting(redis: Redis) {
  let [fixes, lanes, oldest] = [0, 0, Infinity]
  for await (const { waiting, parked, oldestAt = Infinity } of surveyLanes(redis)) {
    if (parked) continue
    fixes += waiting
    lanes++
    oldest = Math.min(oldest, oldestAt)
  }
  return { fixes, lanes, oldestAt: oldest === Infinity ? undefined : oldest }
}

async function countHeld(redis: Redis) {
  const heldFor: Record<HoldReason, number> = { unknown: 0, no_route: 0, clock: 0, suspicious: 0 }
  const devices = new Set<string>()
  for await (const { reason, device, fixes } of surveyHeld(redis)) {
    heldFor[reason] += fixes
    devices.add(device)
  }
  return { held: { fixes: sumOf(Object.values(heldFor)), devices: devices.size }, heldFor }
}

/** The counters with a prefix, by the rest of their names. */
function withPrefix(counters: ReadonlyMap<string, number>, prefix: string): Map<string, number> {
  const found = [...counters].filter(([name]) => name.startsWith(prefix))
  return new Map(found.map(([name, value]) => [name.slice(prefix.length), value]))
}

function sumOf(numbers: Iterable<number>): number {
  return Array.from(numbers).reduce((sum, number) => sum + number, 0)
}

/**
 * Takes the account every 5 seconds. Two equal accounts in a row show that nothing moved; a difference then means that fixes
 * are lost or counted twice.
 */
export class CustodyWatch {
  readonly #stopping = new AbortController()
  #last: Custody | undefined
  #known = 0
  #account: FixAccount | undefined

  constructor(account: () => Promise<FixAccount>, { everyMs = 5000 } = {}) {
    void this.#run(account, everyMs)
  }

  /** The last account; undefined before the first one. */
  get account(): FixAccount | undefined {
    return this.#account
  }

  /** What two equal accounts in a row did not add up by. */
  get difference(): number {
    return this.#known
  }

  close(): void {
    this.#stopping.abort()
  }

  async #run(account: () => Promise<FixAccount>, everyMs: number): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await account().then(
        (taken) => this.#compare(taken),
        () => (this.#last = undefined),
      )
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #compare(account: FixAccount): void {
    this.#account = account
    if (isDeepStrictEqual(account.custody, this.#last)) this.#known = account.custody.difference
    this.#last = account.custody
  }
}
