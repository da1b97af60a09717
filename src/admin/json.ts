import type { Contact } from '../ingest/heard.ts'
import type { Stay } from '../roster/directory.ts'

/** An instant as the admin port writes it, RFC 3339; undefined where there is none. */
export function instant(ms: number | undefined): string | undefined {
  return ms !== undefined && Math.abs(ms) <= LAST_MS ? new Date(ms).toISOString() : undefined
}

/** The ids of a lane's name. */
export function laneIds(lane: string) {
  const [company_id, courier_id, route_id] = lane.split('/')
  return { company_id, courier_id, route_id }
}

/** A lane, when a device is on it, and the line that says so. */
export function stayJson({ lane, from, until, source }: Stay) {
  return { ...laneIds(lane.key), from_at: instant(from * 1000), until_at: instant(until * 1000), source }
}

/** When and how a device spoke last. */
export function contactJson({ at, protocol, transport, remote }: Contact) {
  return { at: instant(at), protocol, transport, remote }
}

/** The last instant that a Date can be, ms UTC. */
const LAST_MS = 8.64e15
