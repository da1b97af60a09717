import { type ClockSteps, seemsLate } from '../rig/clock.ts'
import type { Request } from '../rig/journal-api.ts'
import type { Journal } from '../rig/upstream.ts'
import type { MadeFix, Trip } from '../rig/vans.ts'
import { correctedLanesOf, type Edit, lanesOf } from './edits.ts'

/** What became of the fixes of one van. */
export interface TripTrace {
  readonly delivered: number
  /** Positions that the API took again, and those of them whose first answer was not sent whole. */
  readonly repeats: number
  readonly untold: number
  /** Fixes that a change of the roster sent to another lane, and fixes that were under way during a change. */
  readonly rerouted: number
  readonly either: number
  /** Deliveries of fixes that were delivered elsewhere before, to where a line places them: of the past, or one that took effect late. */
  readonly corrected: number
  readonly lost: readonly MadeFix[]
  readonly problems: readonly string[]
}

/** `requests`: those on the van's lanes of which the API took the positions, in order. */
export interface TripEvidence extends Journal {
  readonly trip: Trip
  /** The van's, oldest first. */
  readonly edits: readonly Edit[]
  readonly clocks: ClockSteps
}

/** Follows every fix of a van. Pure. */
export function follow({ trip, edits, requests, told, clocks }: TripEvidence): TripTrace {
  const made = new Map(trip.fixes.map((fix) => [fix.timestamp, fix]))
  const arrivals = arrivalsOf(requests, made, clocks)
  const byFix = Map.groupBy(arrivals, ({ timestamp }) => timestamp)
  const firsts = Array.from(byFix.values(), ([first]) => first)
  const byLane = [...byFix.values()].map((all) => Map.groupBy(all, ({ request }) => request.lane))
  const isCorrection = (arrival: Arrival) => isCorrected(arrival, made.get(arrival.timestamp), edits)
  const isPlaced = (arrival: Arrival) =>
    isCorrection(arrival) || misplaced(arrival, made.get(arrival.timestamp), { trip, edits }).length === 0
  const corrections = byLane.flatMap((lanes) => [...lanes.values()].slice(1).filter(([first]) => isPlaced(first)))
  const lost = trip.aheadMs > 0 ? [] : trip.fixes.filter(({ timestamp, ackedAt }) => ackedAt && !byFix.has(timestamp))
  const problems = [
    ...arrivals
      .filter((arrival) => firsts.includes(arrival) || !isCorrection(arrival))
      .flatMap((arrival) => misplaced(arrival, made.get(arrival.timestamp), { trip, edits })),
    ...trip.fixes.flatMap((fix) => uncorrected(fix, byFix.get(fix.timestamp), edits)),
    ...disordered(firsts),
    ...missing(trip, byFix.size),
    ...lost.map((fix) => `lost ${history(fix)}`),
  ]
  return {
    delivered: byFix.size,
    repeats: arrivals.length - byFix.size - corrections.length,
    untold: byLane.flatMap((lanes) => [...lanes.values()]).reduce((sum, all) => sum + untoldOf(all, told), 0),
    corrected: corrections.length,
    rerouted: firsts.filter(({ request }) => request.lane !== trip.lane).length,
    either: trip.fixes.filter((fix) => lanesOf(fix, trip, edits).length > 1).length,
    lost,
    problems: problems.map((problem) => `${trip.id} (${trip.speech}, lane ${trip.lane}): ${problem}`),
  }
}

/** A position that the API took. */
interface Arrival {
  readonly request: Request
  readonly overtakes: boolean
  readonly timestamp: number
  readonly latitude: number
  readonly longitude: number
}

function arrivalsOf(requests: readonly Request[], made: ReadonlyMap<number, MadeFix>, clocks: ClockSteps): Arrival[] {
  return requests.flatMap((request, index) => {
    const overtakes = isAllowedToOvertake(request, { later: requests.slice(index + 1), made, clocks })
    return request.positions.map(([timestamp, latitude, longitude]) => {
      return { request, overtakes, timestamp, latitude, longitude }
    })
  })
}

/**
 * Only a lane whose oldest fix has waited for a minute may send its newest first, alone. The oldest is what is pushed next: the
 * API may have taken it before although the gateway got no answer. The clocks that measure the wait may be wrong.
 */
