import type { DeviceJson, DeviceRowJson } from '../../admin/schemas/devices.ts'

/** What people call a van. */
export function nameOf({ name, id }: Pick<DeviceRowJson, 'name' | 'id'>): string {
  return name ?? id
}

/** In the order in which they are shown. */
export const CONDITIONS = [
  'moving',
  'standing',
  'parked',
  'silent',
  'gps_old',
  'no_route',
  'held',
  'never',
  'unknown',
] as const satisfies readonly DeviceRowJson['condition'][]
export type Condition = DeviceRowJson['condition']

/** Returns the condition of a van; derived from other fields while the admin port has none. */
export function conditionOf({ condition, configured, state = 'never' }: DeviceRowJson | DeviceJson): Condition {
  return condition ?? (configured && state === 'never' ? 'never' : 'unknown')
}

/** The colour of a van: that of its condition, unless the tracking service refuses what a van sends that is well itself. */
export type Tone = Condition | 'refused'

export function toneOf(van: DeviceRowJson | DeviceJson): Tone {
  const condition = conditionOf(van)
  return WELL.has(condition) && van.problem?.link === 'accepted' ? 'refused' : condition
}

/**
 * Returns since when a van is not seen, ms UTC: since its last position, or since the tracking service refuses its positions;
 * for an unconfigured van with held positions: since it was heard. Undefined: it was never seen.
 */
export function unseenSince(van: DeviceRowJson): number | undefined {
  if (van.position?.at === undefined) return heardSince(van)
  const at = Date.parse(van.position.at)
  const { link, since_at } = van.problem ?? {}
  return link === 'accepted' && since_at !== undefined ? Math.min(at, Date.parse(since_at)) : at
}

function heardSince({ configured, last_heard: heard }: DeviceRowJson): number | undefined {
  return configured || heard === undefined ? undefined : Date.parse(heard.at)
}

/** The time of a van's last position; without a position, when the van was last heard. */
export function seenAt(van: DeviceRowJson): string | undefined {
  return van.position?.at ?? van.last_heard?.at
}

/** The speed of a van, m/s; undefined if the van is parked or silent, or its position is old. */
export function speedOf(van: DeviceRowJson | DeviceJson): number | undefined {
  return WITHOUT_SPEED.has(conditionOf(van)) ? undefined : van.position?.speed
}

/** Whether a van matches what somebody searches: a part of its name, id, place, route or courier. */
export function matches(van: DeviceRowJson, text: string): boolean {
  const wanted = text.trim().toLowerCase()
  if (!wanted) return true
  const { name, id, place, lane, route_id, courier_id } = van
  return [name, id, place, lane?.route_id ?? route_id, lane?.courier_id ?? courier_id].some((each) =>
    each?.toLowerCase().includes(wanted),
  )
}

/** Returns the place of a van's last fix; undefined if it has none. */
export function whereIs({
  position,
}: Pick<DeviceRowJson, 'position'>): { readonly lat: number; readonly lon: number } | undefined {
  const { lat, lon } = position ?? {}
  return lat === undefined || lon === undefined ? undefined : { lat, lon }
}

const WELL: ReadonlySet<Condition> = new Set(['moving', 'standing', 'parked'])
const WITHOUT_SPEED: ReadonlySet<Condition> = new Set(['parked', 'silent', 'gps_old', 'held', 'never'])
