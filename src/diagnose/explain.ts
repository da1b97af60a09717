import { type FindingCode, SENT_IN_VAIN } from './codes.ts'
import type { DeviceDetail, ExplainedDevice, ParkedDetail } from './detail.ts'
import { counted, meantAdvice, portAdvice, senderText } from './devices.ts'

/** Shows an instant, RFC 3339. */
export type ShowInstant = (instant: string) => string

/**
 * One sentence on where the positions of a device are: when it was heard, its route, the most important trouble with its
 * fixes, and what to do about it.
 * `last fix 08:14:02, route 1007 by routes.csv:17, refused 404 by the service (no such route), 214 parked: correct the line`
 */
export function explain(facts: ExplainedDevice, clock: ShowInstant): string {
  const { device } = facts
  if (!device.configured) return notConfigured(facts, clock)
  const lost = heldTrouble(facts, clock) ?? filteredTrouble(device, clock)
  const troubles = [senderTrouble(facts), refusedTrouble(device, clock), misunderstoodTrouble(facts, clock), lost]
    .concat(foundTroubles(facts))
    .concat(isRefusedNow(facts) ? parkedTrouble(facts) : [])
    .filter((trouble) => trouble !== undefined)
  const rest = troubles.join('; ') || waitingText(facts, clock) || noTrouble(facts, clock)
  const earlier = isRefusedNow(facts) ? undefined : parkedTrouble(facts)
  const parked = earlier === undefined ? '' : `; earlier ones were ${earlier}`
  return `${heardText(facts, clock)}, ${routeText(device, clock)}, ${rest}${parked}`
}

function notConfigured(facts: ExplainedDevice, clock: ShowInstant): string {
  const { device } = facts
  const last = device.last_heard ? `${heardText(facts, clock)}, ` : ''
  const held = heldTrouble(facts, clock) ?? `nothing is held: ${entryAdvice(device.file_entry)}`
  const frames = misunderstoodTrouble(facts, clock)
  return `not configured, ${last}${held}${frames === undefined ? '' : `; ${frames}`}`
}

function heardText({ device, findings = [] }: ExplainedDevice, clock: ShowInstant): string {
  const { state, lane, last_heard, last_fix } = device
  const fixAt = last_fix?.time_at ?? last_fix?.received_at
  const fix = fixAt === undefined ? 'no fix yet' : `last fix ${clock(fixAt)}`
  // Pushed but not heard: these fixes were held while the device was not configured, and released since.
  if (state === 'never' || !last_heard) return lane?.last_push ? 'not heard since it was configured' : 'never heard'
  const isSilent = device.condition === 'silent' && !findings.some(({ code }) => SENT_IN_VAIN.has(code))
  if (isSilent) return `silent since ${clock(last_heard.at)}, ${fix}`
  return fixAt === undefined ? `heard ${clock(last_heard.at)}, ${fix}` : fix
}

function routeText({ lane }: DeviceDetail, clock: ShowInstant): string {
  if (!lane) return 'no route now'
  const put = /^admin (.+)$/.exec(lane.source)?.[1]
  return `route ${lane.route_id} by ${put === undefined ? lane.source : `the admin port, put ${clock(put)}`}`
}

function misunderstoodTrouble({ misunderstood }: ExplainedDevice, clock: ShowInstant): string | undefined {
  if (!misunderstood) return undefined
  return `${framesText(misunderstood, clock)}: kept, and decoded again after an upgrade or a change of its entry`
}

/** `1 frame of gt06 is not understood since 08:14:02Z` */
export function framesText(
  { frames, sinceAt, protocol }: NonNullable<ExplainedDevice['misunderstood']>,
  clock: ShowInstant,
): string {
  if (frames === 1) return `1 frame of ${protocol} is not understood since ${clock(sinceAt)}`
  return `${frames} frames of ${protocol} are not understood since ${clock(sinceAt)}`
}

/** What nothing else says. */
function foundTroubles({ findings = [] }: ExplainedDevice): string[] {
  const some = findings.filter(({ code }) => SAID_BY_FINDING.has(code))
  return some.map(({ evidence, action }) => `${evidence[0]}: ${action}`)
}

/** A tracker that speaks to a port which does not understand it. */
function senderTrouble({ sender }: ExplainedDevice): string | undefined {
  return sender && `${senderText(sender)}: ${portAdvice(sender)}`
}

