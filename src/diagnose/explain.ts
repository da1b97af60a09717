import { counted, joined, say, type Template, type Text } from '../texts/text.ts'
import { ALARM_FINDINGS, type FindingCode, SENT_IN_VAIN } from './codes.ts'
import type { DeviceDetail, ExplainedDevice, ParkedDetail } from './detail.ts'
import { meantAdvice, portAdvice, senderText } from './devices.ts'

/** Shows an instant, RFC 3339. */
export type ShowInstant = (instant: string) => string

/**
 * Returns one sentence on where the positions of a device are: when it was heard, its route, the most important trouble with
 * its fixes, and the action.
 * `last fix 08:14:02, route 1007 by routes.csv:17, refused 404 by the service (no such route), 214 parked: correct the line`
 */
export function explain(facts: ExplainedDevice, clock: ShowInstant): Text {
  const { device } = facts
  if (!device.configured) return notConfigured(facts, clock)
  const lost = heldTrouble(facts, clock) ?? filteredTrouble(device, clock)
  const troubles = [senderTrouble(facts), refusedTrouble(device, clock), misunderstoodTrouble(facts, clock), lost]
    .concat(foundTroubles(facts))
    .concat(isRefusedNow(facts) ? parkedTrouble(facts) : [])
    .filter((trouble) => trouble !== undefined)
  const rest = troubles.length > 0 ? joined(troubles, '; ') : (waitingText(facts, clock) ?? noTrouble(facts, clock))
  const earlier = isRefusedNow(facts) ? undefined : parkedTrouble(facts)
  const parked = earlier === undefined ? [] : [say('earlier ones were {}', earlier)]
  return joined([joined([heardText(facts, clock), routeText(device, clock), rest], ', '), ...parked], '; ')
}

function notConfigured(facts: ExplainedDevice, clock: ShowInstant): Text {
  const { device } = facts
  const last = device.last_heard ? [heardText(facts, clock)] : []
  const held = heldTrouble(facts, clock) ?? say('nothing is held: {}', entryAdvice(device.file_entry))
  const state = joined([say('not configured'), ...last, held], ', ')
  return joined([state, misunderstoodTrouble(facts, clock) ?? []].flat(), '; ')
}

function heardText({ companySince, device, findings = [], sender }: ExplainedDevice, clock: ShowInstant): Text {
  const { event } = latestOf(device) ?? {}
  const { state, lane, last_heard, last_fix } = device
  const fixAt = last_fix?.time_at ?? last_fix?.received_at
  const fix = fixAt === undefined ? say('no fix yet') : say('last fix {}', clock(fixAt))
  if (state === 'never' && (sender || event === 'refused' || event === 'misunderstood'))
    return say('nothing of its tracker was accepted so far')
  // Pushed but not heard: these fixes were held while the device was not configured, and released since.
  if (state === 'never' || !last_heard)
    return say(lane?.last_push || companySince !== undefined ? 'not heard since it was configured' : 'never heard')
  const isSilent = device.condition === 'silent' && !findings.some(({ code }) => SENT_IN_VAIN.has(code))
  if (isSilent) return say('silent since {}, {}', clock(last_heard.at), fix)
  return fixAt === undefined ? say('heard {}, {}', clock(last_heard.at), fix) : fix
}

export function routeText({ lane }: Pick<DeviceDetail, 'lane'>, clock: ShowInstant): Text {
  if (!lane) return say('no route now')
  const put = /^admin (.+)$/.exec(lane.source)?.[1]
  if (put === undefined) return say('route {} by {}', lane.route_id, lane.source)
  return say('route {} by the admin port, put {}', lane.route_id, clock(put))
}

function misunderstoodTrouble({ misunderstood }: ExplainedDevice, clock: ShowInstant): Text | undefined {
  if (!misunderstood) return undefined
  return say('{}: kept, and decoded again after an upgrade or a change of its entry', framesText(misunderstood, clock))
}

/** `1 frame of gt06 is not understood since 08:14:02Z` */
export function framesText(
  { frames, sinceAt, protocol, error }: NonNullable<ExplainedDevice['misunderstood']>,
  clock: ShowInstant,
): Text {
  const template =
    frames === 1 ? '{} frame of {} is not understood since {}' : '{} frames of {} are not understood since {}'
  const text = say(template, frames, protocol, clock(sinceAt))
  return error === undefined ? text : joined([text, say('the decoder says "{}"', error)], ', ')
}

