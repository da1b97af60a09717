import { joined, mentions, say, type Template, type Text } from '../texts/text.ts'
import { deviceMeaning, type FindingCode, LINKS, type Link, SENT_IN_VAIN } from './codes.ts'
import type { ChainFacts, DeviceDetail, ExplainedDevice } from './detail.ts'
import { conditionOf, type DeviceCondition, deviceTroubles, durationText, PLACED } from './devices.ts'
import { findingOf } from './diagnose.ts'
import { explain, failureText, isTaken, type ShowInstant } from './explain.ts'
import type { DeviceFacts } from './device-facts.ts'
import type { Finding } from './facts.ts'
import { broken, type DeviceLink, linkOf, unheardText } from './links.ts'

export interface DeviceChain {
  /** State, place, age, speed and route, then the first trouble and the action. */
  readonly sentence: Text
  readonly broken: Link | null
  readonly links: readonly DeviceLink[]
  /** The findings about the device, and those that break its links. */
  readonly findings: readonly Finding[]
}

/** Pure. Returns the seven links of a device, and the conclusion. */
export function chainOf(facts: ChainFacts, show: ShowInstant): DeviceChain {
  const { device, explained } = facts
  const { now } = explained
  const left = leftOut(facts)
  const own = ownFindings(facts, left)
  const links = LINKS.map((link) => linkOf(link, { ...facts, own }, show))
  const causes = links.flatMap(({ finding }) => finding ?? [])
  const first = links.find(({ state }) => state === 'broken')
  const { last_push } = explained.device.lane ?? {}
  const condition = conditionOf(device, now)
  const isSlow = first !== undefined && isSlowAt(first, { last_push, now })
  const state = stateText({ ...facts, now, condition, firstBroken: first?.link, isSlow, last_push }, show)
  const cause = causeOfAll(first)
  const { companySince, meant, sender } = device
  const told = { companySince, sender, meant, findings: own, waitsFor: cause?.code, leftOut: left?.line }
  const rest = explain({ ...explained, ...told }, show)
  return {
    sentence: joined([state, cause?.message ?? [], rest].flat(), '; '),
    broken: first?.link ?? null,
    links,
    findings: [...new Set([...own, ...causes])],
  }
}

/**
 * Pure. Returns the chain while Redis does not answer, from memory: what the device did, and why nothing is stored; undefined
 * if no finding prevents storing.
 */
export function chainWithoutRedis(
  known: Pick<ChainFacts, 'device' | 'findings' | 'position'> & { readonly now: number },
  show: ShowInstant,
): DeviceChain | undefined {
  const { device, findings, now } = known
  const causes = findings.filter(({ link, severity }) => link === 'stored' && severity === 'error')
  const [cause] = causes
  if (!cause) return undefined
  const heard =
    device.heardAt === undefined ? unheardText(device) : say('last heard {} ago', durationText(now - device.heardAt))
  const links = LINKS.map((link): DeviceLink => {
    if (link === cause.link) return { link, ...broken(cause.evidence, cause.sinceAt), finding: cause }
    return { link, state: 'unknown', evidence: link === 'connected' ? [heard] : [] }
  })
  // Since the cause began no device could be heard, so silence since then tells nothing about this device.
  const state = stateText(
    { ...known, condition: conditionOf({ ...device, deafMs: 0 }, cause.sinceAt), firstBroken: cause.link },
    show,
  )
  const sentence = joined([state, ...causes.map(({ message }) => message)], '; ')
  return { sentence, broken: cause.link, links, findings: causes }
}

/**
 * Returns a finding that breaks the link for all devices. Leaves out findings about the tracking API, whose
 * effect on this device is in the rest of the sentence, except that the API is slow or hangs, or that another server answers,
 * which are not there.
 */
function causeOfAll(first: DeviceLink | undefined): Finding | undefined {
  const { finding, link } = first ?? {}
  if (!finding || finding.subject.device !== undefined) return undefined
  return link === 'accepted' && !SAID_BY_NOTHING_ELSE.has(finding.code) ? undefined : finding
}

