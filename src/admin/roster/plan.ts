import { yieldToEventLoop } from '../../async.ts'
import type { Device } from '../../config/devices.ts'
import type { Mistake } from '../../config/problem.ts'
import type { RouteFile, RouteRow } from '../../config/routes.ts'
import type { Interval } from '../../domain/times.ts'
import { unresolved } from '../../roster/advice.ts'
import { type Assignment, assignmentField, putLine } from '../../roster/assignment.ts'
import { type DeviceEntry, hasRoute } from '../../roster/device-entry.ts'
import { countLines } from '../../roster/puts.ts'
import { effectOf, type LineChange, lossOf, type Roster, type RosterChange } from '../../roster/roster.ts'
import { say } from '../../texts/text.ts'
import { momentOf } from './writes.ts'

/** Lines that replace those lines of a company that begin in [from, until), unix seconds. */
export interface RosterPut extends Interval {
  readonly company_id: string
  readonly file: RouteFile
  /** Only lines of devices that the file names are replaced. */
  readonly onlyListed?: boolean
  /** ms UTC */
  readonly now: number
}

export type RosterPlan = Awaited<ReturnType<typeof planRoster>>

/**
 * Plans a put: the lines that it would write, and what it would do to the roster in effect.
 * - `added`, `changed`, `removed`: how many lines are new, differ from the one of the same device and `from`, and go.
 * - `rows`: the lines that are taken. `rejected`: those that are left out, and why; in order.
 * - all else as in `effectOnDevices`.
 */
export async function planRoster(roster: Roster, put: RosterPut) {
  const { rows, rejected } = await takeRows(roster, put)
  const lines = await assignmentsOf(rows, roster, put)
  const effect = await effectOnDevices({ assignments: lines }, roster, put)
  const [before, after] = [roster, effect.after].map((each) => fieldsOf(each, effect.changing, put))
  return { ...effect, ...countLines(before, after), rows, rejected, lines }
}

/**
 * What a change does to the devices of a company; `put`: the interval of its lines, unix seconds, and the time of now, ms UTC.
 * - `after`: the roster as it would be. `devices`: the company's, in it. `changing`: as they are, those whose lines or entries it
 *   changes.
 * - `withoutRoute`: those without a route, now where now is in the interval, else at any time of it.
 * - `takes`: the routes that devices would lose then. `loss`: which devices, where they are more than half of those that have one.
 */
export async function effectOnDevices(
  change: RosterChange,
  roster: Roster,
  put: Interval & Pick<RosterPut, 'company_id' | 'now'>,
) {
  const interval = momentOf(put, put.now)
  const { after, concerned, losing } = await effectOf(change, roster, interval)
  const isOfCompany = ({ company_id }: DeviceEntry) => company_id === put.company_id
  const changing = concerned.filter(isOfCompany)
  const devices = Array.from(after.devices().filter(isOfCompany))
  const takes = losing.filter(isOfCompany).flatMap((device) => takenFrom(device, interval))
  return {
    after,
    devices,
    changing,
    withoutRoute: devices.filter((device) => !hasRoute(device, interval)),
    takes,
    loss: lossOf(takes.length, roster.devices().filter(isOfCompany), interval),
  }
}

async function takeRows(roster: Roster, put: RosterPut) {
  const { mistakes: unread, rows } = put.file
  const misplaced = rows
    .filter((row) => !isWithin(row, put))
    .map(({ at, device }): Mistake => ({ at, device, ...MISPLACED }))
  // The message contains nothing about devices of other companies: the answer is stored, and shown to everybody of this
  // company.
  const mistakes = await unresolved(rows, roster, ({ company_id }) => company_id === put.company_id)
  const leftOut = new Set([...misplaced, ...mistakes].map(({ at }) => at))
  const rejected = [...unread.filter(({ severity }) => severity === 'left_out'), ...mistakes, ...misplaced]
  return { rows: rows.filter(({ at }) => !leftOut.has(at)), rejected: rejected.toSorted((a, b) => a.at - b.at) }
}

const MISPLACED = { key: 'from', message: say('not within from and until of the request') }

/** Drops the company's assignments that begin in the interval, whoever wrote them, and sets the new ones. */
async function assignmentsOf(rows: readonly RouteRow[], roster: Roster, put: RosterPut): Promise<LineChange> {
  const lines = new Map<string, Assignment | undefined>()
  const listed = new Set(rows.flatMap(({ device }) => roster.meant(device).map(({ id }) => id)))
  const isReplaced = (meant: readonly Device[]) => !put.onlyListed || meant.some(({ id }) => listed.has(id))
  for (const [field, assignment] of roster.assignments()) {
    await yieldToEventLoop()
    if (!isWithin(assignment, put)) continue
    const meant = roster.meant(assignment.device)
    const company = assignment.company_id ?? meant[0]?.company_id
    if (company === put.company_id && isReplaced(meant)) lines.set(field, undefined)
  }
  for (const row of rows) lines.set(...putLine(row, { ...put, line: row.line }))
  return [...lines]
}

function isWithin({ from }: Pick<Interval, 'from'>, put: Interval): boolean {
  return from >= put.from && from < put.until
}

/** The fields of the lines of devices that begin in the interval. */
function fieldsOf(roster: Roster, devices: readonly Device[], put: RosterPut): string[] {
  const lines = devices.flatMap(({ id }) => roster.assignmentsOf(roster.find(id) as Device))
  return lines.filter((line) => isWithin(line, put)).map(assignmentField)
}

/** A route that a device has at a time, unix seconds. */
export interface TakenRoute extends Interval {
  readonly device: DeviceEntry
  readonly route_id: string
}

/** The first route that a device has in an interval, if any. */
function takenFrom(device: DeviceEntry, interval: Interval): TakenRoute[] {
  const stay = device.stays.find(({ from, until }) => from < interval.until && until > interval.from) ?? device.usual
  return stay ? [{ device, route_id: stay.lane.route, from: stay.from, until: stay.until }] : []
}
