import { say, type Text } from '../texts/text.ts'
import { BREAKS_NO_LINK, type FindingCode, type Link } from './codes.ts'
import type { ChainFacts, ExplainedDevice } from './detail.ts'
import { isTaken, ownParked } from './explain.ts'
import type { Finding } from './facts.ts'

/** `own`: the findings of the device. */
export type Looked = ChainFacts & { readonly own: readonly Finding[] }

/**
 * Returns the error of the whole system that breaks a link; an error about lanes only if it concerns the device's lane.
 * `isBroken`: the link is known to be broken, so that a warning may explain it, too.
 */
export function causeOf(link: Link, { device, explained, findings }: Looked, isBroken = false): Finding | undefined {
  const isWarningEnough = isBroken && (link === 'pushed' || link === 'accepted')
  const causes = findings.filter(
    ({ code, companies: concerned, evidence, link: of, severity, sinceAt, subject }) =>
      of === link &&
      !BREAKS_NO_LINK.has(code) &&
      !LET_PASS.has(code) &&
      (code !== 'not_stored' || isUnstored({ evidence, sinceAt }, { device, explained })) &&
      (code !== 'traffic_stopped' || device.stopped !== undefined) &&
      (!OF_LANES.has(code) || (isOwnLane(subject, explained) && isOwnTrouble(code, explained))) &&
      (severity === 'error' || (isWarningEnough && severity === 'warning')) &&
      subject.device === undefined &&
      (subject.company_id ?? device.company) === device.company &&
      (concerned === undefined || concerned.includes(device.company ?? '')),
  )
  return causes.find(({ subject }) => subject.route_id !== undefined) ?? causes[0]
}

/** Returns whether the fixes of this device are among those that are not stored; some reasons concern only a few devices. */
function isUnstored(
  { evidence, sinceAt }: Pick<Finding, 'evidence' | 'sinceAt'>,
  { device: { heardAt = 0 }, explained }: Pick<Looked, 'device' | 'explained'>,
): boolean {
  // A fix that was stored since then shows that this is over for the device, or never was true of it.
  if ((fixAt(explained.device) ?? 0) >= sinceAt) return false
  const isInVain = heardAt >= sinceAt
  return evidence.some((reason) => {
    if (reason === 'parked') return isInVain && ownParked(explained).length > 0
    if (reason === 'misunderstood') return isInVain && explained.misunderstood !== undefined
    return reason !== 'fault' || isInVain
  })
}

/** Returns whether a finding is about the device's lane, or about a company of whose lanes it names only some. */
function isOwnLane({ courier_id, route_id }: Finding['subject'], { device: { lane } }: Looked['explained']): boolean {
  return route_id === undefined || (route_id === lane?.route_id && courier_id === lane.courier_id)
}

function isOwnTrouble(code: FindingCode, explained: Looked['explained']): boolean {
  if (code === 'lane_hanging') return explained.upstream.unanswered_since_at !== undefined
  if (code === 'parked_full') return ownParked(explained).length > 0
  if (code === 'positions_refused') return ownParked(explained).some(({ refused }) => refused.length > 0)
  return ownParked(explained).some(({ parked }) => parked !== undefined)
}

/** Narrows a finding about several lanes to the device's lane: others are not shown. */
export function narrowed(finding: Finding | undefined, explained: Looked['explained']): Finding | undefined {
  if (!finding || !OF_LANES.has(finding.code) || finding.subject.route_id !== undefined) return finding
  return { ...finding, evidence: answerTexts(explained) }
}

/** Returns the API's answer to the device's own lane. */
export function answerTexts(explained: Looked['explained']): Text[] {
  const answers = ownParked(explained).flatMap((each) => [...(each.parked ? [each.parked] : []), ...each.refused])
  return answers.slice(0, 3).map(({ status, message }) => say('refused {}: {}', status, message.slice(0, 120)))
}

/**
 * Returns whether positions of the device's own lane wait because of a cause: none was delivered since it began, or one has
 * waited for several seconds. Without this, the lanes of healthy vans would seem broken whenever a position has just arrived.
 */
export function isHeldUpBy({ sinceAt }: Pick<Finding, 'sinceAt'>, { explained: { device, now } }: Looked): boolean {
  const { last_push, oldest_at, waiting = 0 } = device.lane ?? {}
  if (waiting === 0) return false
  const isDelivered = last_push !== undefined && isTaken(last_push) && Date.parse(last_push.at) >= sinceAt
  return !isDelivered || (oldest_at !== undefined && now - Date.parse(oldest_at) > WAITS_MS)
}

export function fixAt({ last_fix }: ExplainedDevice['device']): number | undefined {
  return last_fix && Date.parse(last_fix.received_at)
}

/** A position that waits for longer because of a cause is held up by it. */
const WAITS_MS = 5000
/** Findings about lanes, which tell nothing about other lanes. */
export const OF_LANES: ReadonlySet<FindingCode> = new Set([
  'lane_refused',
  'lane_hanging',
  'positions_refused',
  'apikey_refused',
  'parked_full',
])
/** Errors with which the positions of a device still pass their link, or that say nothing of this device. */
const LET_PASS: ReadonlySet<FindingCode> = new Set([
  'token_refused',
  'redis_unsafe',
  'disk_full',
  'custody_difference',
  'bridge_down',
  'certificate_refused',
  'restarting',
])