function isAllowedToOvertake(
  { at, lane, positions }: Request,
  {
    later,
    made,
    clocks,
  }: {
    readonly later: readonly Request[]
    readonly made: ReadonlyMap<number, MadeFix>
    readonly clocks: ClockSteps
  },
): boolean {
  const [[newest]] = positions
  const backlog = later.find((request) => request.lane === lane && request.positions[0][0] < newest)
  const oldest = backlog && made.get(backlog.positions[0][0])
  if (positions.length > 1 || oldest === undefined) return false
  return at - oldest.madeAt > BEHIND_MS || seemsLate(clocks, oldest.madeAt, at)
}

function misplaced(
  { request, timestamp, latitude, longitude }: Arrival,
  fix: MadeFix | undefined,
  { trip, edits }: Pick<TripEvidence, 'trip' | 'edits'>,
): string[] {
  if (!fix || !isAt(fix, latitude, longitude)) return [`${timestamp} was never made, in ${sketch(request)}`]
  const lanes = lanesOf(fix, trip, edits)
  if (lanes.includes(request.lane)) return []
  return [`${timestamp} went to ${request.lane} in place of ${lanes.join(' or ')}, in ${sketch(request)}`]
}

/** Whether it came where a line of the past places it, after that was asked for. */
function isCorrected({ request }: Arrival, fix: MadeFix | undefined, edits: readonly Edit[]): boolean {
  const asked = edits.filter(({ askedAt }) => askedAt < request.at)
  return fix !== undefined && correctedLanesOf(fix, asked).includes(request.lane)
}

/** A fix that was delivered, and not where the last line of the past places it. */
function uncorrected(fix: MadeFix, arrivals: readonly Arrival[] = [], edits: readonly Edit[]): string[] {
  const lane = correctedLanesOf(fix, edits).at(-1)
  if (lane === undefined || arrivals.length === 0 || arrivals.some(({ request }) => request.lane === lane)) return []
  return [`${fix.timestamp} is not at ${lane}, where it belongs, but came in ${sketch(arrivals[0].request)}`]
}

function isAt(fix: MadeFix, latitude: number, longitude: number): boolean {
  return Math.abs(fix.latitude - latitude) < DEGREES && Math.abs(fix.longitude - longitude) < DEGREES
}

/** The first deliveries that came after a newer one of their lane. */
function disordered(firsts: readonly Arrival[]): string[] {
  const newest = new Map<string, number>()
  return firsts.flatMap(({ request, overtakes, timestamp }) => {
    const last = newest.get(request.lane) ?? -Infinity
    if (!overtakes) newest.set(request.lane, Math.max(last, timestamp))
    return timestamp < last ? [`${timestamp} came after ${last}, in ${sketch(request)}`] : []
  })
}

/** How often a fix was pushed again before the API had sent a whole answer. */
function untoldOf(arrivals: readonly Arrival[], told: ReadonlySet<number>): number {
  const first = arrivals.findIndex(({ request }) => told.has(request.n))
  return Math.min(first === -1 ? Infinity : first, arrivals.length - 1)
}

function missing({ aheadMs, fixes }: Trip, taken: number): string[] {
  const problems: string[] = []
  if (aheadMs > 0 && taken > 0) problems.push(`${taken} fixes from the future were pushed`)
  const unacknowledged = fixes.filter(({ ackedAt }) => ackedAt === undefined).length
  if (unacknowledged > 0) problems.push(`${unacknowledged} fixes were never acknowledged`)
  return problems
}

/** A request, in words. */
export function sketch({ n, at, behaviour, positions }: Request): string {
  return `request ${n} (${clock(at)}, ${behaviour}, ${positions.length} positions from ${positions[0]?.[0]})`
}

function history({ timestamp, madeAt, ackedAt }: MadeFix): string {
  return `${timestamp}, made ${clock(madeAt)}, acknowledged ${clock(ackedAt as number)}`
}

function clock(at: number): string {
  return new Date(at).toISOString().slice(11, 23)
}

const BEHIND_MS = 60_000
const DEGREES = 1e-5