/** Only where that became of its last message. */
function refusedTrouble({ events }: Pick<DeviceDetail, 'events'>, clock: ShowInstant): string | undefined {
  const latest = events.find(({ event }) => !CONNECTION_EVENTS.has(event))
  if (latest?.event !== 'refused') return undefined
  return `refused since ${clock(latest.at)}: ${REFUSED.get(latest.reason ?? '') ?? latest.reason}`
}

/** Whether the service refuses positions of the device at present: what it refused earlier stays parked, and is another matter. */
export function isRefusedNow({ device: { lane }, parked, now }: ExplainedDevice): boolean {
  const isTaken = String(lane?.last_push?.status ?? '').startsWith('2')
  return parked.some(
    (each) =>
      each.parked !== undefined || each.refused.some(({ at }) => !isTaken || now - Date.parse(at ?? '') < REFUSED_MS),
  )
}

function heldTrouble({ device, leftOut, meant }: ExplainedDevice, clock: ShowInstant): string | undefined {
  const [held] = device.held
  if (!held) return undefined
  const { fixes, oldest_at, offset = NO_OFFSET } = held
  const what = `${counted(fixes, 'fix', 'fixes')} held since ${clock(oldest_at)}`
  if (held.reason === 'unknown') return `${what}${meant ? `: ${meantAdvice(meant)}` : unknownAdvice(device)}`
  if (held.reason === 'suspicious')
    return `${what}, off the track of the device: compare the findings of \`status\`; \`waybridge release\` delivers them`
  if (held.reason === 'no_route')
    return `${what}, no route at ${fixes === 1 ? 'its' : 'their'} time: ${routeAdvice(held, leftOut)}`
  if (offset === NO_OFFSET) return `${what}, ahead of the clock, by no time zone: correct the clock of the device`
  const entry = device.source?.startsWith('admin ') ? 'its entry' : (device.source ?? 'devices.yaml')
  return `${what}, ahead of the clock: set time_zone: "${offset}" in ${entry}`
}

/** What to do about fixes that are held as those of a device that is not configured. */
function unknownAdvice({ source, file_entry, ...entry }: DeviceDetail): string {
  if (source === undefined) return `: ${entryAdvice(file_entry)}`
  const { secret, protocol, transports, networks, client_certificate } = entry
  if (!secret && !(protocol ?? transports ?? networks ?? client_certificate)) return ', being released now'
  return `, they came without what its entry asks for (secret, protocol, transports, networks or client_certificate)`
}

/** An edited line of a file replaces an earlier put. */
function routeAdvice({ replaced_line: line }: Pick<DeviceDetail, 'replaced_line'>, leftOut?: string): string {
  if (leftOut !== undefined) return `correct its line, which is left out: ${leftOut}`
  if (!line) return 'add a line to routes.csv'
  return `a put replaced ${line.source}: put a line, or edit that one`
}

/** Only of a fix that is newer than the last good one. One that was held does not count: it may have been released. */
function filteredTrouble({ last_filtered, last_fix }: DeviceDetail, clock: ShowInstant): string | undefined {
  if (!last_filtered || last_filtered.held) return undefined
  if (Date.parse(last_filtered.at) <= Date.parse(last_fix?.received_at ?? '')) return undefined
  const why = FILTERED.get(last_filtered.reason) ?? ''
  return `filtered as ${last_filtered.reason} at ${clock(last_filtered.at)}${why}`
}

/** The trouble of the parked positions: those of the present lane; if it has none, of the lane with the most. */
function parkedTrouble({ device, parked }: ExplainedDevice): string | undefined {
  const { lane } = device
  const isPresent = (each: ParkedDetail) => each.courier_id === lane?.courier_id && each.route_id === lane.route_id
  const first = parked.toSorted((a, b) => Number(isPresent(b)) - Number(isPresent(a)) || b.fixes - a.fixes)[0]
  // The answer that parked the lane whole, else the most frequent one.
  const refusal = first?.parked ?? first?.refused.toSorted((a, b) => b.count - a.count)[0]
  if (!refusal) return undefined
  const others = parked.reduce((sum, { fixes }) => sum + fixes, -first.fixes)
  const where = isPresent(first) ? '' : ` on route ${first.route_id}`
  const elsewhere = others > 0 ? ` and ${others} on other routes` : ''
  const advice = refusalAdvice(refusal.status, device, isPresent(first))
  return `refused ${refusal.status} by the service${quoted(refusal.message)}, ${first.fixes} parked${where}${elsewhere}: ${advice}`
}

