import type { Device } from '../../config/devices.ts'
import { type Interval, localDay } from '../../domain/times.ts'
import { ApiRefusal, refuseFields } from '../../http/refusal.ts'
import { missingDeviceIn } from '../../roster/advice.ts'
import { putLine } from '../../roster/assignment.ts'
import type { DeviceEntry } from '../../roster/device-entry.ts'
import { cutLines } from '../../roster/puts.ts'
import type { LineChange, Roster } from '../../roster/roster.ts'
import { say } from '../../texts/text.ts'
import type { TakenRoute } from '../roster/plan.ts'
import { instantIn, type RosterSources } from '../roster/writes.ts'
import { Scope } from '../scope.ts'
import { type AssignmentPlan, drivenIn, routesHeld } from './assignment.ts'

/** RFC 3339, local, or `now`. */
interface WishedTimes {
  readonly from_at?: string
  readonly until_at?: string
}

/** Either a route, or another vehicle. */
interface AssignmentWish extends WishedTimes {
  readonly route_id?: string
  readonly courier_id?: string
  readonly like?: string
}

interface SwapWish extends WishedTimes {
  /** An id or a name. */
  readonly with: string
}

/** A requested assignment and the present roster. `now`: unix seconds. */
export interface AssignmentRequest<Body> {
  readonly body: Body
  readonly devices: readonly DeviceEntry[]
  readonly roster: Roster
  readonly live: RosterSources['live']
  readonly now: number
}

/** Pure: devices get a route, or the routes of another vehicle. @throws ApiRefusal */
export function planAssign({ body, devices, roster, live, now }: AssignmentRequest<AssignmentWish>): AssignmentPlan {
  const { like, route_id = '', courier_id = '' } = body
  const interval = boundsOf(body, { live, now })
  const [{ company_id }] = devices
  if (like !== undefined)
    return planTakeOver(like, { devices, roster, live, interval, hasEnd: body.until_at !== undefined })
  const withoutCourier = devices.find((device) => courier_id === '' && device.courier_id === undefined)
  if (withoutCourier)
    throw refuseFields(422, [
      { path: 'courier_id', message: say('missing, and device {} has no courier_id of its own', withoutCourier.id) },
    ])
  const until = body.until_at === undefined ? endOfDay(interval.from, live) : interval.until
  const line = { ...interval, until, courier_id, route_id }
  const gives = [{ ...line, courier_id: courier_id || (devices[0].courier_id ?? '') }]
  return { interval: line, takes: [], gives, assignments: linesFor(devices, [line], company_id) }
}

/** Devices take the routes of another vehicle: those of its first tracker. */
function planTakeOver(
  like: string,
  asked: Pick<AssignmentRequest<unknown>, 'devices' | 'roster' | 'live'> & {
    readonly interval: Interval
    readonly hasEnd: boolean
  },
): AssignmentPlan {
  const { devices, roster, live, interval, hasEnd } = asked
  const [{ company_id }] = devices
  const from = devicesMeant(roster, like, { field: 'like', scope: new Scope([company_id]) })
  if (from.some((device) => devices.includes(device)))
    throw refuseFields(422, [{ path: 'like', message: say('this is the same device') }])
  // The usual route of an entry has no end, so it is taken over for the day.
  const usualUntil = hasEnd ? interval.until : endOfDay(interval.from, live)
  const gives = routesHeld(from[0], interval, usualUntil)
  if (gives.length === 0)
    throw new ApiRefusal(
      422,
      say('{} has no route from then on: there is nothing to take over', from[0].name ?? from[0].id),
    )
  const cut = cutLines(from, interval, roster)
  // It keeps the usual route of its entry.
  const lost = cut.length > 0 ? gives : []
  const takes = lost.map((stay) => ({ device: from[0], route_id: stay.route_id, from: stay.from, until: stay.until }))
  return { interval, assignments: [...cut, ...linesFor(devices, gives, company_id)], takes, gives, from }
}

