import * as z from 'zod'
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

/** The lane of a device, when the assignment holds, and what assigns it. */
export function stayJson({ lane, from, until, source }: Stay) {
  return { ...laneIds(lane.key), from_at: instant(from * 1000), until_at: instant(until * 1000), source }
}

/** When and how a device sent something last. */
export function contactJson({ at, protocol, transport, remote }: Contact) {
  return { at: instant(at), protocol, transport, remote }
}

/*
 * How the OpenAPI document describes the above.
 */

export const Instant = z.iso.datetime()
export const Count = z.int().min(0)
export const LaneIds = z.object({ company_id: z.string(), courier_id: z.string(), route_id: z.string() })
export const StayJson = LaneIds.extend({
  from_at: Instant.optional(),
  until_at: Instant.optional(),
  source: z.string(),
})
export const ContactJson = z.object({
  at: Instant,
  protocol: z.string().optional(),
  transport: z.enum(['tcp', 'udp', 'http', 'mqtt']),
  remote: z.string(),
})
/** Why a lane is parked whole. */
export const ParkedJson = z.object({
  status: z.int(),
  message: z.string(),
  tries: Count,
  at: Instant,
  since_at: Instant,
})

/** The last instant that a Date can hold, ms UTC. */
const LAST_MS = 8.64e15
