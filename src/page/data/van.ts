import type { Condition, VanDetail, VanRow } from './types.ts'

/** What people call a van. */
export function nameOf({ name, id }: Pick<VanRow, 'name' | 'id'>): string {
  return name ?? id
}

/** The condition of a van. If the admin port sends none, it is derived from other fields. */
export function conditionOf(van: VanRow | VanDetail): Condition {
  if (van.condition) return van.condition
  if (!van.configured) return 'unknown'
  if (van.mapping === 'no_route') return 'no_route'
  return van.state === 'never' || van.state === undefined ? 'never' : 'unknown'
}

/** The time of a van's last position; without a position, when the van was last heard. */
export function seenAt(van: VanRow): string | undefined {
  return van.position?.at ?? van.last_heard?.at
}

/** The speed of a van, m/s; undefined if the van is silent or its position is old. */
export function speedOf(van: VanRow | VanDetail): number | undefined {
  return WITHOUT_SPEED.has(conditionOf(van)) ? undefined : van.position?.speed
}

/** Whether a van matches what somebody searches: a part of its name, id, place, route or courier. */
export function matches(van: VanRow, text: string): boolean {
  const wanted = text.trim().toLowerCase()
  if (!wanted) return true
  const { name, id, place, lane, route_id, courier_id } = van
  return [name, id, place, lane?.route_id ?? route_id, lane?.courier_id ?? courier_id].some((each) =>
    each?.toLowerCase().includes(wanted),
  )
}

/** The place of a van's last fix; undefined where it has none. */
export function whereIs({
  position,
}: Pick<VanRow, 'position'>): { readonly lat: number; readonly lon: number } | undefined {
  const { lat, lon } = position ?? {}
  return lat === undefined || lon === undefined ? undefined : { lat, lon }
}

const WITHOUT_SPEED: ReadonlySet<Condition> = new Set(['silent', 'gps_old', 'held', 'never'])
