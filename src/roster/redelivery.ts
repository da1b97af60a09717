import pLimit from 'p-limit'
import { yieldToEventLoop } from '../async.ts'
import type { Interval } from '../domain/times.ts'
import { addCorrections, type Correction, keptSince, misplacedFixes, readKept, type Store } from '../store/index.ts'
import type { DeviceEntry } from './device-entry.ts'
import { ROSTER_HOLDS_MS } from '../store/gateways.ts'
import type { Roster } from './roster.ts'

/** Fixes of a device that were delivered to one lane and belong to another. */
export interface Move {
  readonly device: DeviceEntry
  /** `company/courier/route` */
  readonly from: string
  readonly to: string
  readonly fixes: number
  /** Times of the first and the last fix, unix seconds. */
  readonly first: number
  readonly last: number
}

/** Fixes that were delivered by a roster which a change replaces. */
export interface Redelivery {
  readonly moves: readonly Move[]
  /** The times that are concerned, unix seconds. */
  readonly interval: Interval
  /** How far back delivered fixes are kept, ms UTC. */
  readonly keptSince: number
  readonly corrections: readonly Omit<Correction, 'at'>[]
}

/** A device and times, unix seconds, for which fixes were delivered elsewhere. */
interface Past extends Interval {
  readonly device: DeviceEntry
  /** Where its fixes were pushed. */
  readonly lanes: readonly string[]
}

export interface RosterReplaced {
  readonly before: Roster
  readonly after: Roster
  /** The devices that the change concerns. */
  readonly devices: Iterable<DeviceEntry>
  /** `keep.delivered`, ms. */
  readonly keepMs: number
}

/**
 * Resolves to the fixes delivered at times for which a change gives devices another lane; undefined if the change concerns no
 * past with kept fixes.
 */
export async function planRedelivery(redis: Store, change: RosterReplaced): Promise<Redelivery | undefined> {
  const { before, after, keepMs } = change
  const now = Math.floor(Date.now() / 1000)
  // Until the change holds at every gateway, fixes of the present are placed by the roster that it replaces.
  const kept = { from: Math.floor(now - keepMs / 1000), until: now + TAKES_EFFECT_S }
  const pasts: Past[] = []
  for (const { id } of keepMs > 0 ? change.devices : []) {
    await yieldToEventLoop()
    pasts.push(...changedPasts(before, after, { id, kept }).filter(({ from }) => from < now))
  }
  const redelivery = await deliveredIn(redis, pasts, { roster: after, keepMs })
  if (!redelivery) return undefined
  const { from, until } = redelivery.interval
  return { ...redelivery, interval: { from, until: Math.min(now, until) } }
}

/** Returns what the present roster places elsewhere than it was delivered, of times of devices. */
export function planDeliveredElsewhere(
  redis: Store,
  {
    roster,
    devices,
    interval,
    keepMs,
  }: Pick<RosterReplaced, 'devices' | 'keepMs'> & {
    readonly roster: Roster
    readonly interval: Interval
  },
): Promise<Redelivery | undefined> {
  const pasts = Array.from(devices, (device) => ({ ...interval, device, lanes: [] }))
  return deliveredIn(redis, pasts, { roster, keepMs })
}

/** Delivers the fixes found by `planRedelivery` where they belong, once the change is in effect. */
export async function redeliver(redis: Store, { corrections }: Pick<Redelivery, 'corrections'>): Promise<void> {
  const at = Date.now()
  await addCorrections(
    redis,
    corrections.map((correction) => ({ ...correction, at })),
  )
}

async function deliveredIn(
  redis: Store,
  pasts: readonly Past[],
  { roster, keepMs }: { readonly roster: Roster; readonly keepMs: number },
): Promise<Redelivery | undefined> {
  if (pasts.length === 0) return undefined
  const since = await Promise.all(pasts.map(({ device }) => keptSince(redis, device.id, keepMs)))
  if (!since.every((at) => at !== undefined)) return undefined
  const moves = await pLimit(AT_ONCE).map(pasts, (past) => movesIn(redis, past, roster))
  return {
    moves: moves.flat(),
    interval: {
      from: Math.min(...pasts.map(({ from }) => from)),
      until: Math.max(...pasts.map(({ until }) => until)),
    },
    keptSince: Math.max(...since),
    corrections: pasts.map(({ device, from, until, lanes }) => {
      return { device: device.id, from: from * 1000, until: until * 1000, lanes }
    }),
  }
}

async function movesIn(redis: Store, { device, from, until }: Past, roster: Roster): Promise<Move[]> {
  const kept = await readKept(redis, device.id, { from: from * 1000, until: until * 1000 })
  const misplaced = misplacedFixes(kept, ({ timestamp }) => roster.stayAt(device, timestamp)?.lane.key)
  if (typeof misplaced === 'symbol') return []
  const byLanes = Map.groupBy(misplaced, ({ fix, to }) => `${fix.lane} ${to}`)
  return Array.from(byLanes.values(), (fixes) => {
    const [{ fix, to }] = fixes
    const last = fixes[fixes.length - 1].fix.timestamp
    return { device, from: fix.lane, to, fixes: fixes.length, first: fix.timestamp, last }
  })
}

/** The times within those that are kept at which a device gets another lane, in order. */
function changedPasts(before: Roster, after: Roster, { id, kept }: { id: string; kept: Interval }): Past[] {
  const [was, is] = [before.find(id), after.find(id)]
  if (!was || !is || was.company_id !== is.company_id) return []
  const bounds = [...was.stays, ...is.stays].flatMap(({ from, until }) => [from, until])
  const inside = bounds.filter((at) => at > kept.from && at < kept.until)
  const times = [...new Set([kept.from, ...inside, kept.until])].toSorted((one, other) => one - other)
  const pasts: Past[] = []
  for (const [index, from] of times.slice(0, -1).entries()) {
    const [old, own] = [before.stayAt(was, from)?.lane.key, after.stayAt(is, from)?.lane.key]
    if (own === undefined || own === old) continue
    const lanes = old === undefined ? [] : [old]
    const previous = pasts.at(-1)
    if (previous?.until === from)
      pasts[pasts.length - 1] = {
        ...previous,
        until: times[index + 1],
        lanes: [...new Set([...previous.lanes, ...lanes])],
      }
    else pasts.push({ device: is, from, until: times[index + 1], lanes })
  }
  return pasts
}

/** Until a change that is planned holds everywhere, on a busy machine. */
const TAKES_EFFECT_S = ROSTER_HOLDS_MS / 1000 + 5
/** Devices whose kept fixes are read concurrently. */
const AT_ONCE = 20
