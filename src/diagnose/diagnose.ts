import type { Observation } from '../observe/observations.ts'
import { CODES, type FindingCode, type Severity } from './codes.ts'
import type { Facts, Finding, Found } from './facts.ts'
import { groupTroubles } from './groups.ts'
import { redisTroubles, systemTroubles } from './system.ts'
import { upstreamTroubles } from './upstream.ts'

/** Pure: what is wrong by these facts, errors first. What is found of one subject more than once is one finding. */
export function diagnose(facts: Facts): Finding[] {
  // Without Redis or its replicas nothing else is known, and every other trouble follows from that.
  const { downSince, missing = [] } = facts.redis ?? {}
  const found = downSince === undefined && missing.length === 0 ? allTroubles(facts) : redisTroubles(facts)
  const findings = merged(found, facts.now).map((each) => {
    return findingOf(each, facts.now, facts.nameOf?.(each.subject?.device ?? ''))
  })
  return findings.toSorted((one, other) => ORDER[one.severity] - ORDER[other.severity] || one.sinceAt - other.sinceAt)
}

function allTroubles(facts: Facts): Found[] {
  const found = [
    ...observedTroubles(facts.observations),
    ...systemTroubles(facts),
    ...upstreamTroubles(facts),
    ...groupTroubles(facts),
  ]
  return found.some(({ code }) => CAUSES_OF_BACKLOG.has(code)) ? found.filter(({ code }) => code !== 'backlog') : found
}

function observedTroubles(observations: readonly Observation[]): Found[] {
  const repeated = observations.filter(({ code, count }) => code !== 'checksum_errors' || count >= REPEATED)
  return repeated.map(({ code, count, evidence, sinceAt, subject }) => ({ code, count, evidence, sinceAt, subject }))
}

function merged(found: readonly Found[], now: number): Found[] {
  const bySubject = Map.groupBy(found, ({ code, subject = {} }) => `${code} ${JSON.stringify(subject)}`)
  return [...bySubject.values()].map((same) => ({
    ...same[0],
    sinceAt: Math.min(...same.map(({ sinceAt = now }) => sinceAt)),
    count: same.reduce((sum, { count = 1 }) => sum + count, 0),
    evidence: [...new Set(same.flatMap(({ evidence = [] }) => evidence))],
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

/** What waits because of one of these needs no finding of its own. */
const CAUSES_OF_BACKLOG = new Set<FindingCode>([
  'no_worker',
  'worker_stuck',
  'upstream_down',
  'upstream_hanging',
  'upstream_slow',
  'upstream_limited',
])
const ORDER = { error: 0, warning: 1, info: 2 } satisfies Record<Severity, number>
const MAX_EVIDENCE = 5
/** A single damaged frame is normal; this many are reported. */
const REPEATED = 3
