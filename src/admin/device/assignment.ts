import { type Interval, localFromUtc } from '../../config/times.ts'
import type { DeviceEntry, Stay } from '../../roster/device-entry.ts'
import type { LineChange, Roster } from '../../roster/roster.ts'
import type { TakenRoute } from '../roster/plan.ts'

/** What an assignment would write, what it takes from whom, and what its sentence needs. */
export interface AssignmentPlan {
  readonly interval: Interval
  readonly assignments: LineChange
  readonly takes: readonly TakenRoute[]
  /** What the devices get. */
  readonly gives: readonly (Interval & { readonly courier_id: string; readonly route_id: string })[]
  /** Why its times are in doubt. */
  readonly doubts?: readonly string[]
  /** The devices whose routes they get. */
  readonly from?: readonly DeviceEntry[]
}

/** The devices concerned, the roster before, and the zone of the times in texts. */
interface AssignmentContext {
  readonly devices: readonly DeviceEntry[]
  readonly roster: Roster
  readonly zone: string
}

/** The lines of a device in an interval, in order; where it has none, its usual route, which has no end, until `usualUntil`. */
export function routesIn({ stays, usual }: DeviceEntry, { from, until }: Interval, usualUntil: number) {
  const lines = stays.filter((stay) => stay.from < until && stay.until > from)
  const held = lines.length === 0 && usual ? [{ ...usual, until: usualUntil }] : lines
  return held.map(({ lane, ...stay }) => ({
    courier_id: lane.courier,
    route_id: lane.route,
    from: Math.max(stay.from, from),
    until: Math.min(stay.until, until),
  }))
}

/** `Van 20 has route 1002 (courier 42) from 2026-11-20 12:00 to 20:00 (Europe/Berlin); Van 12 leaves it.` */
export function assignmentTexts(plan: AssignmentPlan, { devices, zone }: AssignmentContext): string {
  const { from = [], takes } = plan
  const own = namesOf(devices)
  const given = plan.gives.map(
    (stay) => `route ${stay.route_id} (courier ${stay.courier_id}) ${intervalText(stay, zone)}`,
  )
  if (given.length > 0) {
    const them = given.length === 1 ? 'it' : 'them'
    const left = takes.length > 0 ? `; ${namesOf(from)} ${from.length === 1 ? 'loses' : 'lose'} ${them} then` : ''
    return `${own} gets ${listed(given)}${left} (${zone}).`
  }
  const lost = takes.map((stay) => `route ${stay.route_id} ${intervalText(stay, zone)}`)
  return `${own} loses ${listed([...new Set(lost)]) || 'what does not hold now'} (${zone}).`
}

/** Warnings of what the user of an assignment may not have wanted; the assignment is carried out all the same. */
export function assignmentWarnings(plan: AssignmentPlan, { devices, roster, zone }: AssignmentContext): string[] {
  const { interval, gives, from = [], doubts = [] } = plan
  const now = Date.now() / 1000
  const leaves = gives.length === 0 ? from.concat(devices) : from
  const past = interval.until <= now ? 'ends' : interval.from < now - GRACE_S ? 'begins' : undefined
  return [
    ...doubts,
    ...(past ? [`this ${past} in the past: positions of that time that were delivered stay where they are`] : []),
    ...leaves.flatMap(({ id, name = id, usual }) =>
      usual
        ? [
            `${name} goes on with route ${usual.lane.route} by its entry, ${usual.source}: change that where it is not meant`,
          ]
        : [],
    ),
    ...ownRoutes(plan, devices).map(
      (stay) => `${namesOf(devices)} leaves route ${stay.lane.route} ${intervalText(stay, zone)}`,
    ),
    ...sharedWarnings(plan, { devices, roster }),
  ]
}

/** The other routes that the devices have during the time for which they get a new one. */
function ownRoutes({ gives }: AssignmentPlan, devices: readonly DeviceEntry[]): Stay[] {
  const stays = devices[0].stays.filter((stay) =>
    gives.some(({ from, until, route_id }) => stay.lane.route !== route_id && stay.from < until && stay.until > from),
  )
  return stays.slice(0, MOST_NAMED)
}

/** Warns of other devices that are on a given route at the same time. */
function sharedWarnings(
  { gives, from = [] }: AssignmentPlan,
  { devices, roster }: Pick<AssignmentContext, 'devices' | 'roster'>,
): string[] {
  const [{ company_id, id, name = id }] = devices
  const left = new Set([...devices, ...from].map((device) => device.id))
  const warnings = new Set<string>()
  for (const other of roster.devices()) {
    if (other.company_id !== company_id || left.has(other.id)) continue
    const stays = other.usual ? [other.usual, ...other.stays] : other.stays
    const together = stays.find(({ lane, ...stay }) =>
      gives.some((given) => lane.route === given.route_id && stay.from < given.until && stay.until > given.from),
    )
    if (together)
      warnings.add(`${other.name ?? other.id} is on route ${together.lane.route} too, besides ${name}: both are pushed`)
  }
  return [...warnings].slice(0, MOST_NAMED)
}

/** `from 2026-11-20 12:00 to 20:00` */
function intervalText({ from, until }: Interval, zone: string): string {
  if (until === Infinity && from === -Infinity) return 'for all times'
  const [day, time] = localText(from, zone)
  if (until === Infinity) return `from ${day} ${time} on`
  const [endDay, endTime] = localText(until, zone)
  return `from ${day} ${time} to ${endDay === day ? '' : `${endDay} `}${endTime}`
}

function localText(seconds: number, zone: string): string[] {
  return new Date(localFromUtc(seconds * 1000, zone)).toISOString().slice(0, 16).split('T')
}

function namesOf(devices: readonly DeviceEntry[]): string {
  return [...new Set(devices.map(({ id, name = id }) => name))].join(', ')
}

function listed(texts: readonly string[]): string {
  const more = texts.length - MOST_NAMED
  return [...texts.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

/** A request takes its time. */
const GRACE_S = 120
const MOST_NAMED = 10
