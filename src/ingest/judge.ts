import type { Fix } from '../../protocols/kit/index.ts'
import { utcFromLocal } from '../config/times.ts'
import type { HoldReason, Position } from '../lanes/index.ts'
import type { DeviceEntry, Directory, Lane } from '../roster/directory.ts'
import { type FilterOptions, type FilterReason, normalise, repairRollover } from './normalise.ts'

/** Of `hold` in gateway.yaml: which fixes are kept until the configuration says where they belong. */
export interface HoldOptions {
  readonly unknown: boolean
  readonly no_route: boolean
  readonly clock: boolean
  /** ms for which they are kept. */
  readonly max_age: number
}

export interface JudgeOptions {
  readonly directory: Directory
  readonly filter: FilterOptions
  readonly hold: HoldOptions
}

/** Where a fix belongs. What is held keeps the time that the device said: whoever releases it makes it UTC. */
export type Verdict =
  | { readonly lane: Lane; readonly position: Position }
  | { readonly held: HoldReason; readonly position: Position }
  | { readonly filtered: FilterReason }

/** Pure: what becomes of a device's fix at `now`, ms UTC. No entry: nobody has configured the device. */
export function judge(fix: Fix, entry: DeviceEntry | undefined, now: number, options: JudgeOptions): Verdict {
  const utc = utcOf(fix.time, entry, now)
  const position = normalise(fix, now, options.filter, utc)
  if (position === 'clock') return hold('clock', fix, now, options)
  if (typeof position === 'string') return { filtered: position }
  if (!entry) return hold('unknown', fix, now, options)
  const lane = options.directory.laneAt(entry, position.timestamp)
  return lane ? { lane, position } : hold('no_route', fix, now, options)
}

/** Holds a fix for a reason, where the configuration wants that and a record can. */
export function hold(reason: HoldReason, fix: Fix, now: number, options: JudgeOptions): Verdict {
  const position = options.hold[reason] ? normalise(fix, now, { ...options.filter, ...AT_ANY_TIME }) : 'clock'
  if (typeof position === 'object') return { held: reason, position }
  return { filtered: reason === 'unknown' ? 'clock' : reason }
}

const AT_ANY_TIME = { maxFutureMs: Infinity, maxAgeMs: null }

/** Local times made UTC, GPS week rollovers repaired. A decoder without a time of the device's own gave `now`: it stays. */
export function utcOf(time: number, entry: DeviceEntry | undefined, now: number): number {
  const zone = entry?.time_zone
  return repairRollover(zone === undefined || time === now ? time : utcFromLocal(time, zone), now)
}
