import { distinct, say, type Text } from '../texts/text.ts'
import { ALARM_FINDINGS, BREAKS_NO_LINK, type FindingCode, type Link, SENT_IN_VAIN } from './codes.ts'
import type { ChainFacts, ExplainedDevice } from './detail.ts'
import { conditionOf, durationText, senderText } from './devices.ts'
import { isAsleep, leastSilenceMs, longestSleepMs } from './parked.ts'
import {
  framesText,
  isOnTrial,
  isRefusedNow,
  isTaken,
  latestOf,
  ON_TRIAL,
  ownParked,
  type ShowInstant,
  treatmentsIn,
  waitingSince,
} from './explain.ts'
import type { Finding } from './facts.ts'

/** One of the seven links of a device. `idle`: nothing has reached this link. Instants in ms UTC. */
export interface DeviceLink {
  readonly link: Link
  readonly state: 'ok' | 'broken' | 'idle' | 'unknown'
  readonly sinceAt?: number
  readonly lastGoodAt?: number
  readonly evidence: readonly Text[]
  readonly finding?: Finding
}

/** `own`: the findings of the device. */
type Looked = ChainFacts & { readonly own: readonly Finding[] }
type LinkFound = Omit<DeviceLink, 'link'>

/** Pure. Returns the state of one link of a device. */
export function linkOf(link: Link, looked: Looked, show: ShowInstant): DeviceLink {
  const found = LOOKS[link](looked, show)
  const own = looked.own.filter((each) => each.link === link)
  const finding =
    own.find(({ code }) => !ALARM_FINDINGS.has(code)) ??
    own[0] ??
    (found.state === 'broken' ? narrowed(causeOf(link, looked, true), looked.explained) : undefined)
  // The link itself tells when a silent device was heard, and the answer to its own lane.
  const isSaid = !finding || finding.code === 'silent' || OF_LANES.has(finding.code)
  const shown = isSaid ? found.evidence : [...found.evidence, ...finding.evidence]
  return {
    finding,
    sinceAt: found.state === 'broken' ? finding?.sinceAt : undefined,
    ...found,
    link,
    evidence: distinct(shown),
  }
}

/**
 * Returns the error of the whole system that breaks a link; an error about lanes only if it concerns the device's lane.
 * `isBroken`: the link is known to be broken, so that a warning may explain it, too.
 */
