import { yieldToEventLoop } from '../async.ts'
import type { Files } from '../config/files.ts'
import { fleetMistakes } from '../config/fleet.ts'
import { type Mistake, type Problem, placesIn, problemsIn } from '../config/problem.ts'
import type { RouteRow } from '../config/routes.ts'
import { localDay } from '../config/times.ts'
import type { Assignment, DeviceEntry, Lane, Stay } from './directory.ts'
import { isRouted } from './loss.ts'
import { lanesOf, type Roster } from './roster.ts'
import { bySource } from './spans.ts'

/** When it is, ms UTC, and in which zone a day begins. */
export interface Today {
  readonly now: number
  readonly zone: string
}

/**
 * Lines of files that are left out as no device is meant, and warnings of what takes effect and may not be meant: overlapping
 * lines, shared routes, devices without a route today, and devices of files and of the admin port that do not go together.
 */
export async function advice(roster: Roster, files: Files, today: Today): Promise<Problem[]> {
  const place = placesIn([...files.devices, ...files.routes].map(({ source }) => source))
  const { from, until } = localDay(today.now, today.zone)
  const isRoutedToday = isRouted(roster, { from: from / 1000, until: until / 1000 })
  const warnings: Warning[] = []
  for (const entry of roster.devices()) {
    await yieldToEventLoop()
    const ofFiles = roster.assignmentsOf(entry).filter(({ company_id }) => company_id === undefined)
    for (const { line, message } of overlaps(ofFiles.toSorted(bySource)))
      warnings.push({ source: line.source, key: 'from', message })
    if (!isRoutedToday(entry))
      warnings.push({ source: entry.source, key: entry.id, message: 'this device has no route today' })
  }
  warnings.push(...(await sharedRoutes(roster)), ...(await mixedFleet(roster, files)))
  const leftOut = await Promise.all(
    files.routes.map(async ({ source, content }) => problemsIn(source, await unresolved(content.rows, roster))),
  )
  return [
    ...leftOut.flat(),
    ...warnings.map(({ source, key, message }) => ({ severity: 'warning' as const, ...place(source), key, message })),
  ]
}

/** Why rows are not in effect: no device is meant, or it has no courier. */
export async function unresolved(rows: readonly RouteRow[], roster: Pick<Roster, 'meant'>): Promise<Mistake[]> {
  const mistakes: Mistake[] = []
  for (const { at, device, courier_id } of rows) {
    await yieldToEventLoop()
    const meant = roster.meant(device)
    const leftOut = (key: string, message: string) => mistakes.push({ at, key, message, severity: 'left_out' })
    const lineless = meant.find((entry) => courier_id === undefined && entry.courier_id === undefined)
    if (meant.length === 0) leftOut('device', `no device has the id or the name "${device}"`)
    else if (lineless) leftOut('courier_id', `empty, but device ${lineless.id} has no courier_id of its own`)
  }
  return mistakes
}

/** A line that begins while an earlier one of its device holds, and which of them wins. */
export interface Overlap {
  readonly line: Assignment
  readonly message: string
}

/** The lines of one device that overlap; of two with the same `from` the latter of `lines` counts as the later one. */
export function* overlaps(lines: readonly Assignment[]): Generator<Overlap> {
  let before: Assignment | undefined
  let longest: Assignment | undefined
  for (const line of lines.toSorted((a, b) => a.from - b.from)) {
    const earlier = before?.from === line.from ? before : longest
    if (earlier && line.from < earlier.until) {
      const winner = line.from === earlier.from ? 'of the same from the later line wins' : 'the later from wins'
      yield { line, message: `overlaps ${earlier.source} for device ${line.device}: ${winner}` }
    }
    if (!longest || line.until > longest.until) longest = line
    before = line
  }
}

interface Warning {
  readonly source: string
  readonly key?: string
  readonly message: string
}

/** Devices that were put are not compared with those of files that are written later. */
async function mixedFleet(roster: Roster, { devices, gateway }: Files): Promise<Warning[]> {
  const all = [...roster.devices()]
  if (all.every(({ source }) => devices.some(({ source: { name } }) => source.startsWith(`${name}:`)))) return []
  const placed = all.map((device, at) => ({ device, at, companyAt: at, nameAt: at }))
  const [found] = await fleetMistakes([{ devices: placed, mistakes: [] }], gateway.content.companyIds)
  const mistakes = found.filter(({ severity }) => severity === undefined)
  return mistakes.map(({ at, key, message }) => ({ source: all[at].source, key, message }))
}

/** One warning for each route that two devices have at the same time, at the line of the later one. */
async function sharedRoutes(roster: Roster): Promise<Warning[]> {
  const entries = new Map<string, Set<DeviceEntry>>()
  for (const entry of roster.devices()) {
    await yieldToEventLoop()
    for (const lane of lanesOf(entry)) {
      const route = routeKey(lane)
      entries.set(route, (entries.get(route) ?? new Set()).add(entry))
    }
  }
  return [...entries].flatMap(([route, sharing]) => (sharing.size > 1 ? (sharedBy(sharing, route) ?? []) : []))
}

function sharedBy(entries: ReadonlySet<DeviceEntry>, route: string): Warning | undefined {
  const uses = [...entries].flatMap((entry) => {
    const stays = allStays(entry).filter(({ lane }) => routeKey(lane) === route)
    return stays.map((stay) => ({ id: entry.id, stay })).toArray()
  })
  let last = { id: '', until: -Infinity }
  for (const { id, stay } of uses.toSorted((a, b) => a.stay.from - b.stay.from)) {
    // One device's stays do not overlap: this is another one's.
    if (stay.from < last.until) {
      const message = `devices ${last.id} and ${id} are on route ${stay.lane.route} at the same time: both are pushed`
      return { source: stay.source, key: 'route_id', message }
    }
    if (stay.until > last.until) last = { id, until: stay.until }
  }
  return undefined
}

/** The stays of a device without gaps: between those of assignments its own courier and route. */
function* allStays({ stays, usual }: DeviceEntry): Generator<Stay> {
  let at = -Infinity
  for (const stay of stays) {
    if (usual && stay.from > at) yield { ...usual, from: at, until: stay.from }
    yield stay
    at = stay.until
  }
  if (usual) yield { ...usual, from: at }
}

function routeKey({ company, route }: Lane): string {
  return `${company}/${route}`
}
