import { yieldToEventLoop } from '../../async.ts'
import type { Device } from '../../config/devices.ts'
import { keyedText } from '../../config/problem.ts'
import type { RouteRow } from '../../config/routes.ts'
import { localDay } from '../../domain/times.ts'
import { endedLines, overlaps, sharedRoutes } from '../../roster/advice.ts'
import type { Assignment } from '../../roster/assignment.ts'
import type { DeviceEntry } from '../../roster/device-entry.ts'
import type { RosterRemark, RosterResult } from '../../roster/puts.ts'
import type { Roster } from '../../roster/roster.ts'
import type { WithTexts } from '../../texts/language.ts'
import { say } from '../../texts/text.ts'
import { placeOfDevice } from '../device/device-index.ts'
import { instant } from '../json.ts'
import { compare } from '../paging.ts'
import type { DeviceChangeJson, RosterPutJson, TakenRouteJson, VanChangeJson } from '../schemas/roster.ts'
import type { RosterBody } from './body.ts'
import type { RosterPlan, TakenRoute } from './plan.ts'

/** The answer to a put; `warnings` and `takes` are present only if there are some. */
export async function putJson(
  plan: Omit<RosterPlan, 'lines'>,
  { body, roster, zone }: { readonly body: RosterBody; readonly roster: Roster; readonly zone: string },
) {
  const { added, changed, removed, rejected, withoutRoute, devices, takes } = plan
  const line = ({ at, ...mistake }: (typeof rejected)[number]) => ({
    line: body.lineAt(at),
    device: mistake.device,
    message: keyedText(mistake),
  })
  const taken = new Set(plan.rows.map(({ at }) => at))
  const warnings = [
    ...body.aside.map(line),
    ...body.file.warnings.filter(({ at }) => taken.has(at)).map(line),
    ...(await overlapsIn(plan.rows, roster)),
    ...(await sharedBy(plan)),
    ...endedIn(plan.rows, zone),
  ].toSorted((a, b) => a.line - b.line)
  return {
    added,
    changed,
    removed,
    rejected: rejected.map(line),
    ...(warnings.length > 0 && { warnings }),
    ...(takes.length > 0 && { takes: takes.map(takenJson) }),
    without_route: idsInOrder(withoutRoute),
    devices: devices.length,
  } satisfies WithTexts<RosterPutJson>
}

/** The result to store for a put with this answer; `writer`: the name of the token. */
export function putResult(
  {
    added,
    changed,
    removed,
    rejected = [],
    warnings = [],
  }: Partial<Pick<RosterResult, 'added' | 'changed' | 'removed' | 'rejected' | 'warnings'>>,
  { writer, company_id, covers, list }: Pick<RosterResult, 'writer' | 'company_id' | 'covers' | 'list'>,
): RosterResult {
  const counts = { added: added ?? 0, changed: changed ?? 0, removed: removed ?? 0 }
  return { writer, kind: 'put', company_id, covers, list, at: Date.now(), ...counts, rejected, warnings }
}

/** A route that a device loses; without bounds if it has none. */
export function takenJson({ device: { id, name }, route_id, from, until }: TakenRoute): TakenRouteJson {
  return { device: id, name, route_id, from_at: instant(from * 1000), until_at: instant(until * 1000) }
}

/** Ids of devices in the order of their names. */
export function idsInOrder(devices: readonly DeviceEntry[]): string[] {
  return devices.toSorted((a, b) => compare(placeOfDevice(a), placeOfDevice(b))).map(({ id }) => id)
}

async function overlapsIn(rows: readonly RouteRow[], roster: Roster): Promise<RosterRemark[]> {
  const lines = rows.flatMap((row) => roster.meant(row.device).map(({ id }) => ({ ...row, device: id })))
  const warnings: RosterRemark[] = []
  for (const ofDevice of Map.groupBy(lines, ({ device }) => device).values()) {
    await yieldToEventLoop()
    const found = overlaps(ofDevice, (row) => say('line {}', row.line))
    for (const { line, message } of found)
      warnings.push({ line: line.line, message: keyedText({ key: 'from', message }) })
  }
  return warnings
}

