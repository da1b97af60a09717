import { type Interval, localFromUtc } from '../../domain/times.ts'
import { topmost } from '../../roster/assignment.ts'
import type { DeviceEntry, Stay } from '../../roster/device-entry.ts'
import type { LineChange, Roster } from '../../roster/roster.ts'
import { distinct, joined, say, type Text } from '../../texts/text.ts'
import type { TakenRoute } from '../roster/plan.ts'

/** What an assignment writes, which routes it takes from which devices, and the facts for its sentence. */
export interface AssignmentPlan {
  readonly interval: Interval
  readonly assignments: LineChange
  readonly takes: readonly TakenRoute[]
  /** What the devices get. */
  readonly gives: readonly (Interval & { readonly courier_id: string; readonly route_id: string })[]
  /** Why its times are in doubt. */
  readonly doubts?: readonly Text[]
  /** Whether the answer offers to redeliver fixes of the past. */
  readonly isOffered?: boolean
  /** The devices whose routes are taken over. */
  readonly from?: readonly DeviceEntry[]
  /** The routes that those devices get in return, in a swap. */
  readonly returns?: AssignmentPlan['gives']
}

/** The devices concerned, the roster before, and the zone of the times in texts. */
interface AssignmentContext {
  readonly devices: readonly DeviceEntry[]
  readonly roster: Roster
  readonly zone: string
}

/**
 * Returns the lines of a device in an interval, in order; for a device without lines, its usual route, which has no end,
 * until `usualUntil`.
 */
export function routesHeld(
  { stays, usual }: Pick<DeviceEntry, 'stays' | 'usual'>,
  { from, until }: Interval,
  usualUntil: number,
) {
  const lines = stays.filter((stay) => stay.from < until && stay.until > from)
  const held = lines.length === 0 && usual ? [{ ...usual, until: usualUntil }] : lines
  return held.map(({ lane, ...stay }) => ({
    courier_id: lane.courier,
    route_id: lane.route,
    from: Math.max(stay.from, from),
    until: Math.min(stay.until, until),
  }))
}

/** Returns the routes that a device drives in an interval, in order: its lines, and its usual route between them. */
export function drivenIn({ stays, usual }: DeviceEntry, { from, until }: Interval): AssignmentPlan['gives'] {
  const spans = topmost(usual ? [usual, ...stays] : stays, (stay) => Number(stay !== usual))
  return routesHeld({ stays: spans }, { from, until }, until)
}

/** `Van 20 gets route 1002 (courier 42) from 2026-11-20 12:00 to 20:00; Van 12 loses it then (Europe/Berlin).` */
export function assignmentTexts(
  plan: AssignmentPlan,
  { devices, zone }: Pick<AssignmentContext, 'devices' | 'zone'>,
): Text {
  const { from = [], takes, returns = [] } = plan
  const own = namesOf(devices)
  const [given, back] = [plan.gives, returns].map((stays) => stays.map((stay) => stayText(stay, zone, stay.courier_id)))
  if (given.length > 0 && back.length > 0)
    return say('{} gets {}; {} gets {} ({}).', own, listed(given), namesOf(from), listed(back), zone)
  if (back.length > 0)
    return assignmentTexts({ ...plan, gives: returns, returns: [], from: devices }, { devices: from, zone })
  if (given.length > 0) {
    if (takes.length === 0) return say('{} gets {} ({}).', own, listed(given), zone)
    const they = from.length === 1 ? 'loses' : 'lose'
    const them = given.length === 1 ? 'it' : 'them'
    return say(`{} gets {}; {} ${they} ${them} then ({}).` as const, own, listed(given), namesOf(from), zone)
  }
  const lost = distinct(takes.map((stay) => stayText(stay, zone)))
  return say('{} loses {} ({}).', own, lost.length > 0 ? listed(lost) : say('what does not hold now'), zone)
}

