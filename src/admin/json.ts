import type { Stay } from '../roster/device-entry.ts'

/** An instant as the admin port writes it, RFC 3339; undefined if there is none. */
export function instant(ms: number | undefined): string | undefined {
  return ms !== undefined && Math.abs(ms) <= LAST_MS ? new Date(ms).toISOString() : undefined
}

/** The ids of a lane's name. */
export function laneIds(lane: string) {
  const [company_id, courier_id, route_id] = lane.split('/')
  return { company_id, courier_id, route_id }
}

/** The lane of a device, when the assignment holds, and what assigns it. */
export function stayJson({ lane, from, until, source }: Stay) {
  return { ...laneIds(lane.key), from_at: instant(from * 1000), until_at: instant(until * 1000), source }
}

/** The last instant that a Date can hold, ms UTC. */
const LAST_MS = 8.64e15