/** Returns the findings that no other part of the sentence contains. */
function foundTroubles({ findings = [] }: ExplainedDevice): Text[] {
  const some = findings.filter(({ code }) => SAID_BY_FINDING.has(code))
  return some.map(({ evidence, action }) => joined([...evidence.slice(0, 1), action], ': '))
}

/** Returns the trouble of a tracker on a port of another protocol. */
function senderTrouble({ sender }: ExplainedDevice): Text | undefined {
  return sender && joined([senderText(sender), portAdvice(sender)], ': ')
}

/** Returns why the last message was refused; undefined if it was not. */
function refusedTrouble(
  device: Pick<DeviceDetail, 'events' | 'last_fix' | 'last_heard'>,
  clock: ShowInstant,
): Text | undefined {
  const latest = latestOf(device)
  if (latest?.event !== 'refused') return undefined
  const why = REFUSED.get(latest.reason ?? '')
  return joined([say('refused since {}', clock(latest.at)), why ? say(why) : (latest.reason ?? '')], ': ')
}

/**
 * Returns what happened to its last message; undefined if a fix is stored since, as not each change is noted, or it has
 * proved since to be the device.
 */
export function latestOf({ events, last_fix, last_heard }: Pick<DeviceDetail, 'events' | 'last_fix' | 'last_heard'>) {
  const latest = treatmentsIn(events)[0]
  const since = UNPROVED.has(latest?.reason ?? '') ? (last_heard?.at ?? last_fix?.received_at) : last_fix?.received_at
  const isOld = latest && since !== undefined && Date.parse(latest.at) < Date.parse(since)
  return isOld ? undefined : latest
}

/** Returns what happened to messages, latest first. */
export function treatmentsIn(events: DeviceDetail['events']): DeviceDetail['events'] {
  return events.filter(({ event }) => event !== 'connected' && event !== 'disconnected')
}

/**
 * Returns whether the service refuses positions of the device's lane at present. Earlier refusals, and those of other routes
 * of its courier, stay parked and do not count.
 */
export function isRefusedNow({ device, parked, now }: Pick<ExplainedDevice, 'device' | 'parked' | 'now'>): boolean {
  const last = device.lane?.last_push?.status
  return ownParked({ device, parked }).some(
    (each) =>
      each.parked !== undefined ||
      each.refused.some(({ at, status }) => status === last || now - Date.parse(at ?? '') < REFUSED_MS),
  )
}

/** Returns the parked positions of the device's lane; for a device without one, of all lanes of its courier. */
export function ownParked({ device: { lane }, parked }: Pick<ExplainedDevice, 'device' | 'parked'>): ParkedDetail[] {
  return parked.filter((each) => !lane || isLane(each, lane))
}

interface LaneIds {
  readonly courier_id: string
  readonly route_id: string
}

function isLane(one: LaneIds, other: LaneIds | undefined): boolean {
  return one.courier_id === other?.courier_id && one.route_id === other.route_id
}

function heldTrouble({ device, leftOut, meant, waitsFor }: ExplainedDevice, clock: ShowInstant): Text | undefined {
  // What came without proof may be somebody else's.
  const held = device.held.find(({ reason }) => reason !== 'unknown') ?? device.held[0]
  if (!held) return undefined
  const { fixes, oldest_at, offset = NO_OFFSET } = held
  const what = say('{} held since {}', counted(fixes, '{} fix', '{} fixes'), clock(oldest_at))
  if (held.reason === 'unknown') return meant ? joined([what, meantAdvice(meant)], ': ') : unknownFixes(what, device)
  if (held.reason === 'suspicious')
    return say(
      '{}, off the track of the device: compare the findings of `status`; `waybridge release` delivers them',
      what,
    )
  if (held.reason === 'no_route')
    return say(
      fixes === 1 ? '{}, no route at its time: {}' : '{}, no route at their time: {}',
      what,
      routeAdvice(held, leftOut),
    )
  if (waitsFor === 'own_clock') return what
  if (offset === NO_OFFSET) return say('{}, ahead of the clock, by no time zone: correct the clock of the device', what)
  const entry = device.source?.startsWith('admin ') ? say('its entry') : (device.source ?? 'devices.yaml')
  return say('{}, ahead of the clock: set time_zone: "{}" in {}', what, offset, entry)
}

/** Returns the text about held fixes from before a device was configured: `what`, and why they are still held or the action. */
function unknownFixes(what: Text, { source, file_entry, ...entry }: DeviceDetail): Text {
  if (source === undefined) return joined([what, entryAdvice(file_entry)], ': ')
  const { secret, protocol, transports, networks, client_certificate } = entry
  const isReleased = !secret && !(protocol ?? transports ?? networks ?? client_certificate)
  const why = isReleased
    ? say('being released now')
    : say('without what its entry asks for (secret, protocol, transports, networks or client_certificate)')
  return joined([what, why], ', ')
}

