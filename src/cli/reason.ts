import { BEHIND_MS } from '../lanes/behind.ts'
import type { DeviceAnswer, ParkedAnswer, StatusAnswer } from './answers.ts'
import type { Clock } from './clock.ts'
import { isSilent } from './silence.ts'

/** What is known of a device. */
export interface Findings {
  readonly device: DeviceAnswer
  /** What is parked of its courier. */
  readonly parked: readonly ParkedAnswer[]
  readonly upstream: StatusAnswer['upstream']
  /** ms UTC. */
  readonly now: number
}

/**
 * Why the positions of a device are where they are, in one sentence: when it was heard, its route, and what matters most of
 * what became of its fixes, with what to do about it.
 * `last fix 08:14:02, route 1007 by routes.csv:17, refused 404 by the service (no such route), 214 parked: correct the line`
 */
export function reason(findings: Findings, clock: Clock): string {
  const { device } = findings
  if (!device.configured) return unconfigured(findings, clock)
  const lost = heldTrouble(device, clock) ?? filteredTrouble(device, clock)
  const troubles = [parkedTrouble(findings), lost].filter((trouble) => trouble !== undefined)
  const rest = troubles.join('; ') || waitingTrouble(findings, clock) || allWell(findings, clock)
  return `${heard(findings, clock)}, ${route(device, clock)}, ${rest}`
}

function unconfigured(findings: Findings, clock: Clock): string {
  const { device } = findings
  const last = device.last_heard ? `${heard(findings, clock)}, ` : ''
  return `not configured, ${last}${heldTrouble(device, clock) ?? `nothing is held: ${unknownAdvice(device, clock)}`}`
}

function heard({ device, now }: Findings, clock: Clock): string {
  const { state, lane, last_heard, last_fix } = device
  const fixAt = last_fix?.time_at ?? last_fix?.received_at
  const fix = fixAt === undefined ? 'no fix yet' : `last fix ${clock(fixAt)}`
  // What was held of it before is on the way of its lane by now.
  if (state === 'never' || !last_heard) return lane?.last_push ? 'not heard since it was configured' : 'never heard'
  if (isSilent(device, now)) return `silent since ${clock(last_heard.at)}, ${fix}`
  return fixAt === undefined ? `heard ${clock(last_heard.at)}, ${fix}` : fix
}

function route({ lane }: DeviceAnswer, clock: Clock): string {
  if (!lane) return 'no route now'
  const put = /^admin (.+)$/.exec(lane.source)?.[1]
  return `route ${lane.route_id} by ${put === undefined ? lane.source : `the admin port, put ${clock(put)}`}`
}

function unknownAdvice({ deleted_at }: DeviceAnswer, clock: Clock): string {
  if (deleted_at === undefined) return 'add it to devices.yaml'
  return `deleted through the admin port at ${clock(deleted_at)}, put it there, or change its entry`
}

function heldTrouble(device: DeviceAnswer, clock: Clock): string | undefined {
  const { held: all, source } = device
  const [held] = all
  if (!held) return undefined
  const { fixes, oldest_at, offset = NO_OFFSET } = held
  const what = `${counted(fixes)} held since ${clock(oldest_at)}`
  if (held.reason === 'unknown') return `${what}${source ? ', on their way' : `: ${unknownAdvice(device, clock)}`}`
  if (held.reason === 'no_route')
    return `${what} for want of a route at ${fixes === 1 ? 'its' : 'their'} time: ${routeAdvice(held, clock)}`
  if (offset === NO_OFFSET) return `${what}, ahead of the clock by no time zone: set the clock of the device`
  const entry = source?.startsWith('admin ') ? 'its entry' : (source ?? 'devices.yaml')
  return `${what}, ahead of the clock: set time_zone: "${offset}" in ${entry}`
}

/** An edited line of a file wins over what was put before. */
function routeAdvice({ replaced_line: line }: Pick<DeviceAnswer, 'replaced_line'>, clock: Clock): string {
  if (!line) return 'add a line to routes.csv'
  return `${line.source} was replaced by the put of ${clock(line.put_at)}: put a line, or change that one`
}

/** Only what came after the last fix that was right, and was not held: that may have ended since. */
function filteredTrouble({ last_filtered, last_fix }: DeviceAnswer, clock: Clock): string | undefined {
  if (!last_filtered || last_filtered.held) return undefined
  if (Date.parse(last_filtered.at) <= Date.parse(last_fix?.received_at ?? '')) return undefined
  const why = FILTERED.get(last_filtered.reason) ?? ''
  return `not pushed at ${clock(last_filtered.at)} as ${last_filtered.reason}${why}`
}

