import { type ClockSteps, heldUntil } from './clock.ts'
import type { MadeFix, Trip } from './crew.ts'
import { describeEdit, type Edit, keyOf } from './edits.ts'
import { follow, type Passage, sketch } from './passage.ts'
import type { Status } from './system.ts'
import type { Journal } from './upstream.ts'

/** What a run left behind, once nothing moves any more. */
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
  /** Fixes that a change of the roster has sent elsewhere, and those that were on their way while one was: see `lanesOf`. */
  readonly rerouted: number
  readonly either: number
  /** From a fix to its acknowledgement, at worst. */
  readonly longestAckMs: number
  /** A sentence for everything that is not as it must be; none: all is well. */
  readonly problems: readonly string[]
}

/** Follows every fix of every van. Pure. */
export function judge({ trips: driven, edits, shown, requests, told, custody, clocks = RIGHT }: Evidence): Verdict {
  const trips = driven.map((trip) => ({ ...trip, fixes: trip.fixes.map((fix) => withHold(fix, clocks)) }))
  const taking = requests.filter(({ took }) => took)
  const vans = vansOf(trips, edits)
  const byVan = Map.groupBy(taking, ({ lane }) => vans.get(lane))
  const editsOf = Map.groupBy(edits, ({ device }) => device)
  const passages = trips.map((trip) =>
    follow({ trip, edits: editsOf.get(trip.id) ?? [], requests: byVan.get(trip.id) ?? [], told, clocks }),
  )
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
    rerouted: sum((passage) => passage.rerouted),
    either: sum((passage) => passage.either),
    longestAckMs: fixes.reduce((most, { madeAt, ackedAt = madeAt }) => Math.max(most, ackedAt - madeAt), 0),
    problems: [
      ...passages.flatMap(({ problems }) => problems),
      ...(byVan.get(undefined) ?? []).map((request) => `lane ${request.lane} is nobody's, in ${sketch(request)}`),
      ...rosterProblems(edits, shown),
      ...accountProblems(custody, trips, storedTwice / delivered),
    ],
  }
}

function withHold(fix: MadeFix, clocks: ClockSteps): MadeFix {
  return { ...fix, heldUntil: heldUntil(clocks, fix.madeAt, fix.ackedAt ?? Infinity) }
}

/** Whose lane it is. */
function vansOf(trips: readonly Trip[], edits: readonly Edit[]): ReadonlyMap<string, string> {
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

/** A sentence for each change that was answered and is not shown, but for entries that others have taken the place of. */
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
