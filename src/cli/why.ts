import type * as z from 'zod'
import { entryAdvice } from '../admin/json.ts'
import type { FrameJson } from '../admin/misunderstood.ts'
import type { FilterReason } from '../ingest/place.ts'
import { BEHIND_MS } from '../lanes/keys.ts'
import { type AdminPort, type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { type DeviceAnswer, findDevices, isSilent, read, readStatus, type StatusAnswer } from './client.ts'
import { type Clock, clockIn, counted, printLines } from './output.ts'
import type { ParkedLane } from './parked.ts'

/** `waybridge why DEVICE`: a line for each device with that id or name. @returns the exit code @throws UserError */
export async function whyCommand(idOrName: string, options: AdminPortOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const { upstream, time_zone } = (await readStatus(admin)).status
  const devices = await findDevices(admin, idOrName)
  const now = Date.now()
  const clock = clockIn(time_zone, now)
  const lines = devices.map(async (device) => {
    const [parked, misunderstood] = await Promise.all([parkedOf(admin, device), misunderstoodOf(admin, device)])
    const line = explain({ device, parked, misunderstood, upstream, now }, clock)
    return devices.length > 1 ? `${device.id}: ${line}` : line
  })
  printLines(await Promise.all(lines))
  return 0
}

/** The parked lanes of the device's courier. */
async function parkedOf(admin: AdminPort, { lane, company_id, courier_id }: DeviceAnswer): Promise<ParkedLane[]> {
  const courier = lane?.courier_id ?? courier_id
  if (courier === undefined) return []
  const query = { courier_id: courier, max_results: '1000' }
  const page = await read<{ results: ParkedLane[] }>(admin, { path: '/admin/parked', query })
  return page.results.filter((each) => each.company_id === company_id)
}

/** Frames of the device that hold positions which are not understood, and since when; the latest 1,000 count. */
async function misunderstoodOf(admin: AdminPort, { id }: DeviceAnswer): Promise<ExplainedDevice['misunderstood']> {
  const query = { device: id, max_results: '1000' }
  const { results } = await read<{ results: ListedFrame[] }>(admin, { path: '/admin/misunderstood', query })
  const positions = results.filter(({ reason }) => reason === 'not_read' || reason === 'entries')
  const oldest = positions.at(-1)
  return oldest && { frames: positions.length, sinceAt: oldest.at, protocol: oldest.protocol }
}

type ListedFrame = z.infer<typeof FrameJson>

/** What the gateway knows of a device. */
export interface ExplainedDevice {
  readonly device: DeviceAnswer
  readonly parked: readonly ParkedLane[]
  /** Frames whose positions are not understood; undefined: there are none. */
  readonly misunderstood?: { readonly frames: number; readonly sinceAt: string; readonly protocol: string }
  readonly upstream: StatusAnswer['upstream']
  /** ms UTC. */
  readonly now: number
}

/**
 * One sentence on where the positions of a device are: when it was heard, its route, the most important trouble with its
 * fixes, and what to do about it.
 * `last fix 08:14:02, route 1007 by routes.csv:17, refused 404 by the service (no such route), 214 parked: correct the line`
 */
export function explain(facts: ExplainedDevice, clock: Clock): string {
  const { device } = facts
  if (!device.configured) return notConfigured(facts, clock)
  const lost = heldTrouble(device, clock) ?? filteredTrouble(device, clock)
  const troubles = [parkedTrouble(facts), misunderstoodTrouble(facts, clock), lost].filter(
    (trouble) => trouble !== undefined,
  )
  const rest = troubles.join('; ') || waitingText(facts, clock) || noTrouble(facts, clock)
  return `${heardText(facts, clock)}, ${routeText(device, clock)}, ${rest}`
}

function notConfigured(facts: ExplainedDevice, clock: Clock): string {
  const { device } = facts
  const last = device.last_heard ? `${heardText(facts, clock)}, ` : ''
  const held = heldTrouble(device, clock) ?? `nothing is held: ${entryAdvice(device.file_entry)}`
  const frames = misunderstoodTrouble(facts, clock)
  return `not configured, ${last}${held}${frames === undefined ? '' : `; ${frames}`}`
}

function heardText({ device, now }: ExplainedDevice, clock: Clock): string {
  const { state, lane, last_heard, last_fix } = device
  const fixAt = last_fix?.time_at ?? last_fix?.received_at
  const fix = fixAt === undefined ? 'no fix yet' : `last fix ${clock(fixAt)}`
  // A push without a contact: the fixes of the time before it was configured have been released.
  if (state === 'never' || !last_heard) return lane?.last_push ? 'not heard since it was configured' : 'never heard'
  if (isSilent(device, now)) return `silent since ${clock(last_heard.at)}, ${fix}`
  return fixAt === undefined ? `heard ${clock(last_heard.at)}, ${fix}` : fix
}

function routeText({ lane }: DeviceAnswer, clock: Clock): string {
  if (!lane) return 'no route now'
  const put = /^admin (.+)$/.exec(lane.source)?.[1]
  return `route ${lane.route_id} by ${put === undefined ? lane.source : `the admin port, put ${clock(put)}`}`
}

function misunderstoodTrouble({ misunderstood }: ExplainedDevice, clock: Clock): string | undefined {
  if (!misunderstood) return undefined
  const { frames, sinceAt, protocol } = misunderstood
  const what = `${counted(frames, `frame of ${protocol} is`, `frames of ${protocol} are`)} not understood since ${clock(sinceAt)}`
  return `${what}: kept, and decoded again after an upgrade or a change of its entry`
}

function heldTrouble(device: DeviceAnswer, clock: Clock): string | undefined {
  const [held] = device.held
  if (!held) return undefined
  const { fixes, oldest_at, offset = NO_OFFSET } = held
  const what = `${counted(fixes, 'fix', 'fixes')} held since ${clock(oldest_at)}`
  if (held.reason === 'unknown') return `${what}${unknownAdvice(device)}`
  if (held.reason === 'suspicious')
    return `${what}, off the track of the device: compare the findings of \`status\`; filter.suspicious: report releases them`
  if (held.reason === 'no_route')
    return `${what}, no route at ${fixes === 1 ? 'its' : 'their'} time: ${routeAdvice(held)}`
  if (offset === NO_OFFSET) return `${what}, ahead of the clock, by no time zone: correct the clock of the device`
  const entry = device.source?.startsWith('admin ') ? 'its entry' : (device.source ?? 'devices.yaml')
  return `${what}, ahead of the clock: set time_zone: "${offset}" in ${entry}`
}

/** Of fixes that are held as those of a device that is not configured. */
function unknownAdvice({ source, file_entry, ...entry }: DeviceAnswer): string {
  if (source === undefined) return `: ${entryAdvice(file_entry)}`
  const { secret, protocol, transports, networks, client_certificate } = entry
  if (!secret && !(protocol ?? transports ?? networks ?? client_certificate)) return ', being released now'
  return `, they came without what its entry asks for (secret, protocol, transports, networks or client_certificate)`
}

/** An edited line of a file replaces an earlier put. */
function routeAdvice({ replaced_line: line }: Pick<DeviceAnswer, 'replaced_line'>): string {
  if (!line) return 'add a line to routes.csv'
  return `a put replaced ${line.source}: put a line, or edit that one`
}

/** Only of a fix that is newer than the last good one. One that was held does not count: it may have been released. */
function filteredTrouble({ last_filtered, last_fix }: DeviceAnswer, clock: Clock): string | undefined {
  if (!last_filtered || last_filtered.held) return undefined
  if (Date.parse(last_filtered.at) <= Date.parse(last_fix?.received_at ?? '')) return undefined
  const why = FILTERED[last_filtered.reason as FilterReason] ?? ''
  return `filtered as ${last_filtered.reason} at ${clock(last_filtered.at)}${why}`
}

/** Of the present lane; else of the one with the most parked fixes. */
function parkedTrouble({ device, parked }: ExplainedDevice): string | undefined {
  const { lane } = device
  const isPresent = (each: ParkedLane) => each.courier_id === lane?.courier_id && each.route_id === lane.route_id
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

function refusalAdvice(status: number, { company_id, lane }: DeviceAnswer, isPresent: boolean): string {
  if (status === 404) return isPresent && lane?.from_at === undefined ? 'correct the entry' : 'correct the line'
  if (status === 401 || status === 403)
    return `check the apikey of company ${company_id}, and that the courier belongs to it`
  return 'correct the cause and retry them, or delete them'
}

function waitingText({ device: { lane }, upstream, now }: ExplainedDevice, clock: Clock): string | undefined {
  if (!lane || lane.waiting === 0) return undefined
  const { waiting, oldest_at, last_push } = lane
  const what = `${waiting} waiting${oldest_at === undefined ? '' : ` since ${clock(oldest_at)}`}`
  if (upstream.state === 'down') return `${what}: the service is down since ${clock(upstream.since_at)}`
  if (upstream.state === 'limited')
    return `${what}: the service accepts fewer requests since ${clock(upstream.since_at)}`
  if (last_push && !String(last_push.status).startsWith('2'))
    return `${what}: at the push of ${clock(last_push.at)} ${failureText(last_push.status)}, it is being retried`
  const isBehind = oldest_at !== undefined && now - Date.parse(oldest_at) > BEHIND_MS
  return isBehind ? `${what}: behind, the newest position is sent first` : `${what}, will be pushed next`
}

function noTrouble({ device, now }: ExplainedDevice, clock: Clock): string {
  const { state, lane, last_fix } = device
  const pushed = lane?.last_push && `last push ${clock(lane.last_push.at)}`
  if (state === 'never')
    return `${pushed ? `${pushed}: ` : ''}check its power, its SIM card and the server address in its settings`
  if (!lane) return routeAdvice(device)
  const well = [last_fix && 'all delivered', pushed].filter(Boolean).join(', ') || 'nothing to deliver'
  return isSilent(device, now) ? `${well}: check its power and its SIM card` : well
}

function quoted(message: string): string {
  const text = message.replace(/\s+/g, ' ').trim()
  return text === '' ? '' : ` (${text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE - 1)}…` : text})`
}

function failureText(status: number | string): string {
  if (typeof status === 'number') return `the service answered ${status}`
  return FAILURES.get(status) ?? `the connection failed (${status})`
}

const FILTERED: Readonly<Record<FilterReason, string>> = {
  invalid: ': the device has no satellite fix, check its antenna and where it is',
  zero: ': the device sent 0/0, it has no satellite fix',
  out_of_range: ': its latitude or longitude does not exist',
  past: ': the fix is older than filter.max_age',
  clock: ': the fix is ahead of the clock by more than filter.max_future',
  no_route: ': it had no route then, and hold.no_route is false',
}
const FAILURES = new Map([
  ['refused', 'the connection was refused'],
  ['reset', 'the connection was cut'],
  ['timeout', 'there was no answer in time'],
  ['dns', 'the host name of the service was not found'],
  ['unreachable', 'the service could not be reached'],
])
/** Clocks that differ by less than a time zone. */
const NO_OFFSET = '+00:00'
const MAX_MESSAGE = 120