/** An edited line of a file replaces an earlier put. */
function routeAdvice({ replaced_line: line }: Pick<DeviceDetail, 'replaced_line'>, leftOut?: Text): Text {
  if (leftOut !== undefined) return say('correct its line, which is left out: {}', leftOut)
  if (!line) return say('add a line to routes.csv')
  return say('a put replaced {}: put a line, or edit that one', line.source)
}

/**
 * Returns the trouble of a filtered fix that is newer than the last good one. A held fix does not count: it may have been
 * released.
 */
function filteredTrouble({ last_filtered, last_fix }: DeviceDetail, clock: ShowInstant): Text | undefined {
  if (!last_filtered || last_filtered.held) return undefined
  if (isOnTrial({ last_filtered, last_fix })) return say(ON_TRIAL)
  if (Date.parse(last_filtered.at) <= Date.parse(last_fix?.received_at ?? '')) return undefined
  const why = FILTERED.get(last_filtered.reason)
  const filtered = say('filtered as {} at {}', last_filtered.reason, clock(last_filtered.at))
  return why ? joined([filtered, say(why)], ': ') : filtered
}

/** Returns whether the last fix came through a trial that pushes nothing. */
export function isOnTrial({ last_filtered, last_fix }: Pick<DeviceDetail, 'last_filtered' | 'last_fix'>): boolean {
  if (last_filtered?.reason !== 'trial') return false
  return Date.parse(last_filtered.at) >= Date.parse(last_fix?.received_at ?? last_filtered.at)
}

/** Returns the trouble of the parked positions: those of the present lane; if there is none, of the lane with the most. */
function parkedTrouble({ device, parked }: ExplainedDevice): Text | undefined {
  const { lane } = device
  const isPresent = (each: ParkedDetail) => isLane(each, lane)
  const first = parked.toSorted((a, b) => Number(isPresent(b)) - Number(isPresent(a)) || b.fixes - a.fixes)[0]
  // The answer that parked the lane whole, else the most frequent one.
  const refusal = first?.parked ?? first?.refused.toSorted((a, b) => b.count - a.count)[0]
  if (!refusal) return undefined
  const others = parked.reduce((sum, { fixes }) => sum + fixes, -first.fixes)
  const parkedThere = say('{} parked', first.fixes)
  const there = isPresent(first) ? parkedThere : say('{} on route {}', parkedThere, first.route_id)
  const everywhere = others > 0 ? say('{} and {} on other routes', there, others) : there
  const message = quoted(refusal.message)
  const refused = say('refused {} by the service', refusal.status)
  const answer = message === '' ? refused : say('{} ({})', refused, message)
  const advice = refusalAdvice(refusal.status, device, isPresent(first))
  return joined([joined([answer, everywhere], ', '), advice], ': ')
}

function refusalAdvice(status: number, { company_id, lane }: DeviceDetail, isPresent: boolean): Text {
  if (status === 404) return say(isPresent && lane?.from_at === undefined ? 'correct the entry' : 'correct the line')
  if (status === 401 || status === 403)
    return say('check the apikey of company {}, and that the courier belongs to it', company_id ?? '')
  return say('correct the cause and retry them, or delete them')
}

function waitingText(
  { device: { lane }, upstream, waitsFor, now }: ExplainedDevice,
  clock: ShowInstant,
): Text | undefined {
  if (!lane || lane.waiting === 0) return undefined
  const { waiting, oldest_at, last_push } = lane
  const what = waitingSince(waiting, oldest_at && clock(oldest_at))
  if (waitsFor !== undefined) return what
  const { unanswered_since_at: unansweredSince } = upstream
  if (upstream.state === 'up' && unansweredSince !== undefined)
    return say('{}: the service does not answer its lane since {}', what, clock(unansweredSince))
  if (upstream.state === 'down') return say('{}: the service is down since {}', what, clock(upstream.since_at))
  if (upstream.state === 'limited')
    return say('{}: the service accepts fewer requests since {}', what, clock(upstream.since_at))
  if (last_push && !isTaken(last_push))
    return say(
      '{}: the push of {} failed: {}, it is being retried',
      what,
      clock(last_push.at),
      failureText(last_push.status),
    )
  const isBehind = oldest_at !== undefined && now - Date.parse(oldest_at) > BEHIND_MS
  return say(isBehind ? '{}: behind, the newest position is sent first' : '{}, will be pushed next', what)
}

