import { type ClockSteps, heldUntil } from '../rig/clock.ts'
import type { Status } from '../rig/product.ts'
import type { Journal } from '../rig/upstream.ts'
import type { MadeFix, Trip } from '../rig/vans.ts'
import { describeEdit, type Edit, keyOf } from './edits.ts'
import { follow, sketch, type TripTrace } from './trace.ts'

/** What is known of a run once it is at rest. */
export interface Evidence extends Journal {
  readonly trips: readonly Trip[]
  /** How the roster was changed, oldest first. */
  readonly edits: readonly Edit[]
  /** What the admin port shows of it, as `keyOf` names changes; undefined, as the custody, where it did not answer. */
  readonly shown: ReadonlySet<string> | undefined
  readonly custody: Status['custody'] | undefined
  /** None: no clock was changed. */
  readonly clocks?: ClockSteps
}

/** The result of a run. */
export interface Verdict {
  readonly made: number
  readonly acked: number
  readonly delivered: number
  /** Acknowledged, and neither at the API nor held or filtered for its clock. */
  readonly lost: number
  /** Fixes that were pushed again after a whole answer, and those that were pushed again without one. */
  readonly pushedTwice: number
  readonly untold: number
  /** Fixes that are in custody twice, since a van sent them twice. */
  readonly storedTwice: number
  /** Fixes that a change of the roster sent to another lane, and fixes that were under way during a change: see `lanesOf`. */
  readonly rerouted: number
  readonly either: number
  /** Deliveries of fixes that were delivered elsewhere before, to where a line of the past places them. */
  readonly corrected: number
  /** The longest time from a fix to its acknowledgement. */
  readonly longestAckMs: number
  /** A sentence for each problem. */
  readonly problems: readonly string[]
}

/** Follows every fix of every van. Pure. */
export function judge({ trips: driven, edits, shown, requests, told, custody, clocks = RIGHT }: Evidence): Verdict {
  const trips = driven.map((trip) => ({ ...trip, fixes: trip.fixes.map((fix) => withHold(fix, clocks)) }))
  const taking = requests.filter(({ took }) => took)
  const vans = vansOf(trips, edits)
  const byVan = Map.groupBy(taking, ({ lane }) => vans.get(lane))
  const editsOf = Map.groupBy(edits, ({ device }) => device)
  const traces = trips.map((trip) =>
    follow({ trip, edits: editsOf.get(trip.id) ?? [], requests: byVan.get(trip.id) ?? [], told, clocks }),
  )
  const fixes = trips.flatMap((trip) => trip.fixes)
  const sum = (of: (trace: TripTrace) => number) => traces.reduce((total, trace) => total + of(trace), 0)
  const delivered = sum(({ delivered: some }) => some)
  const repeats = sum((trace) => trace.repeats)
  const corrected = sum((trace) => trace.corrected)
  const storedTwice = custody ? custody.delivered + custody.waiting + custody.parked - delivered : 0
  return {
    made: fixes.length,
    acked: fixes.filter(({ ackedAt }) => ackedAt !== undefined).length,
    delivered,
    lost: sum(({ lost }) => lost.length),
    storedTwice,
    untold: sum((trace) => trace.untold),
    pushedTwice: repeats - sum((trace) => trace.untold) - storedTwice,
    rerouted: sum((trace) => trace.rerouted),
    either: sum((trace) => trace.either),
    corrected,
    longestAckMs: fixes.reduce((most, { madeAt, ackedAt = madeAt }) => Math.max(most, ackedAt - madeAt), 0),
    problems: [
      ...traces.flatMap(({ problems }) => problems),
      ...(byVan.get(undefined) ?? []).map((request) => `lane ${request.lane} is nobody's, in ${sketch(request)}`),
      ...rosterProblems(edits, shown),
      ...accountProblems(custody, trips, storedTwice / delivered),
      ...(custody && (custody.redelivered ?? 0) > corrected
        ? [`${custody.redelivered} were delivered again, but ${corrected} belong elsewhere`]
        : []),
    ],
  }
}

function withHold(fix: MadeFix, clocks: ClockSteps): MadeFix {
  return { ...fix, heldUntil: heldUntil(clocks, fix.madeAt, fix.ackedAt ?? Infinity) }
}

/** The van of each lane. */
export function vansOf(trips: readonly Trip[], edits: readonly Edit[]): ReadonlyMap<string, string> {
  return new Map([
    ...trips.map(({ lane, id }) => [lane, id] as const),
    ...edits.map(({ lane, device }) => [lane, device] as const),
  ])
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

/** A sentence for each change that was answered and is not shown, except entries that a later change replaced. */
export function rosterProblems(edits: readonly Edit[], shown: Evidence['shown']): string[] {
  if (!shown) return ['the admin port does not show the roster']
  const last = new Map(edits.filter(({ kind }) => kind === 'device').map((edit) => [edit.device, edit]))
  return edits.flatMap((edit) => {
    if (edit.refused) return [`${describeEdit(edit)}: ${edit.refused}`]
    if (edit.answeredAt === undefined) return [`${describeEdit(edit)}: never answered`]
    const replaced = edit.kind === 'device' && last.get(edit.device) !== edit
    return replaced || shown.has(keyOf(edit)) ? [] : [`${describeEdit(edit)}: answered, and not in the roster`]
  })
}

const RIGHT: ClockSteps = { steps: [] }
const MOST_TWICE = 0.01
