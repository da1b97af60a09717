import { countRefused, custodyCounters, type HoldReason, type Redis, surveyHeld, surveyLanes } from '../lanes/index.ts'

/** Where every fix is that was ever received; instants in ms UTC. */
export interface Account {
  readonly waiting: { readonly fixes: number; readonly lanes: number; readonly oldestAt?: number }
  readonly parked: { readonly fixes: number; readonly lanes: number }
  readonly held: { readonly fixes: number; readonly devices: number }
  /** Fixes held for each reason. */
  readonly heldFor: Readonly<Record<HoldReason, number>>
  /** Fixes discarded, by reason. */
  readonly discardedFor: ReadonlyMap<string, number>
  readonly custody: Custody
}

/** `difference`: received less all others, 0 whenever nothing moves. */
export interface Custody {
  readonly received: number
  readonly filtered: number
  readonly delivered: number
  readonly waiting: number
  readonly parked: number
  readonly held: number
  readonly discarded: number
  readonly difference: number
}

/**
 * Takes the account: waiting, parked and held as counted from what is stored, in slices, the others from the counters kept
 * with it.
 */
export async function takeAccount(redis: Redis): Promise<Account> {
  const { waiting, parked } = await takeStock(redis)
  const { held, heldFor } = await takeStockOfHeld(redis)
  const counters = await custodyCounters(redis)
  const discardedFor = withPrefix(counters, 'discarded:')
  const custody = {
    received: counters.get('received') ?? 0,
    filtered: sumOf(withPrefix(counters, 'filtered:')),
    delivered: counters.get('delivered') ?? 0,
    waiting: waiting.fixes,
    parked: parked.fixes,
    held: held.fixes,
    discarded: sumOf(discardedFor),
  }
  const { received, ...others } = custody
  const difference = Object.values(others).reduce((left, number) => left - number, received)
  return { waiting, parked, held, heldFor, discardedFor, custody: { ...custody, difference } }
}

/** What waits in lanes that are not parked; what is parked: whole lanes, and records that were refused. */
async function takeStock(redis: Redis): Promise<Pick<Account, 'waiting' | 'parked'>> {
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

async function takeStockOfHeld(redis: Redis): Promise<Pick<Account, 'held' | 'heldFor'>> {
  const heldFor = { unknown: 0, no_route: 0, clock: 0 }
  const devices = new Set<string>()
  for await (const { reason, device, fixes } of surveyHeld(redis)) {
    heldFor[reason] += fixes
    devices.add(device)
  }
  return { held: { fixes: sumOf(Object.entries(heldFor)), devices: devices.size }, heldFor }
}

/** The counters whose names begin with `prefix`, by the rest of their names. */
function withPrefix(counters: ReadonlyMap<string, number>, prefix: string): Map<string, number> {
  const found = [...counters].filter(([name]) => name.startsWith(prefix))
  return new Map(found.map(([name, value]) => [name.slice(prefix.length), value]))
}

function sumOf(numbers: Iterable<readonly [string, number]>): number {
  let sum = 0
  for (const [, number] of numbers) sum += number
  return sum
}
