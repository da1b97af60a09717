import { say, type Text } from '../texts/text.ts'
import { type DayGap, type DaySpan, GAP_REASONS } from './history.ts'

/** Why a planned minute of a route has no delivered position: what the page of the van says, or that the van has not started. */
export const DAY_REASONS = [...GAP_REASONS, 'not_started'] as const
export type DayReason = (typeof DAY_REASONS)[number]

/** A device that the roster has on a route on a day. Instants in ms UTC. */
export interface PlannedVan {
  readonly device: string
  /** When it has it there, within the day, without overlaps. */
  readonly planned: readonly DaySpan[]
  /** The gaps of its day, as `gapsOf` finds them. */
  readonly gaps: readonly DayGap[]
}

/** A local day. `now`: until when its minutes count, if it is not over. */
export interface SheetDay extends DaySpan {
  readonly now: number
}

/** A time of the plan without a delivered position. */
export interface SheetGap extends DaySpan {
  readonly min: number
  readonly reason: DayReason
  readonly message: Text
  /** Whose gap it is: of several devices, the one that came furthest. */
  readonly device: string
}

/** What became of the plan of a route on a day. Instants in ms UTC. */
export interface DaySheet {
  readonly devices: readonly string[]
  readonly planned: readonly DaySpan[]
  /** Planned minutes that have begun: always `coveredMin` and all of `byReason`. */
  readonly plannedMin: number
  readonly coveredMin: number
  /** null: no planned minute has begun. */
  readonly share: number | null
  /** From the first planned minute to the first covered one; null: none is covered, or the plan has no beginning on this day. */
  readonly startDelayMin: number | null
  readonly longestGapMin: number
  readonly gaps: readonly SheetGap[]
  readonly byReason: Readonly<Partial<Record<DayReason, number>>>
}

/**
 * Pure: the sheet of a route and a local day. A minute is planned if the plan has its beginning, so that it belongs to one route of a van,
 * and covered if one of the vans on the route has no gap then. Otherwise it has one reason: that of the van whose positions came
 * furthest.
 */
export function daySheet(day: SheetDay, vans: readonly PlannedVan[]): DaySheet {
  const minutes = minutesOf(day, vans)
  const planned = plannedOf(vans)
  const isStarting = planned.length > 0 && planned[0].from > day.from
  const firstPlanned = minutes.findIndex((minute) => minute !== undefined)
  const firstCovered = minutes.indexOf(COVERED)
  const gaps: SheetGap[] = []
  const byReason: Partial<Record<DayReason, number>> = {}
  const gapOf = (minute: number) => {
    const found = minutes[minute]
    if (!found || found === COVERED) return undefined
    const isBefore = firstCovered < 0 || minute < firstCovered
    return found.reason === 'parked' && isStarting && isBefore ? { ...found, ...NOT_STARTED } : found
  }
  let [plannedMin, coveredMin, longestGapMin, running] = [0, 0, 0, 0]
  for (const [minute, found] of minutes.entries()) {
    if (found !== undefined) plannedMin++
    if (found === COVERED) coveredMin++
    const gap = gapOf(minute)
    running = gap ? running + 1 : 0
    longestGapMin = Math.max(longestGapMin, running)
    if (!gap) continue
    byReason[gap.reason] = (byReason[gap.reason] ?? 0) + 1
    const { from, until } = spanOf(minute, day)
    const last = gaps[gaps.length - 1]
    if (last && last.until === from && last.reason === gap.reason && last.device === gap.device)
      gaps[gaps.length - 1] = { ...last, until, min: last.min + 1 }
    else gaps.push({ ...gap, from, until, min: 1 })
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
/** Of a minute: not planned, covered, or what is missing. */
type Minute = undefined | typeof COVERED | MinuteGap

/** The minutes of the day that have begun. */
function minutesOf(day: SheetDay, vans: readonly PlannedVan[]): Minute[] {
  const count = Math.max(0, Math.ceil((Math.min(day.until, day.now) - day.from) / MINUTE_MS))
  const minutes = Array<Minute>(count).fill(undefined)
  const firstIn = (at: number) => Math.min(count, Math.max(0, Math.ceil((at - day.from) / MINUTE_MS)))
  for (const { device, planned, gaps } of vans) {
    const own = Array<Minute>(count).fill(COVERED)
    for (const { from, until, message, reason } of gaps)
      own.fill({ device, message, reason, rank: FURTHEST.indexOf(reason) }, firstIn(from), firstIn(until))
    for (const { from, until } of planned)
      for (let minute = firstIn(from); minute < firstIn(until); minute++)
        minutes[minute] = better(minutes[minute], own[minute])
  }
  return minutes
}

function better(one: Minute, other: Minute): Minute {
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

function spanOf(minute: number, { from, until, now }: SheetDay): DaySpan {
  const begins = from + minute * MINUTE_MS
  return { from: begins, until: Math.min(begins + MINUTE_MS, until, now) }
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
/** A share is rounded down: 1 is said if nothing is missing. */
const SHARE_STEPS = 10_000