/** Returns the lines that put two devices on one route at the same time, one for each route. */
async function sharedBy({ rows, after, devices }: Omit<RosterPlan, 'lines'>): Promise<RosterRemark[]> {
  const lines = new Map<string, number>()
  for (const { device, route_id, line } of rows)
    for (const { id } of after.meant(device)) lines.set(`${id} ${route_id}`, line)
  const routes = new Set(rows.map(({ route_id }) => route_id))
  const warnings: RosterRemark[] = []
  for await (const { one, other, message } of sharedRoutes(devices, routes)) {
    const line = lines.get(`${other.id} ${other.lane.route}`) ?? lines.get(`${one.id} ${one.lane.route}`)
    if (line !== undefined) warnings.push({ line, message: keyedText({ key: 'route_id', message }) })
  }
  return warnings
}

function endedIn(rows: readonly RouteRow[], zone: string): RosterRemark[] {
  const ended = endedLines(rows, localDay(Date.now(), zone).from / 1000)
  return ended ? [{ line: ended.row.line, message: keyedText({ key: 'until', message: ended.message }) }] : []
}

interface RosterStep {
  readonly changing: Iterable<DeviceEntry>
  readonly before: Roster
  readonly after: Roster
}

/** The lines that devices lose and those that they get, of the first 1,000 devices with such lines: what a dry run shows. */
export async function changesOf({ changing, before, after }: RosterStep): Promise<VanChangeJson[]> {
  const changes: VanChangeJson[] = []
  for (const device of changing) {
    await yieldToEventLoop()
    const [old, now] = [before, after].map((roster) => linesOf(roster, device))
    const [lost, got] = [linesBeside(old, now), linesBeside(now, old)]
    if (lost.length + got.length > 0) changes.push({ device: device.id, name: device.name, before: lost, after: got })
    if (changes.length >= MOST_CHANGES) break
  }
  return changes
}

/** Returns an entry before and after a change, where the two differ; undefined: there is no entry. */
export function entryChange(
  before: Device | undefined,
  after: Device | undefined,
): Pick<DeviceChangeJson, 'device' | 'name' | 'before' | 'after'> {
  const { id: device = '', name } = after ?? before ?? {}
  return {
    device,
    name,
    ...(before && { before: cellsBeside(before, after) }),
    ...(after && { after: cellsBeside(after, before) }),
  }
}

/** Returns the fields in which an entry differs from another one. */
function cellsBeside(of: Device, other: Device | undefined) {
  return Object.fromEntries(ENTRY_KEYS.flatMap((key) => (of[key] === other?.[key] ? [] : [[key, of[key]]])))
}

const ENTRY_KEYS = ['name', 'courier_id', 'route_id', 'time_zone', 'model'] as const

/** Returns the lines of a device, by their content. */
function linesOf(roster: Roster, device: DeviceEntry): ReadonlyMap<string, Assignment> {
  const lines = roster.assignmentsOf(device)
  return new Map(lines.map((line) => [`${line.from} ${line.until} ${line.courier_id} ${line.route_id}`, line]))
}

function linesBeside(lines: ReadonlyMap<string, Assignment>, others: ReadonlyMap<string, Assignment>) {
  return Array.from(lines)
    .filter(([text]) => !others.has(text))
    .map(([, { courier_id, route_id, from, until }]) => ({
      courier_id,
      route_id,
      from_at: instant(from * 1000),
      until_at: instant(until * 1000),
    }))
    .toSorted((one, other) => (one.from_at ?? '').localeCompare(other.from_at ?? ''))
}

/** How many changes a dry run shows. */
export const MOST_CHANGES = 1000