/** Returns warnings about effects that the caller may not intend; the assignment is still carried out. */
export function assignmentWarnings(plan: AssignmentPlan, { devices, roster, zone }: AssignmentContext): Text[] {
  const { interval, gives, from = [], returns, doubts = [], isOffered = false } = plan
  const now = Date.now() / 1000
  const leaves = returns
    ? [...(covers(gives, interval) ? [] : devices), ...(covers(returns, interval) ? [] : from)]
    : gives.length === 0
      ? from.concat(devices)
      : from
  const past = interval.until <= now ? 'ends' : interval.from < now - GRACE_S ? 'begins' : undefined
  return [
    ...doubts,
    ...(past && !isOffered
      ? [say(`this ${past} in the past: positions of that time that were delivered stay where they are` as const)]
      : []),
    ...leaves.flatMap(({ id, name = id, usual }) =>
      usual
        ? [
            say(
              '{} goes on with route {} by its entry, {}: change that where it is not meant',
              name,
              usual.lane.route,
              usual.source,
            ),
          ]
        : [],
    ),
    ...(returns ? [] : ownRoutes(plan, devices)).map((stay) =>
      say('{} leaves {}', namesOf(devices), stayText({ ...stay, route_id: stay.lane.route }, zone)),
    ),
    ...sharedWarnings(plan, { devices, roster }),
    ...(returns && from.length > 0 ? sharedWarnings({ gives: returns, from: devices }, { devices: from, roster }) : []),
  ]
}

/** Whether lines without overlaps fill an interval. */
function covers(lines: readonly Interval[], { from, until }: Interval): boolean {
  return lines.reduce((sum, line) => sum + line.until - line.from, 0) === until - from
}

/** Returns the other routes that the devices have during the time of their new route. */
function ownRoutes({ gives }: AssignmentPlan, devices: readonly DeviceEntry[]): Stay[] {
  const stays = gives.flatMap(({ from, until, route_id }) =>
    devices[0].stays
      .filter((stay) => stay.lane.route !== route_id && stay.from < until && stay.until > from)
      .map((stay) => ({ ...stay, from: Math.max(stay.from, from), until: Math.min(stay.until, until) })),
  )
  return stays.slice(0, MOST_NAMED)
}

/** Returns warnings about other devices that are on a given route at the same time. */
function sharedWarnings(
  { gives, from = [] }: Pick<AssignmentPlan, 'gives' | 'from'>,
  { devices, roster }: Pick<AssignmentContext, 'devices' | 'roster'>,
): Text[] {
  const [{ company_id, id, name = id }] = devices
  const left = new Set([...devices, ...from].map((device) => device.id))
  const warnings: Text[] = []
  for (const other of roster.devices()) {
    if (other.company_id !== company_id || left.has(other.id)) continue
    const stays = other.usual ? [other.usual, ...other.stays] : other.stays
    const together = gives.find(
      (given) =>
        stays.some(({ lane }) => lane.route === given.route_id) &&
        drivenIn(other, given).some(({ route_id }) => route_id === given.route_id),
    )
    if (together)
      warnings.push(
        say('{} is on route {} too, besides {}: both are pushed', other.name ?? other.id, together.route_id, name),
      )
  }
  return distinct(warnings).slice(0, MOST_NAMED)
}

/** `route 1002 (courier 42) from 2026-11-20 12:00 to 20:00` */
function stayText({ route_id, from, until }: Interval & { route_id: string }, zone: string, courier?: string): Text {
  const route = courier === undefined ? say('route {}', route_id) : say('route {} (courier {})', route_id, courier)
  if (until === Infinity && from === -Infinity) return say('{} for all times', route)
  const [day, time] = localText(from, zone)
  if (until === Infinity) return say('{} from {} on', route, `${day} ${time}`)
  const [endDay, endTime] = localText(until, zone)
  return say('{} from {} to {}', route, `${day} ${time}`, `${endDay === day ? '' : `${endDay} `}${endTime}`)
}

function localText(seconds: number, zone: string): string[] {
  return new Date(localFromUtc(seconds * 1000, zone)).toISOString().slice(0, 16).split('T')
}

function namesOf(devices: readonly DeviceEntry[]): string {
  return [...new Set(devices.map(({ id, name = id }) => name))].join(', ')
}

function listed(texts: readonly Text[]): Text {
  const more = texts.length - MOST_NAMED
  return joined([...texts.slice(0, MOST_NAMED), ...(more > 0 ? [say('{} more', more)] : [])], ', ')
}

/** A request takes its time. */
const GRACE_S = 120
const MOST_NAMED = 10
