import { say, type Template, type Text } from '../texts/text.ts'

/** Why there is no position of a time. */
export const GAP_REASONS = [
  'not_connected',
  'parked',
  'no_fix',
  'filtered',
  'held',
  'not_stored',
  'waiting',
  'refused',
  'unknown',
] as const
type GapReason = (typeof GAP_REASONS)[number]

/** Facts about a device's local day, as far as it has passed. Instants in ms UTC; minutes are those of the day, from 0. */
export interface DayFacts {
  readonly from: number
  readonly until: number
  /** Whether something is noted of a minute. */
  readonly has: (kind: 'fix' | 'connected' | 'filtered' | 'held' | 'not_stored', minute: number) => boolean
  /** Whether any gateway ran in a minute. */
  readonly isCovered: (minute: number) => boolean
  /** A shorter interruption is no gap. */
  readonly leastMs: number
  /** Why the fixes of a minute are not delivered yet, if they are not. */
  readonly undelivered?: (minute: number) => 'waiting' | 'refused' | undefined
  /** Whether the device was parked in a minute, according to its tracker. */
  readonly isParked?: (minute: number) => boolean
}

/** Ends are exclusive; ms UTC. */
export interface DaySpan {
  readonly from: number
  readonly until: number
}

export interface DayGap extends DaySpan {
  readonly reason: GapReason
  readonly message: Text
}

/** Pure: when a device was connected on a day, and its gaps. */
export function dayOf(facts: DayFacts): { readonly connected: DaySpan[]; readonly gaps: DayGap[] } {
  const connected = marksOf(facts, (minute) => facts.has('connected', minute))
  const spans = runsOf(connected.length, (minute) => connected[minute]).map((run) => spanOf(run, facts))
  return { connected: spans, gaps: gapsOf(facts) }
}

/**
 * Pure: the spans of a day without a delivered position, each with its reason. `isWanted`: which gaps are looked at, by their whole
 * span; default: all.
 */
export function gapsOf(facts: DayFacts, isWanted: (span: DaySpan) => boolean = () => true): DayGap[] {
  const { has, leastMs, undelivered = () => undefined } = facts
  const least = Math.ceil(leastMs / MINUTE_MS)
  const delivered = marksOf(facts, (minute) => has('fix', minute) && undelivered(minute) === undefined)
  return runsOf(delivered.length, (minute) => !delivered[minute])
    .filter(([first, end]) => end - first >= least && isWanted(spanOf([first, end], facts)))
    .flatMap((run) => byReason(run, reasonsIn(run, facts)))
    .map(({ reason, run }) => ({ ...spanOf(run, facts), reason, message: say(MESSAGES[reason]) }))
}

/** The reason of each minute of a gap. */
function reasonsIn([first, end]: Run, facts: DayFacts): (minute: number) => GapReason {
  const { has, isCovered, isParked, undelivered } = facts
  const least = Math.ceil(facts.leastMs / MINUTE_MS)
  // Marks shortly before and after the gap also hold for the minutes in between.
  const around = { first: Math.max(0, first - least), end: Math.min(minutesOf(facts), end + least), least }
  const marks = (isMarked: (minute: number) => boolean) => {
    const marked = withoutHoles(around, isMarked)
    return (minute: number) => marked[minute - around.first]
  }
  const stays = (reason: GapReason) =>
    undelivered ? marks((minute) => has('fix', minute) && undelivered(minute) === reason) : () => false
  const isKnown = marks(isCovered)
  const causes: readonly (readonly [GapReason, (minute: number) => boolean])[] = [
    ['refused', stays('refused')],
    ['waiting', stays('waiting')],
    ['held', marks((minute) => has('held', minute))],
    ['not_stored', marks((minute) => has('not_stored', minute))],
    ['filtered', marks((minute) => has('filtered', minute))],
    ['parked', (minute) => isParked?.(minute) === true && isKnown(minute)],
    ['no_fix', marks((minute) => has('connected', minute))],
  ]
  return (minute) => {
    for (const [reason, isMarked] of causes) if (isMarked(minute)) return reason
    return isKnown(minute) ? 'not_connected' : 'unknown'
  }
}

function minutesOf({ from, until }: DaySpan): number {
  return Math.ceil((until - from) / MINUTE_MS)
}

function spanOf([first, end]: Run, { from, until }: DaySpan): DaySpan {
  return { from: from + first * MINUTE_MS, until: Math.min(from + end * MINUTE_MS, until) }
}

/** Returns the minutes of the day, with marks extended by `withoutHoles`. */
function marksOf(facts: DayFacts, isMarked: (minute: number) => boolean): boolean[] {
  return withoutHoles({ first: 0, end: minutesOf(facts), least: Math.ceil(facts.leastMs / MINUTE_MS) }, isMarked)
}

/** First minute, and the one after the last. */
type Run = readonly [first: number, end: number]

/** For each minute from the first one on, whether it is marked or lies between two marked ones that are at most `least` apart. */
function withoutHoles(
  { first, end, least }: { readonly first: number; readonly end: number; readonly least: number },
  isMarked: (minute: number) => boolean,
): boolean[] {
  const marked = Array<boolean>(end - first).fill(false)
  let last = -Infinity
  for (let minute = first; minute < end; minute++) {
    if (!isMarked(minute)) continue
    marked[minute - first] = true
    const gap = minute - last
    if (gap > 1 && gap <= least) marked.fill(true, last - first, minute - first)
    last = minute
  }
  return marked
}

function runsOf(minutes: number, isIn: (minute: number) => boolean): Run[] {
  const runs: Run[] = []
  for (let first = 0; first < minutes; first++) {
    if (!isIn(first)) continue
    let end = first
    while (end < minutes && isIn(end)) end++
    runs.push([first, end])
    first = end
  }
  return runs
}

/**
 * Returns the parts of a gap by reason; a part of a minute or two, as at the beginning of a connection, belongs to the one
 * before it, else to the one after it.
 */
function byReason([first, end]: Run, reasonAt: (minute: number) => GapReason): { reason: GapReason; run: Run }[] {
  const parts: { reason: GapReason; run: Run }[] = []
  for (let at = first; at < end; ) {
    const reason = reasonAt(at)
    let to = at
    while (to < end && reasonAt(to) === reason) to++
    const before = parts.at(-1)
    const isShort = to - at <= SHORT && to - at < end - first
    if (before && (isShort || before.reason === reason))
      parts[parts.length - 1] = { ...before, run: [before.run[0], to] }
    else if (before && before.run[1] - before.run[0] <= SHORT)
      parts[parts.length - 1] = { reason, run: [before.run[0], to] }
    else parts.push({ reason, run: [at, to] })
    at = to
  }
  return parts
}

const MESSAGES = {
  not_connected: 'nothing came that was readable and known to be its own',
  parked: 'its ignition was off, and no position came',
  no_fix: 'it was heard, and no position of this time came',
  filtered:
    'its positions were filtered: without GPS, at no possible place, too old or too new, without a route, or on trial',
  held: 'its positions were held: without a route, of a time in doubt, or off its track',
  not_stored: 'its positions could not be stored; it was not answered, and sends them again',
  waiting: 'its positions wait for the tracking API',
  refused: 'the tracking API refused its positions: they are kept',
  unknown: 'nothing was noted of this time: perhaps no gateway ran',
} satisfies Record<GapReason, Template>
const MINUTE_MS = 60_000
const SHORT = 2
