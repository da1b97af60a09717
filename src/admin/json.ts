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

/* The schemas of these parts of answers, for the OpenAPI document. */

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

export const LaneJson = LaneIds.extend({
  waiting: Count,
  oldest_at: Instant.optional(),
  last_push: z.object({ at: Instant, status: z.union([z.int(), z.string()]) }).optional(),
  parked: ParkedJson.optional(),
})

/** `never`: it has not sent anything since it was configured. */
export const DeviceState = z.enum(['online', 'offline', 'never'], 'expected online, offline or never')
export type DeviceState = z.infer<typeof DeviceState>

const ReplacedLineJson = z.object({ source: z.string(), put_at: Instant.optional() })
const FixJson = z.object({
  time_at: Instant.optional(),
  lat: z.number().optional(),
  lon: z.number().optional(),
  valid: z.boolean(),
  altitude: z.number().optional(),
  speed: z.number().optional(),
  heading: z.number().optional(),
  accuracy: z.number().optional(),
  hdop: z.number().optional(),
  satellites: z.number().optional(),
})

const EventJson = z.object({
  at: Instant,
  event: z.enum(['connected', 'disconnected', 'routed', 'held', 'filtered', 'misunderstood', 'refused']),
  protocol: z.string().optional(),
  transport: z.string().optional(),
  remote: z.string().optional(),
  reason: z.string().optional(),
  company_id: z.string().optional(),
  courier_id: z.string().optional(),
  route_id: z.string().optional(),
})

/** One device: its entry, lane, held fixes and last contact. */
export const DeviceJson = z.object({
  id: z.string(),
  configured: z.boolean(),
  name: z.string().optional(),
  company_id: z.string().optional(),
  courier_id: z.string().optional(),
  route_id: z.string().optional(),
  time_zone: z.string().optional(),
  model: z.string().optional(),
  settings: z.record(z.string(), z.unknown()).optional(),
  secret: z.boolean().optional(),
  source: z.string().optional(),
  deleted_at: Instant.optional(),
  held: z.array(
    z.object({
      reason: z.enum(['unknown', 'no_route', 'clock']),
      fixes: Count,
      oldest_at: Instant,
      offset: z.string().optional(),
      replaced_line: ReplacedLineJson.optional(),
    }),
  ),
  lane: LaneJson.extend(StayJson.shape).optional(),
  replaced_line: ReplacedLineJson.optional(),
  state: DeviceState.optional(),
  last_heard: ContactJson.optional(),
  connection: ContactJson.omit({ at: true }).extend({ connected_at: Instant }).optional(),
  last_fix: FixJson.extend({ received_at: Instant }).optional(),
  last_filtered: z.object({ reason: z.string(), at: Instant, held: z.boolean().optional(), fix: FixJson }).optional(),
  events: z.array(EventJson),
})

/** The last instant that a Date can hold, ms UTC. */
const LAST_MS = 8.64e15
