import type { Request } from './api.ts'
import type { MadeFix, Trip } from './crew.ts'
import type { Status } from './system.ts'
import type { Journal } from './upstream.ts'

/** What a run left behind, once nothing moves any more. */
export interface Evidence extends Journal {
  readonly trips: readonly Trip[]
  /** undefined where the admin port did not answer. */
  readonly custody: Status['custody'] | undefined
}

/** What came of it. */
export interface Verdict {
  readonly made: number
  readonly acked: number
  readonly delivered: number
  /** Acknowledged, and neither at the API nor held or filtered for its clock. */
  readonly lost: number
  /** Fixes that were pushed again although the API had told that it took them before, and those that it had not told. */
  readonly pushedTwice: number
  readonly untold: number
  /** Fixes that are in custody twice, since a van sent them twice. */
  readonly storedTwice: number
  /** From a fix to its acknowledgement, at worst. */
  readonly longestAckMs: number
  /** A sentence for everything that is not as it must be; none: all is well. */
  readonly problems: readonly string[]
}

/** Follows every fix of every van. Pure. */
export function judge({ trips, requests, told, custody }: Evidence): Verdict {
  const lanes = Map.groupBy(
    requests.filter(({ took }) => took),
    ({ lane }) => lane,
  )
  const passages = trips.map((trip) => follow(trip, lanes.get(trip.lane) ?? [], told))
  const fixes = trips.flatMap((trip) => trip.fixes)
  const sum = (of: (passage: Passage) => number) => passages.reduce((total, passage) => total + of(passage), 0)
  const delivered = sum(({ delivered: some }) => some)
  const repeats = sum((passage) => passage.repeats)
  const storedTwice = custody ? custody.delivered + custody.waiting + custody.parked - delivered : 0
  return {
    made: fixes.length,
    acked: fixes.filter(({ ackedAt }) => ackedAt !== undefined).length,
    delivered,
    lost: sum(({ lost }) => lost.length),
    storedTwice,
    untold: sum((passage) => passage.untold),
    pushedTwice: repeats - sum((passage) => passage.untold) - storedTwice,
    longestAckMs: fixes.reduce((most, { madeAt, ackedAt = madeAt }) => Math.max(most, ackedAt - madeAt), 0),
    problems: [
      ...passages.flatMap(({ problems }) => problems),
      ...accountProblems(custody, trips, storedTwice / delivered),
    ],
  }
}

interface Passage {
  readonly delivered: number
  readonly repeats: number
  readonly untold: number
  readonly lost: readonly MadeFix[]
  readonly problems: readonly string[]
}

/** `requests`: those of the trip's lane of which the API took the positions, in order. */
function follow(trip: Trip, requests: readonly Request[], told: ReadonlySet<number>): Passage {
  const made = new Map(trip.fixes.map((fix) => [fix.timestamp, fix]))
  const taken = new Map<number, { told: boolean }>()
  const problems: string[] = []
  let repeats = 0
  let untold = 0
  let last = -Infinity
  for (const [index, request] of requests.entries()) {
    const overtakes = isAllowedToOvertake(request, requests.slice(index + 1), made)
    for (const [timestamp, latitude, longitude] of request.positions) {
      const fix = made.get(timestamp)
      if (!fix || !isAt(fix, latitude, longitude))
        problems.push(`${nameOf(trip)}: never made ${timestamp}, in ${sketch(request)}`)
      const before = taken.get(timestamp)
      if (before) {
        repeats++
        if (!before.told) untold++
        before.told ||= told.has(request.n)
        continue
      }
      taken.set(timestamp, { told: told.has(request.n) })
      if (timestamp < last) problems.push(`${nameOf(trip)}: ${timestamp} came after ${last}, in ${sketch(request)}`)
      if (!overtakes) last = Math.max(last, timestamp)
    }
  }
  if (trip.aheadMs > 0 && taken.size > 0)
    problems.push(`${nameOf(trip)}: ${taken.size} fixes from the future were pushed`)
  const lost = trip.aheadMs > 0 ? [] : trip.fixes.filter(({ timestamp, ackedAt }) => ackedAt && !taken.has(timestamp))
  const unacknowledged = trip.fixes.filter(({ ackedAt }) => ackedAt === undefined)
  if (unacknowledged.length > 0)
    problems.push(`${nameOf(trip)}: ${unacknowledged.length} fixes were never acknowledged`)
  problems.push(...lost.map((fix) => `${nameOf(trip)}: lost ${history(fix)}`))
  return { delivered: taken.size, repeats, untold, lost, problems }
}

/**
 * Only a lane whose oldest fix has waited for a minute may send its newest first, alone. The oldest is what is pushed next: the
 * API may have taken it before, without the gateway's hearing of it.
 */
function isAllowedToOvertake(
  { at, positions }: Request,
  later: readonly Request[],
  made: ReadonlyMap<number, MadeFix>,
): boolean {
  const [[newest]] = positions
  const backlog = later.find(({ positions: [[oldest]] }) => oldest < newest)
  const oldest = backlog && made.get(backlog.positions[0][0])
  return positions.length === 1 && oldest !== undefined && at - oldest.madeAt > BEHIND_MS
}

function isAt(fix: MadeFix, latitude: number, longitude: number): boolean {
  return Math.abs(fix.latitude - latitude) < DEGREES && Math.abs(fix.longitude - longitude) < DEGREES
}

function accountProblems(custody: Evidence['custody'], trips: readonly Trip[], shareTwice: number): string[] {
  if (!custody) return ['the admin port does not answer']
  const problems: string[] = []
  if (custody.difference !== 0) problems.push(`the account has a difference: ${JSON.stringify(custody)}`)
  if (custody.waiting > 0 || custody.parked > 0) problems.push(`not all was delivered: ${JSON.stringify(custody)}`)
  const ahead = trips.some(({ aheadMs, fixes }) => aheadMs > 0 && fixes.length > 0)
  if (ahead && custody.filtered + custody.held === 0)
    problems.push('fixes from the future are neither held nor filtered')
  if (shareTwice > MOST_TWICE) problems.push(`${(shareTwice * 100).toFixed(2)} % of the fixes were stored twice`)
  return problems
}

function nameOf({ id, speech, lane }: Trip): string {
  return `${id} (${speech}, lane ${lane})`
}

function sketch({ n, at, mood, positions }: Request): string {
  return `request ${n} (${clock(at)}, ${mood}, ${positions.length} positions from ${positions[0]?.[0]})`
}

function history({ timestamp, madeAt, ackedAt }: MadeFix): string {
  return `${timestamp}, made ${clock(madeAt)}, acknowledged ${clock(ackedAt as number)}`
}

function clock(at: number): string {
  return new Date(at).toISOString().slice(11, 23)
}

const BEHIND_MS = 60_000
const DEGREES = 1e-5
const MOST_TWICE = 0.01