/** Pure: devices and those of another vehicle exchange what their first trackers drive in an interval. @throws ApiRefusal */
export function planSwap({ body, devices, roster, live, now }: AssignmentRequest<SwapWish>): AssignmentPlan {
  const bounds = boundsOf(body, { live, now })
  const interval = body.until_at === undefined ? { ...bounds, until: endOfDay(bounds.from, live) } : bounds
  const [{ company_id }] = devices
  const others = devicesMeant(roster, body.with, { field: 'with', scope: new Scope([company_id]) })
  if (others.some((device) => devices.includes(device)))
    throw refuseFields(422, [{ path: 'with', message: say('this is the same device') }])
  const [gives, returns] = [others, devices].map(([device]) => drivenIn(device, interval))
  if (JSON.stringify(gives) === JSON.stringify(returns)) {
    const [one, other] = [devices, others].map(([{ id, name = id }]) => name)
    throw new ApiRefusal(422, say('{} and {} have the same routes then, or none: there is nothing to swap', one, other))
  }
  const written = [...linesFor(devices, gives, company_id), ...linesFor(others, returns, company_id)]
  // A line that both write and cut is written.
  const assignments = [...new Map([...cutLines([...devices, ...others], interval, roster), ...written])]
  const takes = [
    ...(gives.length === 0 ? linesIn(devices, interval) : []),
    ...(returns.length === 0 ? linesIn(others, interval) : []),
  ]
  return { interval, assignments, takes, gives, from: others, returns }
}

/** Pure: devices leave their routes. @throws ApiRefusal */
export function planUnassign({ body, devices, roster, live, now }: AssignmentRequest<WishedTimes>): AssignmentPlan {
  const interval = boundsOf(body, { live, now })
  const assignments = cutLines(devices, interval, roster)
  if (assignments.length === 0) {
    const [{ id, name = id, usual }] = devices
    const why = usual
      ? say(
          '{} has no line from then on that could end; its entry ({}) gives it route {} for all times: change that',
          name,
          usual.source,
          usual.lane.route,
        )
      : say('{} has no line from then on that could end', name)
    throw new ApiRefusal(422, why)
  }
  return { interval, assignments, takes: linesIn(devices, interval), gives: [] }
}

/** Returns the roster lines of devices in an interval. */
function linesIn(devices: readonly DeviceEntry[], interval: Interval): TakenRoute[] {
  return devices.flatMap((device) =>
    device.stays
      .filter(({ from, until }) => from < interval.until && until > interval.from)
      .map(({ lane, from, until }) => ({
        device,
        route_id: lane.route,
        from: Math.max(from, interval.from),
        until: Math.min(until, interval.until),
      })),
  )
}

/** Lines of a put for devices. */
function linesFor(devices: readonly DeviceEntry[], lines: AssignmentPlan['gives'], company_id: string): LineChange {
  return devices.flatMap(({ id }) =>
    lines.map((line, index) => putLine({ ...line, device: id }, { company_id, line: index + 1 })),
  )
}

/** Returns the bounds of an assignment: from the given time or now on, until the given end or for ever. */
function boundsOf(
  { from_at, until_at }: { readonly from_at?: string; readonly until_at?: string },
  { live, now }: Pick<AssignmentRequest<unknown>, 'live' | 'now'>,
): Interval {
  const from = from_at === undefined || from_at === 'now' ? now : Math.floor(instantIn(live, 'from_at', from_at))
  const until = until_at === undefined ? Infinity : Math.floor(instantIn(live, 'until_at', until_at))
  if (until <= from) throw refuseFields(422, [{ path: 'until_at', message: say('not after from_at') }])
  return { from, until }
}

function endOfDay(from: number, { config }: RosterSources['live']): number {
  return localDay(from * 1000, config.time_zone).until / 1000
}

/** The devices of the scope that a text means. @throws ApiRefusal 404 for the path, 422 for a field */
export function devicesMeant(
  roster: Roster,
  text: string,
  { field, scope }: { readonly field: 'id' | 'like' | 'with'; readonly scope: Scope },
): DeviceEntry[] {
  const isSeen = ({ company_id }: Device) => scope.sees(company_id)
  const meant = roster.meant(text).filter(isSeen)
  const known = meant.filter((device) => device.company_id === meant[0].company_id)
  if (known.length > 0) return known
  const message = missingDeviceIn(roster.devices().filter(isSeen))(text)
  throw field === 'id' ? new ApiRefusal(404, message) : refuseFields(422, [{ path: field, message }])
}