/** Whether the API took the last push. */
export function isTaken({ status }: { readonly status: number | string }): boolean {
  return String(status).startsWith('2')
}

/** `3 waiting since 08:14:02` */
export function waitingSince(waiting: number, since: string | undefined): Text {
  return since === undefined ? say('{} waiting', waiting) : say('{} waiting since {}', waiting, since)
}

function noTrouble({ before, companySince, device, similar, leftOut }: ExplainedDevice, clock: ShowInstant): Text {
  const { source, state, lane, last_fix } = device
  const pushed = lane?.last_push ? [say('last push {}', clock(lane.last_push.at))] : []
  if (state === 'never' && similar !== undefined)
    return say(
      'nothing has come from it, but {} sends, and nobody has configured that: is it the same tracker? If so, correct the id in {}',
      similar,
      source ?? '',
    )
  if (state === 'never' && companySince !== undefined) return pushed[0] ?? say('nothing to deliver')
  if (state === 'never') return joined([...pushed, say(NEVER_HEARD)], ': ')
  if (!lane) return routeAdvice(device, leftOut)
  const rest = before && say('earlier ones wait on route {} since {}', before.route_id, clock(before.oldest_at))
  const done = [rest ?? (last_fix ? say('all delivered') : []), pushed].flat()
  const well = done.length > 0 ? joined(done, ', ') : say('nothing to deliver')
  return device.condition === 'silent' ? say('{}: check its power and its SIM card', well) : well
}

function quoted(message: string): string {
  const text = message.replace(/\s+/g, ' ').trim()
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1)}…` : text
}

/** `the service answered 500`, `there was no answer in time` */
export function failureText(status: number | string): Text {
  if (typeof status === 'number') return say('the service answered {}', status)
  const text = FAILURES.get(status)
  return text ? say(text) : say('the connection failed ({})', status)
}

export const ON_TRIAL: Template = 'on trial: the old server answers it, and its positions are not pushed from here'
const FILTERED = new Map<string, Template>([
  ['invalid', 'the device has no satellite fix, check its antenna and where it is'],
  ['zero', 'the device sent 0/0, it has no satellite fix'],
  ['out_of_range', 'its latitude or longitude does not exist'],
  ['past', 'the fix is older than filter.max_age'],
  ['clock', 'the fix is ahead of the clock by more than filter.max_future'],
  ['no_route', 'it had no route then, and hold.no_route is false'],
])
/** Reasons for which no message is taken until one proves to be of the device. */
const UNPROVED = new Set(['wrong_secret', 'not_permitted'])
const REFUSED = new Map<string, Template>([
  ['wrong_secret', 'it presents a wrong secret, or none: set the same secret in the device and in its entry'],
  [
    'not_permitted',
    'it came in a way that its entry does not allow: correct protocol, transports, networks or client_certificate',
  ],
  [
    'unknown_topic',
    'it publishes to a topic that nobody knows: set devices/<id>/fix, or another one of protocols/README.md',
  ],
  ['other_device', 'it uses the id of another device: correct its id, or its certificate'],
  ['unknown_device', 'it was refused as a device that is not configured: it is taken with its next message'],
])
const FAILURES = new Map<string, Template>([
  ['refused', 'the connection was refused'],
  ['reset', 'the connection was cut'],
  ['timeout', 'there was no answer in time'],
  ['dns', 'the host name of the service was not found'],
  ['unreachable', 'the service could not be reached'],
  ['not_the_api', 'something else answered in its place'],
])
/** Clocks that differ by less than a time zone. */
const NO_OFFSET = '+00:00'
const MAX_MESSAGE = 120
/** An answer that is so new is the present one. */
const REFUSED_MS = 60_000
/** A lane whose oldest fix has waited longer is behind. */
const BEHIND_MS = 60_000
export const SAID_BY_FINDING = new Set<FindingCode>(['gps_old', 'clock_behind', 'checksum_errors', ...ALARM_FINDINGS])
const NEVER_HEARD: Template =
  'nothing has come from it yet: point it to this server (waybridge setup), and look for its id among the arrivals'

/** Returns the action for an unconfigured device. @param fileEntry the place of its entry in a file, although it was deleted */
export function entryAdvice(fileEntry: string | undefined): Text {
  if (fileEntry === undefined) return say('add it to devices.yaml')
  return say('it was deleted through the admin port: put it there again, or edit its entry, {}', fileEntry)
}