/** Returns whether a broken link lets positions of the device pass, late: the tracking API has just taken some. */
function isSlowAt(
  { finding, link }: DeviceLink,
  { last_push, now }: Pick<ExplainedDevice, 'now'> & Pick<NonNullable<DeviceDetail['lane']>, 'last_push'>,
): boolean {
  if (finding?.code === 'upstream_slow') return true
  const isPassed = last_push !== undefined && isTaken(last_push) && now - Date.parse(last_push.at) < PUSHED_MS
  return isPassed && (link === 'pushed' ? finding?.severity !== 'error' : finding?.code === 'upstream_limited')
}

interface LineLeftOut {
  readonly finding: Finding
  /** `routes.csv:17: Van 12: route_id: empty`, as the evidence has it. */
  readonly line: Text
}

/** A line of the roster about the device that is left out. */
function leftOut({ device: { id, name = id, company }, findings }: ChainFacts): LineLeftOut | undefined {
  for (const finding of ofCompany('roster_rejected', { company, findings })) {
    const line = finding.evidence.find((text) => mentions(text, id) || mentions(text, name))
    if (line !== undefined) return { finding, line }
  }
  return undefined
}

/** The findings about the device and its route, also those that are reported only once for many devices. */
function ownFindings(facts: ChainFacts, left: LineLeftOut | undefined): Finding[] {
  const { device, findings } = facts
  const { now } = facts.explained
  const { id, name = id, company, route } = device
  const isOfRoute = ({ company_id, courier_id = route?.courier, route_id }: Finding['subject']) =>
    route_id !== undefined && route_id === route?.route && courier_id === route.courier && company_id === company
  const noted = findings.filter(({ subject }) => subject.device === id || isOfRoute(subject))
  const isSending = noted.some(({ code }) => SENT_IN_VAIN.has(code))
  const found = deviceTroubles(device, now, isSending).map(({ code, evidence, ...trouble }) => {
    const { severity, link, message, action } = deviceMeaning(code)
    const subject = { device: id, company_id: company }
    const meaning = { severity, link, message: say(message, name), action: say(action) }
    return findingOf({ ...meaning, ...trouble, code, evidence: [evidence], subject }, now)
  })
  const isNoted = (code: FindingCode) => noted.some((other) => other.code === code)
  const all = [...noted, ...found.filter(({ code }) => !isNoted(code))]
  // A finding about an outdated roster explains why a device has no route.
  const stale = route ? [] : ofCompany('roster_stale', { company, findings })
  const action = left ? say('correct its line, which is left out: {}', left.line) : stale[0]?.action
  const explained = all.map((each) => (action && each.code === 'no_route' ? { ...each, action } : each))
  const refused = route
    ? []
    : [...findings.filter(isRosterRefused), ...ofCompany('roster_pull_failed', { company, findings })]
  // The other evidence of the finding is about lines of other vans.
  const own = left ? [{ ...left.finding, evidence: [left.line] }] : []
  return [...explained, ...own, ...refused, ...stale]
}

/** Whether a file of devices or routes is refused: a van without a route may have one there. */
function isRosterRefused({ code, subject }: Finding): boolean {
  return code === 'config_refused' && subject.file !== 'gateway.yaml'
}

function ofCompany(code: FindingCode, { company, findings }: { company?: string; findings: readonly Finding[] }) {
  return findings.filter((each) => each.code === code && (each.subject.company_id ?? company) === company)
}

interface StateFacts extends Pick<ChainFacts, 'device' | 'position'> {
  readonly condition: DeviceCondition
  readonly firstBroken?: Link
  /** Whether the tracking API takes its positions, but late. */
  readonly isSlow?: boolean
  readonly last_push?: { readonly status: number | string }
  /** ms UTC. */
  readonly now: number
}

/**
 * Pure. Returns state, place, age, speed and route of a device, and the broken link if the state does not contain it.
 * `Van 12 is moving 2 km NE of Kaunas (54.91230, 23.93460), 12 s ago, 43 km/h, on route 1007 (courier 42), but nothing is
 * stored`
 * `Van 12 is parked in Moabit (52.53010, 13.34250), ignition off since 17:42:00Z, last position 50 min ago`
 */