/** Of the present lane, else of that where most is parked. */
function parkedTrouble({ device, parked }: Findings): string | undefined {
  const { lane } = device
  const isHere = (each: ParkedAnswer) => each.courier_id === lane?.courier_id && each.route_id === lane.route_id
  const most = parked.toSorted((a, b) => Number(isHere(b)) - Number(isHere(a)) || b.fixes - a.fixes)[0]
  const refusal = most && refusalOf(most)
  if (!refusal) return undefined
  const here = isHere(most)
  const others = parked.reduce((sum, { fixes }) => sum + fixes, -most.fixes)
  const where = here ? '' : ` on route ${most.route_id}`
  const elsewhere = others > 0 ? ` and ${others} on other routes` : ''
  const advice = adviceOn(refusal.status, device, here)
  return `refused ${refusal.status} by the service${quoted(refusal.message)}, ${most.fixes} parked${where}${elsewhere}: ${advice}`
}

/** Why the lane is parked whole, else the answer that most of its positions had. */
function refusalOf({ parked, refused }: ParkedAnswer): NonNullable<ParkedAnswer['parked']> | undefined {
  return parked ?? refused.toSorted((a, b) => b.count - a.count)[0]
}

function adviceOn(status: number, { company_id, lane }: DeviceAnswer, here: boolean): string {
  if (status === 404) return here && lane?.from_at === undefined ? 'correct the entry' : 'correct the line'
  if (status === 401 || status === 403) return `check the apikey of company ${company_id}, and whose courier it is`
  return 'have them tried again once that is put right, or delete them'
}

function waitingTrouble({ device: { lane }, upstream, now }: Findings, clock: Clock): string | undefined {
  if (!lane || lane.waiting === 0) return undefined
  const { waiting, oldest_at, last_push } = lane
  const what = `${waiting} waiting${oldest_at === undefined ? '' : ` since ${clock(oldest_at)}`}`
  if (upstream.state === 'down') return `${what}: the service is down since ${clock(upstream.since_at)}`
  if (upstream.state === 'limited') return `${what}: the service takes fewer requests since ${clock(upstream.since_at)}`
  if (last_push && !isWell(last_push.status))
    return `${what}: at the push of ${clock(last_push.at)} ${failure(last_push.status)}, ${waiting === 1 ? 'it is' : 'they are'} tried again`
  const behind = oldest_at !== undefined && now - Date.parse(oldest_at) > BEHIND_MS
  return behind ? `${what}: behind, the newest goes first and the rest follows` : `${what}, on their way`
}

function allWell({ device, now }: Findings, clock: Clock): string {
  const { state, lane, last_fix } = device
  const pushed = lane?.last_push && `last push ${clock(lane.last_push.at)}`
  if (state === 'never')
    return `${pushed ? `${pushed}: ` : ''}look at its power, its SIM and the server that is set in it`
  if (!lane) return routeAdvice(device, clock)
  const well = [last_fix && 'all delivered', pushed].filter(Boolean).join(', ') || 'nothing to deliver'
  return isSilent(device, now) ? `${well}: look at its power and its SIM` : well
}

function counted(fixes: number): string {
  return fixes === 1 ? '1 fix' : `${fixes} fixes`
}

function quoted(message: string): string {
  const text = message.replace(/\s+/g, ' ').trim()
  return text === '' ? '' : ` (${text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1)}…` : text})`
}

function isWell(status: number | string): boolean {
  return typeof status === 'number' && status >= 200 && status < 300
}

/** What a push came to; it may be otherwise by now. */
function failure(status: number | string): string {
  if (typeof status === 'number') return `the service answered ${status}`
  return FAILURES.get(status) ?? `the connection failed (${status})`
}

const FILTERED = new Map([
  ['invalid', ': it has no satellite fix, look at its antenna and where it is'],
  ['zero', ': it says 0/0, it has no satellite fix'],
  ['out_of_range', ': its latitude or longitude is none'],
  ['past', ': the fix is older than filter.max_age'],
  ['clock', ': the fix is ahead of the clock by more than filter.max_future'],
])
const FAILURES = new Map([
  ['refused', 'the connection was refused'],
  ['reset', 'the connection was cut'],
  ['timeout', 'there was no answer in time'],
  ['dns', 'the name of the service was not found'],
  ['unreachable', 'the service could not be reached'],
])
/** No time zone is ahead by so little. */
const NO_OFFSET = '+00:00'
const MAX_MESSAGE = 120
