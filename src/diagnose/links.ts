import { distinct, say, type Text } from '../texts/text.ts'
import { answerTexts, causeOf, fixAt, isHeldUpBy, type Looked, narrowed, OF_LANES } from './causes.ts'
import { ALARM_FINDINGS, type FindingCode, type Link, SENT_IN_VAIN } from './codes.ts'
import type { ExplainedDevice } from './detail.ts'
import { conditionOf, durationText, senderText } from './devices.ts'
import { isAsleep, leastSilenceMs, longestSleepMs, silenceMs } from './parked.ts'
import {
  framesText,
  isOnTrial,
  isRefusedNow,
  isTaken,
  latestOf,
  ON_TRIAL,
  ownParked,
  routeText,
  type ShowInstant,
  treatmentsIn,
  waitingSince,
} from './explain.ts'
import type { DeviceFacts } from './device-facts.ts'
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

/** `about 4.1 MB a month on the air; it connects anew for each position` */
function airTexts({ air }: ExplainedDevice['device']): Text[] {
  if (!air) return []
  const { bytes_per_month: bytes, connects_anew } = air
  const [says, size] = bytes < 1e6 ? (['{} kB', 1e3] as const) : (['{} MB', 1e6] as const)
  const amount = say('about {} a month on the air', say(says, Number((bytes / size).toPrecision(2))))
  return connects_anew ? [amount, say('it connects anew for each position')] : [amount]
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
      const isNew = isNewEntry(device, detail.source, now)
      const unheard = isNew ? say('configured a moment ago, not heard yet') : unheardText(device)
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
    if (silenceMs(device, now) > leastSilenceMs(device) && isAsleep(device, now))
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
    const on = routeText(detail, show)
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
      ...(isBroken && isUnplaced && { sinceAt: placedUntil(detail) ?? unplaced?.at }),
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
    // All that is in a lane that is parked whole is parked.
    const isParked = ownParked(looked.explained).some(({ parked }) => parked !== undefined)
    const evidence = waiting > 0 && oldest_at && !isParked ? [waitingSince(waiting, show(oldest_at))] : []
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

/** Of a device that is not heard; what another company heard of it earlier is not known. */
export function unheardText({ companySince }: Pick<DeviceFacts, 'companySince'>): Text {
  return say(companySince === undefined ? 'never heard' : 'not heard since it was configured')
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

/** When the first fix came that did not go to a lane, after others that did; ms UTC. */
function placedUntil(device: ExplainedDevice['device']): number | undefined {
  const treated = treatmentsIn(device.events)
  const routed = treated.findIndex(({ event }) => event === 'routed')
  return routed > 0 ? Date.parse(treated[routed - 1].at) : undefined
}

/**
 * Returns whether an entry was put through the admin port, or its device went to its company, a moment ago; for other entries
 * of files this is unknown. `now`: ms UTC.
 */
export function isNewEntry(
  { companySince = -Infinity }: Pick<DeviceFacts, 'companySince'>,
  source = '',
  now: number,
): boolean {
  const putAt = Date.parse(/^admin (.+)$/.exec(source)?.[1] ?? '') || -Infinity
  return now - Math.max(putAt, companySince) < NEW_MS
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}

/** A device whose entry is younger than this may not have been pointed to the gateway yet. */
const NEW_MS = 600_000
const LATE_MS = 60_000
/** Why fixes without satellites are filtered. */
const NO_SATELLITES = new Set(['invalid', 'zero'])
/** Findings about the roster, or about earlier fixes, with which the present ones go to their route. */
const STILL_PLACED = new Set<FindingCode>([
  'held_full',
  'held_too_long',
  'two_on_route',
  'roster_rejected',
  'roster_pull_failed',
  'roster_stale',
  'config_refused',
])
