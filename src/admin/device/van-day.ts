import type { DayFacts, DaySpan } from '../../diagnose/history.ts'
import { isParked, leastSilenceMs, longestSleepMs } from '../../diagnose/parked.ts'
import { staysWithin } from '../../roster/device-entry.ts'
import type { Roster } from '../../roster/roster.ts'
import { BEHIND_MS, describeLanes, type NotedDay, type Shard, type Store } from '../../store/index.ts'
import { factsOf } from './condition.ts'
import type { DeviceIndex } from './device-index.ts'

/** Why the fixes of a lane are not delivered, and since when, ms UTC. */
export interface LaneBacklog {
  readonly reason: 'waiting' | 'refused'
  readonly since: number
}

/** The notes on a device and on the gateways for one local day. */
export interface NotedVanDay {
  readonly id: string
  readonly day: DaySpan
  readonly noted: NotedDay | undefined
  readonly gateways: NotedDay | undefined
}

interface VanDaySources {
  readonly index: DeviceIndex
  readonly roster: Roster
  /** The backlogs of lanes in the shard of the device. */
  readonly backlogs: ReadonlyMap<string, LaneBacklog>
  /** ms UTC. */
  readonly now: number
}

/** Resolves to the lanes of a shard whose fixes have waited long or are refused. */
export async function readBacklogs(
  redis: Store,
  shard: Shard,
  { lanes, now }: { readonly lanes: readonly string[]; readonly now: number },
): Promise<Map<string, LaneBacklog>> {
  const states = await describeLanes(redis, lanes, [shard])
  const found = states.flatMap(({ lane, oldestAt = now, parked }): [string, LaneBacklog][] => {
    if (parked && parked.fixes > 0) return [[lane, { reason: 'refused', since: oldestAt }]]
    return now - oldestAt > BEHIND_MS ? [[lane, { reason: 'waiting', since: oldestAt }]] : []
  })
  return new Map(found)
}

/**
 * Returns the facts of a device's local day, as far as it has passed: its notes, its routes in the roster, undelivered fixes
 * there, and, for the present minutes, which are not noted yet, its last contact.
 */
export function vanDayFacts({ id, day, noted, gateways }: NotedVanDay, sources: VanDaySources): DayFacts {
  const { index, roster, now } = sources
  const { from, until: end } = day
  const device = index.find(id)
  const facts = device && factsOf(device, { index, roster, now })
  const minuteOf = (at: number) => Math.floor((at - from) / MINUTE_MS)
  const current = minuteOf(now)
  const connectedFrom = minuteOf(facts?.connectedAt ?? Infinity)
  const heard = minuteOf(facts?.heardAt ?? -Infinity)
  const fixed = minuteOf(device?.heard?.fix?.fix.time ?? -Infinity)
  const parkedFrom = facts && isParked(facts) ? minuteOf(facts.said?.ignition?.sinceAt ?? Infinity) : Infinity
  const parkedUntil = facts ? minuteOf((facts.heardAt ?? 0) + longestSleepMs(facts)) : -Infinity
  return {
    from,
    until: Math.min(end, now),
    leastMs: leastSilenceMs(facts ?? {}),
    undelivered: undeliveredOf({ id, day, minuteOf }, sources),
    has: (kind, minute) =>
      noted?.has(kind, minute) === true ||
      (kind === 'connected' && (minute >= connectedFrom || minute === heard)) ||
      (kind === 'fix' && minute === fixed),
    isCovered: (minute) =>
      gateways?.has('connected', minute) === true || (minute > current - UNWRITTEN && minute > heard),
    isParked: (minute) => minute >= parkedFrom && minute <= parkedUntil,
  }
}

/** By the lane that the roster has the device on at that time. */
function undeliveredOf(
  { id, day, minuteOf }: Pick<NotedVanDay, 'id' | 'day'> & { readonly minuteOf: (at: number) => number },
  { backlogs, roster }: VanDaySources,
): DayFacts['undelivered'] {
  const entry = backlogs.size > 0 ? roster.find(id) : undefined
  if (!entry) return undefined
  const stays = staysWithin(entry, { from: day.from / 1000, until: day.until / 1000 })
  const kept = stays.flatMap(({ lane, from, until }) => {
    const backlog = backlogs.get(lane.key)
    if (!backlog) return []
    const since = Math.max(minuteOf(backlog.since), minuteOf(from * 1000))
    return { reason: backlog.reason, since, until: minuteOf(until * 1000 - 1) }
  })
  if (kept.length === 0) return undefined
  return (minute) => kept.find(({ since, until }) => minute >= since && minute <= until)?.reason
}

const MINUTE_MS = 60_000
/** Minutes until gateways have written that they ran. Such a minute after the last contact counts as one without messages. */
const UNWRITTEN = 7
