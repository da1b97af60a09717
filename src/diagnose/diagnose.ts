import type { Observation } from '../observe/observations.ts'
import { CODES, type Severity } from './codes.ts'
import type { Facts, Finding, Found } from './facts.ts'
import { groupTroubles } from './groups.ts'
import { rosterTroubles } from './roster.ts'
import { redisTroubles, systemTroubles } from './system.ts'
import { upstreamTroubles } from './upstream.ts'

/** Pure: what is wrong by these facts, errors first. What several processes observe of one subject is one finding. */
export function diagnose(facts: Facts): Finding[] {
  // Without Redis nothing else can be known, and everything else follows from it.
  const found = facts.redis?.downSince === undefined ? allTroubles(facts) : redisTroubles(facts)
  const findings = found.map((each) => findingOf(each, facts.now))
  return findings.toSorted((one, other) => ORDER[one.severity] - ORDER[other.severity] || one.sinceAt - other.sinceAt)
}

function allTroubles(facts: Facts): Found[] {
  return [
    ...observedTroubles(facts.observations),
    ...systemTroubles(facts),
    ...upstreamTroubles(facts),
    ...groupTroubles(facts),
    ...rosterTroubles(facts),
  ]
}

function observedTroubles(observations: readonly Observation[]): Found[] {
  const repeated = observations.filter(({ code, count }) => code !== 'checksum_errors' || count >= REPEATED)
  const bySubject = Map.groupBy(repeated, ({ code, subject }) => `${code} ${JSON.stringify(subject)}`)
  return [...bySubject.values()].map((same) => ({
    code: same[0].code,
    subject: same[0].subject,
    sinceAt: Math.min(...same.map(({ sinceAt }) => sinceAt)),
    count: same.reduce((sum, { count }) => sum + count, 0),
    evidence: [...new Set(same.flatMap(({ evidence }) => evidence))],
  }))
}

/** A finding with all that its code says. */
export function findingOf(
  { subject = {}, evidence = [], ...found }: Found,
  now: number,
  name: string = subject.device ?? subject.listener ?? subject.process ?? 'a device',
): Finding {
  const { message, ...meaning } = CODES[found.code]
  return {
    ...meaning,
    message: message(name),
    sinceAt: now,
    count: 1,
    ...found,
    subject,
    evidence: evidence.slice(0, MAX_EVIDENCE),
  }
}

const ORDER = { error: 0, warning: 1, info: 2 } satisfies Record<Severity, number>
const MAX_EVIDENCE = 5
/** One damaged frame is nothing odd. */
const REPEATED = 3
