import { say, type Text } from '../texts/text.ts'
import { type DayGap, type DaySpan, GAP_REASONS } from './history.ts'

/**
 * Why a planned minute of a route has no delivered position: the gap reasons of the van's page, or that the van has not
 * started.
 */
export const DAY_REASONS = [...GAP_REASONS, 'not_started'] as const
export type DayReason = (typeof DAY_REASONS)[number]

/** A device that the roster has on a route on a day. Instants in ms UTC. */
export interface PlannedVan {
  readonly device: string
  /** When the roster has the device on the route, within the day, without overlaps. */
  readonly planned: readonly DaySpan[]
  /** The gaps of its day, as `gapsOf` finds them. */
  readonly gaps: readonly DayGap[]
}

/** A local day. `now`: until when its minutes count, if it is not over. */
export interface SheetDay extends DaySpan {
  readonly now: number
}

/** A time of the plan without a delivered position. */
interface SheetGap extends DaySpan {
  readonly min: number
  readonly reason: DayReason
  readonly message: Text
  /** Whose gap it is: of several devices, the one that came furthest. */
  readonly device: string
}

/** The plan of a route for a day and what was delivered. Instants in ms UTC. */
export interface DaySheet {
  readonly devices: readonly string[]
  readonly planned: readonly DaySpan[]
  /** Planned minutes that have begun: always the sum of `coveredMin` and all of `byReason`. */
  readonly plannedMin: number
  readonly coveredMin: number
  /** null: no planned minute has begun. */
  readonly share: number | null
  /** From the first planned minute to the first covered one; null: none is covered, or the plan does not begin on this day. */
  readonly startDelayMin: number | null
  readonly longestGapMin: number
  readonly gaps: readonly SheetGap[]
  readonly byReason: Readonly<Partial<Record<DayReason, number>>>
}

/**
 * Pure. Returns the sheet of a route and a local day. A minute is planned if its beginning is in the plan, so that it belongs
 * to one route of a van, and covered if one of the vans on the route has no gap then. Otherwise it has one reason: that of
 * the van whose positions came furthest.
 */
export function daySheet(day: SheetDay, some: readonly PlannedVan[]): DaySheet {
  const vans = some.toSorted((one, other) => (one.device < other.device ? -1 : 1))
  const minutes = minutesOf(day, vans)
  const planned = plannedOf(vans)
  const isStarting = planned.length > 0 && planned[0].from > day.from
  const firstPlanned = minutes.findIndex((minute) => minute !== undefined)
  const firstCovered = minutes.indexOf(COVERED)
  const gaps: SheetGap[] = []
  const byReason: Partial<Record<DayReason, number>> = {}
  let [plannedMin, coveredMin, longestGapMin, running] = [0, 0, 0, 0]
  for (let first = 0; first < minutes.length; ) {
    const found = minutes[first]
    let end = first
    while (end < minutes.length && minutes[end] === found) end++
    const min = end - first
    if (found !== undefined) plannedMin += min
    if (found === COVERED) coveredMin += min
    const isGap = found !== undefined && found !== COVERED
    running = isGap ? running + min : 0
    longestGapMin = Math.max(longestGapMin, running)
    if (isGap) {
      const isStart = found.reason === 'parked' && isStarting && (firstCovered < 0 || first < firstCovered)
      const { reason, message, device } = isStart ? { ...found, ...NOT_STARTED } : found
      byReason[reason] = (byReason[reason] ?? 0) + min
      const span = spanOf(first, end, day)
      const last = gaps[gaps.length - 1]
      if (last && last.until === span.from && last.reason === reason && last.device === device)
        gaps[gaps.length - 1] = { ...last, until: span.until, min: last.min + min }
      else gaps.push({ ...span, min, reason, message, device })
    }
    first = end
  }
  return {
    devices: vans.map(({ device }) => device),
    planned,
    plannedMin,
    coveredMin,
    share: plannedMin === 0 ? null : Math.floor((coveredMin / plannedMin) * SHARE_STEPS) / SHARE_STEPS,
    startDelayMin: isStarting && firstCovered >= 0 ? firstCovered - firstPlanned : null,
    longestGapMin,
    gaps,
    byReason,
  }
}

type MinuteGap = Pick<SheetGap, 'reason' | 'message' | 'device'> & { readonly rank: number }
/** A minute: not planned, covered, or its reason. */
type PlannedMinute = undefined | typeof COVERED | MinuteGap

/** Returns the minutes of the day that have begun. */
function minutesOf(day: SheetDay, vans: readonly PlannedVan[]): PlannedMinute[] {
  const count = Math.max(0, Math.ceil((Math.min(day.until, day.now) - day.from) / MINUTE_MS))
  const minutes = Array<PlannedMinute>(count).fill(undefined)
  const firstIn = (at: number) => Math.min(count, Math.max(0, Math.ceil((at - day.from) / MINUTE_MS)))
  for (const { device, planned, gaps } of vans) {
    const own = Array<PlannedMinute>(count).fill(COVERED)
    for (const { from, until, message, reason } of gaps) {
      const gap = { device, message, reason, rank: FURTHEST.indexOf(reason) }
      for (let minute = firstIn(from); minute < firstIn(until); minute++) own[minute] = gap
    }
    for (const { from, until } of planned)
      for (let minute = firstIn(from); minute < firstIn(until); minute++)
        minutes[minute] = better(minutes[minute], own[minute])
  }
  return minutes
}

function better(one: PlannedMinute, other: PlannedMinute): PlannedMinute {
  if (one === undefined || other === COVERED) return other
  if (one === COVERED || other === undefined) return one
  return other.rank < one.rank ? other : one
}

/** When any of the vans is planned, in order, without overlaps. */
function plannedOf(vans: readonly PlannedVan[]): DaySpan[] {
  const spans: DaySpan[] = []
  for (const span of vans.flatMap(({ planned }) => planned).toSorted((one, other) => one.from - other.from)) {
    const last = spans[spans.length - 1]
    if (last && span.from <= last.until)
      spans[spans.length - 1] = { from: last.from, until: Math.max(last.until, span.until) }
    else spans.push({ from: span.from, until: span.until })
  }
  return spans
}

function spanOf(first: number, end: number, { from, until, now }: SheetDay): DaySpan {
  return { from: from + first * MINUTE_MS, until: Math.min(from + end * MINUTE_MS, until, now) }
}

const COVERED = 'covered'
const NOT_STARTED = {
  reason: 'not_started' as const,
  message: say('its ignition was off: it had not started yet'),
}
/** Reasons by how far the positions of a van came, the furthest first. */
const FURTHEST: readonly DayReason[] = [
  ...([
    'refused',
    'waiting',
    'held',
    'not_stored',
    'filtered',
    'no_fix',
    'parked',
    'not_connected',
    'unknown',
  ] as const),
]
const MINUTE_MS = 60_000
/** A share is rounded down: it is 1 only if nothing is missing. */
const SHARE_STEPS = 10_000