function refusalAdvice(status: number, { company_id, lane }: DeviceDetail, isPresent: boolean): string {
  if (status === 404) return isPresent && lane?.from_at === undefined ? 'correct the entry' : 'correct the line'
  if (status === 401 || status === 403)
    return `check the apikey of company ${company_id}, and that the courier belongs to it`
  return 'correct the cause and retry them, or delete them'
}

function waitingText(
  { device: { lane }, upstream, waitsFor, now }: ExplainedDevice,
  clock: ShowInstant,
): string | undefined {
  if (!lane || lane.waiting === 0) return undefined
  const { waiting, oldest_at, last_push } = lane
  const what = `${waiting} waiting${oldest_at === undefined ? '' : ` since ${clock(oldest_at)}`}`
  if (waitsFor !== undefined) return what
  if (upstream.state === 'down') return `${what}: the service is down since ${clock(upstream.since_at)}`
  if (upstream.state === 'limited')
    return `${what}: the service accepts fewer requests since ${clock(upstream.since_at)}`
  if (last_push && !String(last_push.status).startsWith('2'))
    return `${what}: the push of ${clock(last_push.at)} failed: ${failureText(last_push.status)}, it is being retried`
  const isBehind = oldest_at !== undefined && now - Date.parse(oldest_at) > BEHIND_MS
  return isBehind ? `${what}: behind, the newest position is sent first` : `${what}, will be pushed next`
}

function noTrouble({ device, similar, leftOut }: ExplainedDevice, clock: ShowInstant): string {
  const { source, state, lane, last_fix } = device
  const pushed = lane?.last_push && `last push ${clock(lane.last_push.at)}`
  if (state === 'never' && similar !== undefined)
    return `nothing has come from it, but ${similar} sends, and nobody has configured that: if it is the same tracker, correct the id in ${source}`
  if (state === 'never') return `${pushed ? `${pushed}: ` : ''}${NEVER_HEARD}`
  if (!lane) return routeAdvice(device, leftOut)
  const well = [last_fix && 'all delivered', pushed].filter(Boolean).join(', ') || 'nothing to deliver'
  return device.condition === 'silent' ? `${well}: check its power and its SIM card` : well
}

function quoted(message: string): string {
  const text = message.replace(/\s+/g, ' ').trim()
  return text === '' ? '' : ` (${text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1)}…` : text})`
}

/** `the service answered 500`, `there was no answer in time` */
export function failureText(status: number | string): string {
  if (typeof status === 'number') return `the service answered ${status}`
  return FAILURES.get(status) ?? `the connection failed (${status})`
}

const FILTERED = new Map([
  ['invalid', ': the device has no satellite fix, check its antenna and where it is'],
  ['zero', ': the device sent 0/0, it has no satellite fix'],
  ['out_of_range', ': its latitude or longitude does not exist'],
  ['past', ': the fix is older than filter.max_age'],
  ['clock', ': the fix is ahead of the clock by more than filter.max_future'],
  ['no_route', ': it had no route then, and hold.no_route is false'],
])
const REFUSED = new Map([
  ['wrong_secret', 'it presents a wrong secret, or none: set the same secret in the device and in its entry'],
  [
    'not_permitted',
    'it came in a way that its entry does not allow: correct protocol, transports, networks or client_certificate',
  ],
  ['other_device', 'it uses the id of another device: correct its id, or its certificate'],
  ['unknown_device', 'it was refused as a device that is not configured: it is taken with its next message'],
])
const FAILURES = new Map([
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
/** A lane whose oldest fix has waited for longer is behind. */
const BEHIND_MS = 60_000
const SAID_BY_FINDING = new Set<FindingCode>(['gps_old', 'clock_behind', 'checksum_errors'])
const CONNECTION_EVENTS = new Set(['connected', 'disconnected'])
const NEVER_HEARD =
  'nothing has come from it yet: point it to this server (waybridge setup), and look for its id among the arrivals'

/** What to do for a device that is not configured. @param fileEntry where a file has its entry, though it was deleted */
export function entryAdvice(fileEntry: string | undefined): string {
  if (fileEntry === undefined) return 'add it to devices.yaml'
  return `it was deleted through the admin port: put it there again, or edit its entry, ${fileEntry}`
}
