import { type Problem, placesIn } from '../config/problem.ts'
import { localDay } from '../config/times.ts'
import type { Device, DeviceEntry, Directory, Lane, RouteLine, Stay } from './directory.ts'
import type { Edits } from './edits.ts'
import type { Files } from './files.ts'
import { fleetMistakes, unplaced } from './fleet.ts'
import { overlappingLines } from './overlaps.ts'
import type { Table } from './table.ts'

/** What the warnings are about. */
export interface AdviceOptions extends Omit<Table, 'leftOut'> {
  readonly files: Files
  readonly edits: Edits
  /** ms UTC */
  readonly now: number
  readonly zone: string
}

/**
 * Warnings of what takes effect and may not be meant: overlapping lines, shared routes, devices without a route today; and
 * devices of files and of the admin port that do not go together, as neither is refused for the other.
 */
export async function advice(options: AdviceOptions): Promise<Problem[]> {
  const { files, edits, devices, routes, directory, now, zone } = options
  const place = placesIn([...files.devices, ...files.routes].map(({ source }) => source))
  const today = localDay(now, zone)
  const warnings = [
    ...overlapWarnings(routes.filter(({ edited }) => !edited)),
    ...sharedRoutes(directory),
    ...devicesWithoutRoute(directory, today.from / 1000, today.until / 1000),
    ...(edits.devices.size === 0 ? [] : await mistakesAmong(devices, files.gateway.content.companyIds)),
  ]
  return warnings.map(({ source, key, message }) => ({ severity: 'warning', ...place(source), key, message }))
}

interface Warning {
  readonly source: string
  readonly key?: string
  readonly message: string
}

async function mistakesAmong(devices: readonly Device[], companyIds?: ReadonlySet<string>): Promise<Warning[]> {
  const [found] = await fleetMistakes([unplaced(devices)], companyIds)
  const mistakes = found.filter(({ severity }) => severity === undefined)
  return mistakes.map(({ at, key, message }) => ({ source: devices[at].source, key, message }))
}

function overlapWarnings(routes: readonly RouteLine[]): Warning[] {
  return Array.from(overlappingLines(routes), ({ line: { source }, message }) => ({ source, key: 'from', message }))
}

/** One warning for each route that two devices have at the same time, at the line of the later one. */
function sharedRoutes(directory: Directory): Warning[] {
  const first = new Map<string, DeviceEntry>()
  const shared = new Map<string, Set<DeviceEntry>>()
  for (const entry of directory.devices())
    for (const { lane } of entry.usual ? [...entry.stays, entry.usual] : entry.stays) {
      const route = routeKey(lane)
      const other = first.get(route)
      if (!other) first.set(route, entry)
      else if (other !== entry) shared.set(route, (shared.get(route) ?? new Set([other])).add(entry))
    }
  return [...shared].flatMap(([route, entries]) => sharedBy(entries, route) ?? [])
}

function sharedBy(entries: ReadonlySet<DeviceEntry>, route: string): Warning | undefined {
  const uses = [...entries].flatMap((entry) => {
    const stays = allStays(entry).filter(({ lane }) => routeKey(lane) === route)
    return stays.map((stay) => ({ id: entry.id, stay })).toArray()
  })
  let last = { id: '', until: -Infinity }
  for (const { id, stay } of uses.toSorted((a, b) => a.stay.from - b.stay.from)) {
    // One device's stays do not overlap, so that this is another one's.
    if (stay.from < last.until) {
      const message = `route ${stay.lane.route} has device ${id} and at the same time ${last.id}: both are pushed`
      return { source: stay.source, key: 'route_id', message }
    }
    if (stay.until > last.until) last = { id, until: stay.until }
  }
  return undefined
}

/** The stays of a device without gaps: between those of lines its own courier and route. */
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

function devicesWithoutRoute(directory: Directory, from: number, until: number): Warning[] {
  const without: Warning[] = []
  for (const { id, stays, usual, source } of directory.devices()) {
    if (usual || stays.some((stay) => stay.from < until && stay.until > from)) continue
    without.push({ source, key: id, message: 'this device has no route today' })
  }
  return without
}
