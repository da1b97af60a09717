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
export const Text = z.string()
export const LaneIds = z.object(each(Text, 'company_id', 'courier_id', 'route_id'))
export const StayJson = LaneIds.extend({ ...each(Instant.optional(), 'from_at', 'until_at'), source: Text })
export const ContactJson = z.object({
  at: Instant,
  protocol: Text.optional(),
  transport: z.enum(['tcp', 'udp', 'http', 'mqtt']),
  remote: Text,
})
/** Why a lane is parked whole. */
export const ParkedJson = z.object({ status: z.int(), message: Text, tries: Count, at: Instant, since_at: Instant })

export const LaneJson = LaneIds.extend({
  waiting: Count,
  oldest_at: Instant.optional(),
  last_push: z.object({ at: Instant, status: z.union([z.int(), Text]) }).optional(),
  parked: ParkedJson.optional(),
})

/** `never`: it has not sent anything since it was configured. */
export const DeviceState = z.enum(['online', 'offline', 'never'], 'expected online, offline or never')
export type DeviceState = z.infer<typeof DeviceState>

const ReplacedLineJson = z.object({ source: Text })
const FixJson = z.object({
  time_at: Instant.optional(),
  valid: z.boolean(),
  ...each(z.number().optional(), 'lat', 'lon', 'altitude', 'speed', 'heading', 'accuracy', 'hdop', 'satellites'),
})

const EventJson = z.object({
  at: Instant,
  event: z.enum(['connected', 'disconnected', 'routed', 'held', 'filtered', 'misunderstood', 'refused']),
  ...each(Text.optional(), 'protocol', 'transport', 'remote', 'reason'),
  ...LaneIds.partial().shape,
})

/** One device: its entry, lane, held fixes and last contact. */
export const DeviceJson = z.object({
  id: Text,
  configured: z.boolean(),
  ...each(Text.optional(), 'name', 'company_id', 'courier_id', 'route_id', 'time_zone', 'model', 'source'),
  settings: z.record(Text, z.unknown()).optional(),
  secret: z.boolean().optional(),
  file_entry: Text.optional(),
  held: z.array(
    z.object({
      reason: z.enum(['unknown', 'no_route', 'clock']),
      fixes: Count,
      oldest_at: Instant,
      offset: Text.optional(),
      replaced_line: ReplacedLineJson.optional(),
    }),
  ),
  lane: LaneJson.extend(StayJson.shape).optional(),
  replaced_line: ReplacedLineJson.optional(),
  state: DeviceState.optional(),
  last_heard: ContactJson.optional(),
  connection: ContactJson.omit({ at: true }).extend({ connected_at: Instant }).optional(),
  last_fix: FixJson.extend({ received_at: Instant }).optional(),
  last_filtered: z.object({ reason: Text, at: Instant, held: z.boolean().optional(), fix: FixJson }).optional(),
  events: z.array(EventJson),
})

/** Fields with the same schema. */
export function each<Schema extends z.ZodType, Name extends string>(schema: Schema, ...names: Name[]) {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>
}

/** The last instant that a Date can hold, ms UTC. */
const LAST_MS = 8.64e15