function stateText(facts: StateFacts, show: ShowInstant): Text {
  const { firstBroken, condition, device, isSlow, last_push, now, position } = facts
  const { fix, id, name = id, route } = device
  const isUnheard = condition === 'silent' || condition === 'never'
  const isVain = isUnheard && (firstBroken === 'understood' || firstBroken === 'identified')
  // Of a device without a position it is not known that it stands.
  const known = condition === 'standing' && !fix ? 'gps_old' : condition
  const isMoved = condition === 'never' && device.companySince !== undefined
  const { text, link } = isVain ? { text: '{} sends' as const, link: undefined } : isMoved ? MOVED : STATES[known]
  const isCut = firstBroken === 'connected' && device.stopped
  const why = isCut ? CUT_OFF : isSlow ? LATE : firstBroken && BUT[firstBroken]
  const but = why === undefined || firstBroken === link ? [] : [say(why)]
  const isHere = PLACED.has(condition)
  const state = say(text, name)
  const ignition = condition === 'moving' ? [] : ignitionTexts(device, show)
  const age = agoText(device, now - (position?.at ?? now))
  const parts: Text[] = position
    ? [
        ...(isHere
          ? [joined([state, whereText(position)], ' ')]
          : [state, ...(isVain ? but : []), say('last {}', whereText(position))]),
        ...(condition === 'parked' ? [...ignition, say('last position {}', age)] : [age, ...ignition]),
      ]
    : [state, ...(isVain ? but : []), ...ignition]
  if (condition === 'moving' && fix?.speed !== undefined) parts.push(`${Math.round(fix.speed * 3.6)} km/h`)
  if (route) parts.push(say('on route {} (courier {})', route.route, route.courier))
  if (!isVain) parts.push(...but)
  const isAnswer = but.length > 0 && firstBroken === 'accepted' && last_push && !isTaken(last_push)
  const all = joined(parts, ', ')
  return isAnswer ? joined([all, failureText(last_push.status)], ': ') : all
}

function agoText({ behind }: DeviceFacts, ms: number): Text {
  return say(behind ? '{} ago by its clock' : '{} ago', durationText(ms))
}

/** `ignition off since 17:42:00Z`, if its tracker reports it. */
function ignitionTexts({ said }: DeviceFacts, show: ShowInstant): Text[] {
  const { ignition } = said ?? {}
  if (!ignition) return []
  const since = show(new Date(ignition.sinceAt).toISOString())
  return [say(ignition.value ? 'ignition on since {}' : 'ignition off since {}', since)]
}

function whereText({ latitude, longitude, place }: NonNullable<ChainFacts['position']>): Text {
  const degrees = `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`
  return place === undefined ? say('at {}', degrees) : say('{} ({})', place, degrees)
}

const PUSHED_MS = 60_000
const SAID_BY_NOTHING_ELSE = new Set<FindingCode>([
  'upstream_slow',
  'upstream_hanging',
  'not_the_api',
  'parked_full',
  'traffic_stopped',
])

/** The text of each condition; `link`: the broken link that this text already names. */
const STATES: Readonly<Record<DeviceCondition, { readonly text: Template; readonly link?: Link }>> = {
  moving: { text: '{} is moving' },
  standing: { text: '{} is standing' },
  parked: { text: '{} is parked' },
  silent: { text: '{} is silent', link: 'connected' },
  gps_old: { text: '{} is heard without a new position', link: 'placed' },
  no_route: { text: '{} is heard, and has no route now', link: 'placed' },
  held: { text: '{} is heard, and its fixes are held', link: 'placed' },
  never: { text: '{} was never heard', link: 'connected' },
  unknown: { text: '{} is not configured', link: 'identified' },
}
const MOVED = { text: '{} was not heard since it belongs to its company', link: 'connected' } as const
const CUT_OFF: Template = 'but nothing comes from it any more'
const LATE: Template = 'but its positions arrive late'
const BUT: Readonly<Record<Link, Template>> = {
  connected: 'but nothing can come from it now',
  understood: 'but what it sends is not understood',
  identified: 'but what it sends is refused',
  placed: 'but its positions do not go where they belong',
  stored: 'but nothing can be stored',
  pushed: 'but its positions are not pushed',
  accepted: 'but the tracking API does not take its positions',
}
