import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { countRefused, custodyCounters, type HoldReason, type Redis, surveyHeld, surveyLanes } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'

/** Where every fix is that was ever received; instants in ms UTC. */
export interface FixAccount {
  readonly waiting: { readonly fixes: number; readonly lanes: number; readonly oldestAt?: number }
  readonly parked: { readonly fixes: number; readonly lanes: number }
  readonly held: { readonly fixes: number; readonly devices: number }
  /** Fixes held for each reason. */
  readonly heldFor: Readonly<Record<HoldReason, number>>
  /** Fixes discarded, by reason. */
  readonly discardedFor: ReadonlyMap<string, number>
  readonly custody: Custody
}

/** `difference`: received minus all others; 0 whenever nothing moves. */
export type Custody = Readonly<
  Record<'received' | 'filtered' | 'delivered' | 'waiting' | 'parked' | 'held' | 'discarded' | 'difference', number>
>

/** Counts waiting, parked and held fixes in what is stored, slice by slice; the rest comes from the counters in Redis. */
export async function takeAccount(redis: Redis): Promise<FixAccount> {
  const { waiting, parked } = await countLanes(redis)
  const { held, heldFor } = await countHeld(redis)
  const counters = await custodyCounters(redis)
  const discardedFor = withPrefix(counters, 'discarded:')
  const custody = {
    received: counters.get('received') ?? 0,
    filtered: sumOf(withPrefix(counters, 'filtered:').values()),
    delivered: counters.get('delivered') ?? 0,
    waiting: waiting.fixes,
    parked: parked.fixes,
    held: held.fixes,
    discarded: sumOf(discardedFor.values()),
  }
  const { received, ...others } = custody
  const difference = received - sumOf(Object.values(others))
  return { waiting, parked, held, heldFor, discardedFor, custody: { ...custody, difference } }
}

/** A parked lane counts as parked with all that waits in it; so do single records that were refused. */
async function countLanes(redis: Redis): Promise<Pick<FixAccount, 'waiting' | 'parked'>> {
  const waiting = { fixes: 0, lanes: 0, oldestAt: undefined as number | undefined }
  const refused = await countRefused(redis)
  const parkedLanes = new Set(refused.lanes)
  let parkedFixes = refused.fixes
  for await (const state of surveyLanes(redis)) {
    if (state.parked) {
      parkedFixes += state.waiting
      parkedLanes.add(state.lane)
    } else {
      waiting.fixes += state.waiting
      waiting.lanes++
      waiting.oldestAt = Math.min(waiting.oldestAt ?? Infinity, state.oldestAt ?? Infinity)
    }
  }
  return { waiting, parked: { fixes: parkedFixes, lanes: parkedLanes.size } }
}

async function countHeld(redis: Redis): Promise<Pick<FixAccount, 'held' | 'heldFor'>> {
  const heldFor = { unknown: 0, no_route: 0, clock: 0 }
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
  let sum = 0
  for (const number of numbers) sum += number
  return sum
}

/**
 * Takes the account every 5 seconds. Two equal accounts in a row show that nothing moved; a difference then means that fixes
 * are lost or counted twice. It is logged as an error once, and again when it changes.
 */
export class CustodyWatch {
  readonly #account: () => Promise<FixAccount>
  readonly #logger: Logger
  readonly #stopping = new AbortController()
  #last: Custody | undefined
  #known = 0

  constructor(account: () => Promise<FixAccount>, logger: Logger, { everyMs = EVERY_MS } = {}) {
    this.#account = account
    this.#logger = logger
    void this.#run(everyMs)
  }

  close(): void {
    this.#stopping.abort()
  }

  async #run(everyMs: number): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#account().then(
        ({ custody }) => this.#compare(custody),
        () => (this.#last = undefined),
      )
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #compare(custody: Custody): void {
    const { difference } = custody
    const isSettled = isDeepStrictEqual(custody, this.#last)
    this.#last = custody
    if (!isSettled || difference === this.#known) return
    this.#known = difference
    if (difference === 0) this.#logger.info({ custody }, 'custody: every fix is accounted for again')
    else this.#logger.error({ custody }, `custody: ${differenceText(difference)}`)
  }
}

function differenceText(difference: number): string {
  if (difference > 0) return `${difference} received fixes are missing`
  return `${-difference} more fixes are accounted for than were received`
}

const EVERY_MS = 5000
