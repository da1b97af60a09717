import * as z from 'zod'
import { CONDITIONS } from '../../diagnose/devices.ts'
import { Count, each, Instant, instant, LaneIds, LaneJson, StayJson, Text } from '../json.ts'
import type { Contact, DeviceRecord } from '../../store/device-record.ts'

/** One position as `decode` prints it: RFC 3339, degrees, metres, metres per second. */
export type DecodedFix = z.infer<typeof DecodedFixJson>

/** A fix without the numbers that JSON cannot hold. */
export function decodedFix({
  time,
  latitude,
  longitude,
  ...rest
}: NonNullable<DeviceRecord['fix']>['fix']): DecodedFix {
  const fix = { time: instant(time ?? undefined), lat: latitude, lon: longitude, ...rest }
  return Object.fromEntries(
    Object.entries(fix).filter(([, value]) => value !== null && (typeof value !== 'number' || Number.isFinite(value))),
  )
}

/** When and how a device sent something last. */
export function contactJson({ at, protocol, transport, remote }: Contact) {
  return { at: instant(at), protocol, transport, remote }
}

/* The schemas of answers about devices, for the OpenAPI document. */

const ContactJson = z.object({
  at: Instant,
  protocol: Text.optional(),
  transport: z.enum(['tcp', 'udp', 'http', 'mqtt']),
  remote: Text,
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

const DecodedFixJson = FixJson.omit({ time_at: true }).extend({ time: Instant, device: Text }).partial()

/**
 * A frame of a device. `port`: of the gateway; `bytes`: the first 1,024 of `size`, as hex, of a request its method, address and
 * body; `text`: the same where it is text; `fixes`: the first 20 of `fix_count`; `reply`: what it was answered, as hex; `error`:
 * why it was not understood, refused or not stored.
 */
export const DeviceFrameJson = z.object({
  at: Instant,
  ...each(Text, 'transport', 'protocol', 'bytes'),
  port: Count.optional(),
  remote: Text.optional(),
  ...each(Count, 'size', 'fix_count'),
  fixes: z.array(DecodedFixJson),
  ...each(Text.optional(), 'text', 'reply', 'error'),
})

const EventJson = z.object({
  at: Instant,
  event: z.enum(['connected', 'disconnected', 'routed', 'held', 'filtered', 'misunderstood', 'refused']),
  ...each(Text.optional(), 'protocol', 'transport', 'remote', 'reason'),
  ...LaneIds.partial().shape,
})

/** What a list says of a device, and what `DeviceJson` says too. */
const DeviceHead = z.object({
  id: Text,
  configured: z.boolean(),
  ...each(Text.optional(), 'name', 'company_id', 'courier_id', 'route_id'),
  state: DeviceState.optional(),
  last_heard: ContactJson.optional(),
})

/** `mapped`: has a lane now; `no_route`: is configured and has none; `unmapped`: is not configured. */
export const DeviceMapping = z.enum(['mapped', 'unmapped', 'no_route'], 'expected mapped, unmapped or no_route')
export type DeviceMapping = z.infer<typeof DeviceMapping>

export const DeviceCondition = z.enum(CONDITIONS, `expected ${CONDITIONS.join(', ')}`)

/** What the last messages of a device say: see src/diagnose/README.md. */
const SeenNow = z.object({
  condition: DeviceCondition,
  /** The position of the last stored fix; m/s, degrees, m. */
  position: z
    .object({ at: Instant.optional(), ...each(z.number().optional(), 'lat', 'lon', 'speed', 'heading', 'accuracy') })
    .optional(),
  /** Near which place that is: `2 km NE of Kaunas`. */
  place: Text.optional(),
  /** Codes. */
  findings: z.array(Text),
})

export const DeviceRowJson = DeviceHead.extend({
  mapping: DeviceMapping,
  lane: StayJson.optional(),
  held: Count.optional(),
  ...SeenNow.shape,
})

export const DeviceJson = DeviceHead.extend({
  ...SeenNow.partial().shape,
  ...each(Text.optional(), 'time_zone', 'model', 'source'),
  settings: z.record(Text, z.unknown()).optional(),
  ...each(z.boolean().optional(), 'secret', 'previous_secret'),
  protocol: Text.optional(),
  ...each(z.array(Text).optional(), 'transports', 'networks', 'client_certificate'),
  file_entry: Text.optional(),
  held: z.array(
    z.object({
      reason: z.enum(['unknown', 'no_route', 'clock', 'suspicious']),
      fixes: Count,
      oldest_at: Instant,
      offset: Text.optional(),
      replaced_line: ReplacedLineJson.optional(),
    }),
  ),
  lane: LaneJson.extend(StayJson.shape).optional(),
  replaced_line: ReplacedLineJson.optional(),
  connection: ContactJson.omit({ at: true }).extend({ connected_at: Instant }).optional(),
  last_fix: FixJson.extend({ received_at: Instant }).optional(),
  last_filtered: z.object({ reason: Text, at: Instant, held: z.boolean().optional(), fix: FixJson }).optional(),
  events: z.array(EventJson),
})
