import { counted, joined, say, type Text, wholeSentence } from '../texts/text.ts'
import { type FindingCode, type Link, SEVERITY_ORDER } from './codes.ts'
import type { Finding } from './facts.ts'

/** Errors first, then by how many vans a finding concerns, then by how long it holds. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  return findings.toSorted(
    (one, other) =>
      SEVERITY_ORDER[one.severity] - SEVERITY_ORDER[other.severity] ||
      concernOf(other) - concernOf(one) ||
      one.sinceAt - other.sinceAt,
  )
}

/** How many vans a finding concerns, as far as that is known: at most `ALL`. */
export function concernOf({ code, count, subject }: Pick<Finding, 'code' | 'count' | 'subject'>): number {
  // An unconfigured sender is not one of our vans.
  if (OF_NO_VAN.has(code)) return 0
  if (subject.device !== undefined || subject.route_id !== undefined) return 1
  if (COUNTS_VANS.has(code)) return Math.min(count, ALL - 1)
  return OF_ALL.has(code) && Object.keys(subject).length === 0 ? ALL : 0
}

/** How much passes a link: in all, and a second. */
export interface Flow {
  readonly count: number
  readonly perS: number
}

type Flows = Readonly<Record<Link, Flow>>

/**
 * Numbers of vans by condition, if it matters for deliveries. `overdue`: of those that move or stand, those not heard when
 * due.
 */
export type VanCounts = Readonly<Record<'moving' | 'standing' | 'parked' | 'overdue', number>>

/** What the verdict takes into account beside the findings. `isEarly`: it is not known yet which processes run. */
interface VerdictFacts {
  readonly flows?: Flows
  readonly vans?: VanCounts
  readonly isEarly?: boolean
}

/** The state of everything in one sentence: what concerns most vans, and how much else is wrong. */
export function verdict(findings: readonly Finding[], { flows, vans, isEarly = false }: VerdictFacts = {}): Text {
  const serious = findings.filter(({ severity }) => severity !== 'info')
  const [worst] = serious
  if (worst?.severity !== 'error' && isNobodyHeard(flows, vans)) return unheardVerdict(serious, vans)
  if (!worst && isEarly) return wholeSentence(say('nothing is known to be wrong so far'))
  if (!worst) return wholeSentence(flows ? say('all well: {}', flowText(flows)) : say('all well'))
  const others = serious.length - 1
  const more = others > 0 ? [counted(others, '{} more finding', '{} more findings')] : []
  const texts = joined([worst.message, ...more], '; ')
  if (worst.severity === 'error' || isEarly) return wholeSentence(texts)
  if (isNothingDelivered(serious, flows, vans)) return wholeSentence(say('nothing is delivered: {}', texts))
  return wholeSentence(
    serious.length === 1
      ? say('well, with {} warning: {}', 1, texts)
      : say('well, with {} warnings: {}', serious.length, texts),
  )
}

/** Whether no van is heard, though some should be. */
function isNobodyHeard(flows?: Flows, vans?: VanCounts): vans is VanCounts {
  if (!vans || vans.overdue === 0 || (flows && flows.accepted.perS > 0)) return false
  // Without rates nobody knows whether a parked van sends: it counts as one that is heard.
  return vans.moving + vans.standing + (flows ? 0 : vans.parked) <= vans.overdue
}

function unheardVerdict(serious: readonly Finding[], { overdue }: VanCounts): Text {
  const unheard = counted(overdue, '{} van that should send is not heard', '{} vans that should send are not heard')
  const more = serious.length > 0 ? [counted(serious.length, '{} more finding', '{} more findings')] : []
  return wholeSentence(say('nothing is delivered: {}', joined([unheard, ...more], '; ')))
}

/**
 * Returns whether no position is delivered although some should be: no van sends deliverable positions while some should, or
 * waiting positions do not move.
 */
function isNothingDelivered(serious: readonly Finding[], flows?: Flows, vans?: VanCounts): boolean {
  if (flows && flows.accepted.perS > 0) return false
  if (flows && serious.some(({ code }) => code === 'backlog')) return true
  const isSomeMissing = serious.some(({ code }) => MISSING.has(code))
  // Without rates nobody knows whether a parked van sends: it counts as one that is heard.
  const delivering = vans && vans.moving + vans.standing + (flows ? 0 : vans.parked)
  return isSomeMissing && delivering === 0
}

function flowText({ connected, accepted }: Flows): Text {
  const devices = counted(connected.count, '{} device connected', '{} devices connected')
  return say('{}, {} positions/s delivered', devices, accepted.perS)
}

/** Stands for all vans. */
export const ALL = 1_000_000_000
/** Findings that hold all positions up, or make all late. */
const OF_ALL: ReadonlySet<FindingCode> = new Set([
  ...(['no_gateway', 'no_worker', 'not_stored', 'own_clock', 'connections_full'] as const),
  ...(['redis_down', 'replicas_missing', 'redis_full', 'disk_full'] as const),
  ...(['upstream_down', 'not_the_api', 'upstream_hanging', 'upstream_slow', 'upstream_limited', 'backlog'] as const),
])
/** Findings whose count is one of vans, or of lanes, each of which has a van. */
const COUNTS_VANS: ReadonlySet<FindingCode> = new Set([
  ...(['traffic_stopped', 'lane_hanging', 'lane_refused', 'apikey_refused'] as const),
  ...([
    'silent',
    'gps_old',
    'clock_behind',
    'no_route',
    'wrong_port',
    'power_cut',
    'battery_low',
    'jammed',
    'sos',
  ] as const),
])
const OF_NO_VAN: ReadonlySet<FindingCode> = new Set(['unknown_device', 'unknown_refused', 'guesses_refused'])
/** Findings of vans whose positions are missing. */
const MISSING: ReadonlySet<FindingCode> = new Set([
  ...(['silent', 'gps_old', 'clock_ahead', 'no_route', 'wrong_port', 'not_understood', 'checksum_errors'] as const),
  ...(['wrong_secret', 'not_permitted'] as const),
])