function causeOf(link: Link, { device, explained, findings }: Looked, isBroken = false): Finding | undefined {
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
  const isInVain = heardAt >= sinceAt && (fixAt(explained.device) ?? 0) < sinceAt
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
function narrowed(finding: Finding | undefined, explained: Looked['explained']): Finding | undefined {
  if (!finding || !OF_LANES.has(finding.code) || finding.subject.route_id !== undefined) return finding
  return { ...finding, evidence: answerTexts(explained) }
}

/** `about 4.1 MB a month on the air; it connects anew for each position` */
function airTexts({ air }: ExplainedDevice['device']): Text[] {
  if (!air) return []
  const { bytes_per_month: bytes, connects_anew } = air
  const [says, size] = bytes < 1e6 ? (['{} kB', 1e3] as const) : (['{} MB', 1e6] as const)
  const amount = say('about {} a month on the air', say(says, Number((bytes / size).toPrecision(2))))
  return connects_anew ? [amount, say('it connects anew for each position')] : [amount]
}

/** Returns the API's answer to the device's own lane. */
function answerTexts(explained: Looked['explained']): Text[] {
  const answers = ownParked(explained).flatMap((each) => [...(each.parked ? [each.parked] : []), ...each.refused])
  return answers.slice(0, 3).map(({ status, message }) => say('refused {}: {}', status, message.slice(0, 120)))
}

const LOOKS: Readonly<Record<Link, (looked: Looked, show: ShowInstant) => LinkFound>> = {
  connected({ device, explained: { device: detail, now, similar }, findings, own }, show) {
    const { connectedAt, heardAt, route, sender } = device
    const tried = detail.events.find(({ event }) => event === 'refused')
    if (sender) return ok([say('its id came from {}', sender.address)], sender.at)
    if (heardAt === undefined) {
      const [held] = detail.held
      if (held) return ok([say('what it sent is held since {}', show(held.oldest_at))], Date.parse(held.oldest_at))
      if (tried) return ok([say('it came, and was refused at {}', show(tried.at))], Date.parse(tried.at))
      const isNew = isNewEntry(detail.source, now)
      const unheard = say(isNew ? 'configured a moment ago, not heard yet' : 'never heard')
      const others = similar === undefined ? [] : [say('{} sends, and nobody has configured it', similar)]
      return { state: route && !isNew ? 'broken' : 'idle', evidence: [unheard, ...others] }
    }
    const { protocol = say('a login'), transport = '', remote = '' } = detail.last_heard ?? {}
    const ago = durationText(now - heardAt)
    const evidence: Text[] = [say('heard {} ago: {} over {} from {}', ago, protocol, transport, remote)]
    if (connectedAt !== undefined) evidence.push(say('connected since {}', show(instant(connectedAt))))
    evidence.push(...airTexts(detail))
    if (findings.some(({ code }) => code === 'no_gateway')) return { ...broken(evidence), lastGoodAt: heardAt }
    if (device.stopped)
      return { ...broken([...evidence, say('it fell silent together with others')], heardAt), lastGoodAt: heardAt }
    const isSilent = conditionOf(device, now) === 'silent'
    const vain = isSilent ? own.find(({ code }) => SENT_IN_VAIN.has(code)) : undefined
    if (vain)
      return ok([...evidence, say('it sends, and nothing is accepted since {}', show(instant(vain.sinceAt)))], heardAt)
    if (now - heardAt > leastSilenceMs(device) && isAsleep(device, now))
      evidence.push(
        say('parked, and counts as silent once it was not heard for {}', durationText(longestSleepMs(device))),
      )
    if (!isSilent) return { ...ok(evidence, heardAt), sinceAt: connectedAt }
    return { state: route ? 'broken' : 'idle', evidence, lastGoodAt: heardAt, sinceAt: heardAt }
  },

  understood({ device: facts, explained, own }, show) {
    const { heardAt, sender } = facts
    const { device, misunderstood, now } = explained
    const frames = misunderstood ? [framesText(misunderstood, show)] : []
    if (sender) return broken([senderText(sender)], sender.sinceAt)
    const isDamaged = own.some(({ code }) => code === 'not_understood' || code === 'checksum_errors')
    // A tracker whose positions are understood may send something else that is not.
    const isUnread = now - (fixAt(device) ?? 0) > leastSilenceMs(facts) && latestOf(device)?.event === 'misunderstood'
    if (isDamaged || isUnread) return { ...broken(frames), lastGoodAt: fixAt(device) }
    if (heardAt === undefined) return idle()
    return ok([...frames, say('protocol {}', device.last_heard?.protocol ?? say('not known yet'))], heardAt)
  },

  identified({ device: { heardAt = 0 }, explained: { device }, own }, show) {
    if (!device.configured) return broken([say('nobody has configured it')])
    const latest = latestOf(device)
    if (latest?.event === 'refused')
      return {
        ...broken([say('refused as {}', latest.reason ?? '')], Date.parse(latest.at)),
        lastGoodAt: heardAt || undefined,
      }
    const refused = own.find(({ code }) => code === 'wrong_secret' || code === 'not_permitted')
    if (refused && heardAt < refused.sinceAt)
      return broken([say('since {}', show(instant(refused.sinceAt)))], refused.sinceAt)
    return heardAt === 0 ? idle() : ok([say('configured by {}', device.source ?? '')], heardAt)
  },

  placed({ device, explained: { device: detail, now }, own }, show) {
    const { isUnplaced, route, unplaced } = device
    const { lane } = detail
    const on = lane ? say('route {} by {}', lane.route_id, lane.source) : say('no route now')
    const held = detail.held.map(({ fixes, reason, oldest_at }) =>
      say('{} held for {} since {}', fixes, reason, show(oldest_at)),
    )
    const evidence = [on, ...held]
    if (isUnplaced && unplaced)
      evidence.push(say('the last fix is {}: {}', say(unplaced.isHeld ? 'held' : 'filtered'), unplaced.reason))
    if (device.heardAt === undefined) return { ...idle(), evidence }
    const condition = conditionOf(device, now)
    const isWrong = own.some(({ link, code }) => link === 'placed' && !STILL_PLACED.has(code))
    // A parked van may stand without satellites.
    const isLost = isUnplaced === true && !(condition === 'parked' && NO_SATELLITES.has(unplaced?.reason ?? ''))
    const isBroken = isWrong || isLost || condition === 'held' || (condition === 'no_route' && !route)
    return {
      state: isBroken ? 'broken' : 'ok',
      evidence,
      lastGoodAt: isUnplaced ? placedUntil(detail) : fixAt(detail),
      sinceAt: isBroken ? unplaced?.at : undefined,
    }
  },

  stored(looked) {
    const at = fixAt(looked.explained.device)
    if (isOnTrial(looked.explained.device)) return { ...idle(), evidence: [say(ON_TRIAL)] }
    if (causeOf('stored', looked)) return { ...broken([]), lastGoodAt: at }
    return at === undefined ? idle() : ok([], at)
  },

  pushed(looked, show) {
    const { device, now, upstream } = looked.explained
    const { oldest_at, waiting = 0, last_push } = device.lane ?? {}
    const evidence = waiting > 0 && oldest_at ? [waitingSince(waiting, show(oldest_at))] : []
    const lastGoodAt = last_push && Date.parse(last_push.at)
    if (last_push) evidence.push(say('last push {}: {}', show(last_push.at), last_push.status))
    // A position that is refused, or whose request has no or another server's answer, was pushed.
    const isUnanswered = upstream.unanswered_since_at !== undefined
    const isPushed = isRefusedNow(looked.explained) || isUnanswered || (last_push !== undefined && !isTaken(last_push))
    const isLong = oldest_at !== undefined && now - Date.parse(oldest_at) > LATE_MS
    const isLate = isLong && upstream.state === 'up' && !isPushed
    const cause = causeOf('pushed', looked)
    const isStuck = cause !== undefined && isHeldUpBy(cause, looked)
    if (isLate || isStuck)
      return { state: 'broken', evidence, lastGoodAt, sinceAt: Date.parse(oldest_at ?? '') || undefined }
    return last_push ? ok(evidence, lastGoodAt) : { ...idle(), evidence }
  },

  accepted(looked, show) {
    const { explained } = looked
    const { device, upstream } = explained
    const { waiting = 0, last_push } = device.lane ?? {}
    const evidence = answerTexts(explained)
    const isGood = last_push !== undefined && isTaken(last_push)
    const lastGoodAt = isGood ? Date.parse(last_push.at) : undefined
    const unansweredSince = upstream.unanswered_since_at
    if (waiting > 0 && unansweredSince !== undefined) {
      const since = say('its lane has got no answer since {}', show(unansweredSince))
      return { ...broken([...evidence, since], Date.parse(unansweredSince)), lastGoodAt }
    }
    const cause = causeOf('accepted', looked, true)
    const isAway = upstream.state === 'down' || (cause !== undefined && !OF_LANES.has(cause.code))
    const isHeldUp = isAway && isHeldUpBy(cause ?? { sinceAt: Date.parse(upstream.since_at) }, looked)
    const isFailing = waiting > 0 && last_push !== undefined && !isGood
    // Behind what answers in its place the API may be well.
    if (isHeldUp && upstream.state !== 'up' && cause?.code !== 'not_the_api')
      evidence.push(say(`the tracking API is ${upstream.state} since {}` as const, show(upstream.since_at)))
    if (isFailing) evidence.push(say('last push: {}', last_push.status))
    const isUnaccepted = isRefusedNow(explained) || cause?.code === 'parked_full'
    if (isUnaccepted || isHeldUp || isFailing) return { ...broken(evidence), lastGoodAt }
    return isGood ? ok([...evidence, say('answer {}', last_push.status)], lastGoodAt) : { ...idle(), evidence }
  },
}

/**
 * Returns whether positions of the device's own lane wait because of a cause: none was delivered since it began, or one has
 * waited for several seconds. Without this, the lanes of healthy vans would seem broken whenever a position has just arrived.
 */
function isHeldUpBy({ sinceAt }: Pick<Finding, 'sinceAt'>, { explained: { device, now } }: Looked): boolean {
  const { last_push, oldest_at, waiting = 0 } = device.lane ?? {}
  if (waiting === 0) return false
  const isDelivered = last_push !== undefined && isTaken(last_push) && Date.parse(last_push.at) >= sinceAt
  return !isDelivered || (oldest_at !== undefined && now - Date.parse(oldest_at) > WAITS_MS)
}

function ok(evidence: readonly Text[], lastGoodAt?: number): LinkFound {
  return { state: 'ok', evidence, lastGoodAt }
}

/** A link that does not let positions pass. */
export function broken(evidence: readonly Text[], sinceAt?: number): LinkFound {
  return { state: 'broken', evidence, sinceAt }
}

function idle(): LinkFound {
  return { state: 'idle', evidence: [] }
}

function fixAt({ last_fix }: ExplainedDevice['device']): number | undefined {
  return last_fix && Date.parse(last_fix.received_at)
}

/** When the first fix came that did not go to a lane, after others that did; ms UTC. */
function placedUntil(device: ExplainedDevice['device']): number | undefined {
  const treated = treatmentsIn(device.events)
  const routed = treated.findIndex(({ event }) => event === 'routed')
  return routed > 0 ? Date.parse(treated[routed - 1].at) : undefined
}

/** Returns whether an entry was put through the admin port a moment ago; for entries of files this is unknown. `now`: ms UTC. */
export function isNewEntry(source = '', now: number): boolean {
  return now - (Date.parse(/^admin (.+)$/.exec(source)?.[1] ?? '') || -Infinity) < NEW_MS
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}

/** A device whose entry is younger than this may not have been pointed to the gateway yet. */
const NEW_MS = 600_000
const LATE_MS = 60_000
/** A position that waits for longer because of a cause is held up by it. */
const WAITS_MS = 5000
/** Findings about lanes, which tell nothing about other lanes. */
const OF_LANES: ReadonlySet<FindingCode> = new Set([
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
/** Why fixes without satellites are filtered. */
const NO_SATELLITES = new Set(['invalid', 'zero'])
/** Findings about the roster with which a device still has its route. */
const STILL_PLACED = new Set<FindingCode>([
  'two_on_route',
  'roster_rejected',
  'roster_pull_failed',
  'roster_stale',
  'config_refused',
])
