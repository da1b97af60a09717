import type { DeviceRowJson } from '../../admin/schemas/devices.ts'
import type { RouteJson } from '../../admin/schemas/roster.ts'
import type { LocalDay } from './day.ts'

/** The route of a van for a part of a day. */
export interface DayStay {
  readonly route_id: string
  readonly courier_id: string
  /** ms UTC, within the day. */
  readonly from: number
  readonly until: number
  /** Where it is written; undefined for the usual route of the van's entry. */
  readonly source?: string
  /** The names of other vans on the same route at the same time. */
  readonly sharedWith: readonly string[]
}

export interface VanOfDay {
  readonly van: DeviceRowJson
  /** In order of time; a later one covers an earlier one. */
  readonly stays: readonly DayStay[]
}

/** Returns the routes of each configured van on a day, in the order of their names. */
export function dayPlan(vans: readonly DeviceRowJson[], lines: readonly RouteJson[], day: LocalDay): VanOfDay[] {
  const byDevice = Map.groupBy(lines, ({ device }) => device)
  const plan = vans
    .filter(({ configured }) => configured)
    .toSorted((one, other) => collator.compare(nameOf(one), nameOf(other)))
    .map((van) => ({ van, stays: staysOf(van, byDevice.get(van.id) ?? [], day) }))
  const shared = sharedStays(plan)
  return plan.map(({ van, stays }) => ({
    van,
    stays: stays.map((stay) => ({ ...stay, sharedWith: shared.get(stay) ?? [] })),
  }))
}

/** Whether a van has a route at some time from `from` on, until the end of the day. */
export function isBusyFrom({ stays }: VanOfDay, from: number): boolean {
  return stays.some(({ until }) => until > from)
}

type PartOfDay = Omit<DayStay, 'sharedWith'>

/** Returns the routes of a van on a day, by its own lines, in order of time. */
export function staysOf(
  { route_id, courier_id }: Pick<DeviceRowJson, 'route_id' | 'courier_id'>,
  lines: readonly RouteJson[],
  day: LocalDay,
): PartOfDay[] {
  const all = lines.map((line) => ({
    route_id: line.route_id,
    courier_id: line.courier_id,
    source: line.source,
    from: Math.max(day.from, line.from_at ? Date.parse(line.from_at) : day.from),
    until: Math.min(day.until, line.until_at ? Date.parse(line.until_at) : day.until),
  }))
  const stays = all.filter((stay) => stay.until > stay.from)
  const usual =
    route_id === undefined || courier_id === undefined
      ? []
      : timesWithout(stays, day).map((times) => ({ ...times, route_id, courier_id }))
  return [...stays, ...usual].toSorted((one, other) => one.from - other.from)
}

interface HoursOfDay {
  readonly from: number
  readonly until: number
}

/** Returns the parts of a day without a line: the usual route holds there. */
function timesWithout(stays: readonly HoursOfDay[], day: LocalDay): HoursOfDay[] {
  const parts: HoursOfDay[] = []
  let { from } = day
  for (const stay of [
    ...stays.toSorted((one, other) => one.from - other.from),
    { from: day.until, until: day.until },
  ]) {
    if (stay.from > from) parts.push({ from, until: stay.from })
    from = Math.max(from, stay.until)
  }
  return parts
}

/** Returns, for each stay on a route that another van drives at the same time, the names of the other vans. */
function sharedStays(plan: readonly { readonly van: DeviceRowJson; readonly stays: readonly PartOfDay[] }[]) {
  const all = plan.flatMap(({ van, stays }) => stays.map((stay) => ({ van, stay })))
  const shared = new Map<PartOfDay, string[]>()
  for (const onRoute of Map.groupBy(all, ({ van, stay }) => `${van.company_id} ${stay.route_id}`).values()) {
    const inOrder = onRoute.toSorted((one, other) => one.stay.from - other.stay.from)
    for (const [index, one] of inOrder.entries())
      for (const other of inOrder.slice(index + 1, index + 1 + MOST_NAMED)) {
        if (other.stay.from >= one.stay.until) break
        if (other.van.id === one.van.id) continue
        shared.set(one.stay, [...(shared.get(one.stay) ?? []), nameOf(other.van)])
        shared.set(other.stay, [...(shared.get(other.stay) ?? []), nameOf(one.van)])
      }
  }
  return shared
}

function nameOf({ name, id }: DeviceRowJson): string {
  return name ?? id
}

const MOST_NAMED = 20
const collator = new Intl.Collator(undefined, { numeric: true })
