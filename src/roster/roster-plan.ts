import type { Mistake } from '../config/problem.ts'
import type { Interval } from '../config/times.ts'
import type { Device, Directory, RouteLine } from './directory.ts'
import type { RouteEdit } from './edits.ts'
import type { Loaded } from './load.ts'
import { isRouted, type Loss, lossOf } from './loss.ts'
import { type Obsolete, obsoletePuts } from './puts.ts'
import { type DeviceIndex, indexDevices, type RouteFile, type RouteRow, resolveRoutes } from './routes.ts'
import { type Table, tableOf } from './table.ts'

/** Lines that are to take the place of a company's that begin in [from, until), unix seconds. */
export interface RosterPut extends Pick<RouteEdit, 'company_id' | 'from' | 'until'> {
  readonly file: RouteFile
  /** ms UTC */
  readonly now: number
}

/** What a put would do. */
export interface RosterPlan extends Difference {
  /** Lines that are taken. */
  readonly rows: readonly RouteRow[]
  /** Lines that are left out, and why; in order. */
  readonly rejected: readonly Mistake[]
  /** The company's devices. */
  readonly devices: readonly Device[]
  /** Those without a route: now where now is in the interval, else at any time of it. */
  readonly withoutRoute: readonly Device[]
  /** Where more than half of the company's devices that have a route then would have none. */
  readonly loss?: Loss
  /** What nobody needs any more beside this one. */
  readonly obsolete: Obsolete
}

/** How many lines are new, differ from the one of the same device and `from`, and go. */
interface Difference {
  readonly added: number
  readonly changed: number
  readonly removed: number
}

/** Says what a put would do to what is in effect. */
export async function planRoster(loaded: Loaded, put: RosterPut): Promise<RosterPlan> {
  const { company_id, from, until } = put
  const { edits, files } = loaded
  const index = indexDevices(loaded.devices)
  const { rows, rejected } = await takeRows(index, put)
  const next = { at: edits.at + 1, company_id, from, until, rows }
  const ofFiles = files.routes.flatMap(({ content }) => content.rows)
  const after = await tableOf(files, { ...edits, at: next.at, routes: [...edits.routes, next] })
  const devices = loaded.devices.filter((device) => device.company_id === company_id)
  const hasRoute = (directory: Directory) => isRouted(directory, momentOf(put))
  return {
    rows,
    rejected,
    ...difference(linesOf(loaded, devices, put), linesOf(after, devices, put)),
    devices,
    withoutRoute: devices.filter((device) => !hasRoute(after.directory)(device)),
    loss: lossOf(devices, hasRoute(loaded.directory), hasRoute(after.directory)),
    obsolete: await obsoletePuts({ edits, next, rows: ofFiles, index }),
  }
}

async function takeRows(index: DeviceIndex, put: RosterPut): Promise<Pick<RosterPlan, 'rows' | 'rejected'>> {
  const { mistakes: unread, rows } = put.file
  const misplaced = rows.flatMap((row): Mistake[] => {
    const message = misplacement(row, index, put)
    return message === undefined ? [] : [{ at: row.at, ...message }]
  })
  const { mistakes: unresolved } = await resolveRoutes(rows, index, () => ({ source: '' }))
  const leftOut = new Set([...misplaced, ...unresolved].map(({ at }) => at))
  const rejected = [...unread.filter(({ severity }) => severity === 'left_out'), ...unresolved, ...misplaced]
  const taken = rows.filter(({ at }) => !leftOut.has(at)).map((row) => ({ ...row, when: undefined }))
  return { rows: taken, rejected: rejected.toSorted((a, b) => a.at - b.at) }
}

/** Why a line does not belong to what is put. */
function misplacement(row: RouteRow, index: DeviceIndex, put: RosterPut): Pick<Mistake, 'key' | 'message'> | undefined {
  if (row.from < put.from || row.from >= put.until)
    return { key: 'from', message: 'not within from and until of the request' }
  const stranger = index(row.device).find(({ company_id }) => company_id !== put.company_id)
  return stranger && { key: 'device', message: `device ${stranger.id} is of company ${stranger.company_id}` }
}

/** Lines of a company that begin in the interval, by device and `from`. */
function linesOf(
  { routes }: Pick<Table, 'routes'>,
  company: readonly Device[],
  put: RosterPut,
): ReadonlyMap<string, RouteLine> {
  const ids = new Set(company.map(({ id }) => id))
  const lines = routes.filter(({ device, from }) => ids.has(device) && from >= put.from && from < put.until)
  return new Map(lines.map((line) => [`${line.from} ${line.device}`, line]))
}

function difference(before: ReadonlyMap<string, RouteLine>, after: ReadonlyMap<string, RouteLine>): Difference {
  const pairs = Array.from(after, ([key, line]) => ({ line, old: before.get(key) }))
  return {
    added: pairs.filter(({ old }) => !old).length,
    changed: pairs.filter(({ line, old }) => old && !isSameLine(line, old)).length,
    removed: [...before.keys()].filter((key) => !after.has(key)).length,
  }
}

function isSameLine(a: RouteLine, b: RouteLine): boolean {
  return a.courier_id === b.courier_id && a.route_id === b.route_id && a.until === b.until
}

/** Now where that is in the interval, else all of it. */
function momentOf({ from, until, now }: RosterPut): Interval {
  const second = Math.floor(now / 1000)
  return second >= from && second < until ? { from: second, until: second + 1 } : { from, until }
}
