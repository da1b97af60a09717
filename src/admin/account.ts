import { custodyCounters, type Redis, surveyLanes, surveyRefused } from '../lanes/index.ts'

/** Where every fix is that was ever received; instants in ms UTC. */
export interface Account {
  readonly waiting: { readonly fixes: number; readonly lanes: number; readonly oldestAt?: number }
  readonly parked: { readonly fixes: number; readonly lanes: number }
  /** Of devices and routes that nobody configured: such fixes are filtered, nothing is held. */
  readonly held: { readonly fixes: number; readonly devices: number }
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

/** Takes the account: waiting and parked as counted from what is stored, the others from the counters kept with it. */
export async function takeAccount(redis: Redis): Promise<Account> {
  const { waiting, parked } = await takeStock(redis)
  const held = { fixes: 0, devices: 0 }
  const counters = await custodyCounters(redis)
  const custody = {
    received: counters.get('received') ?? 0,
    filtered: sumOf(counters, 'filtered:'),
    delivered: counters.get('delivered') ?? 0,
    waiting: waiting.fixes,
    parked: parked.fixes,
    held: held.fixes,
    discarded: sumOf(counters, 'discarded:'),
  }
  const { received, ...others } = custody
  const difference = Object.values(others).reduce((left, number) => left - number, received)
  return { waiting, parked, held, custody: { ...custody, difference } }
}

/** What waits in lanes that are not parked; what is parked: whole lanes, and records that were refused. */
async function takeStock(redis: Redis): Promise<Pick<Account, 'waiting' | 'parked'>> {
  const waiting = { fixes: 0, lanes: 0, oldestAt: undefined as number | undefined }
  const parkedLanes = new Set<string>()
  let parkedFixes = 0
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
  for await (const { lane, refused } of surveyRefused(redis)) {
    for (const { count } of refused) parkedFixes += count
    if (refused.length > 0) parkedLanes.add(lane)
  }
  return { waiting, parked: { fixes: parkedFixes, lanes: parkedLanes.size } }
}

function sumOf(counters: ReadonlyMap<string, number>, prefix: string): number {
  let sum = 0
  for (const [name, value] of counters) if (name.startsWith(prefix)) sum += value
  return sum
}
