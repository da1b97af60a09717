import * as z from 'zod'
import { CONDITIONS } from '../../diagnose/devices.ts'
import { LinkName, Severity } from './findings.ts'
import { LaneJson } from './lanes.ts'
import { Count, each, Instant, LaneIds, StayJson } from './parts.ts'

const ContactJson = z.object({
  at: Instant,
  protocol: z.string().optional(),
  transport: z.enum(['tcp', 'udp', 'http', 'mqtt']),
  remote: z.string(),
})

/** `never`: it has not sent anything since it was configured. */
export const DeviceState = z.enum(['online', 'offline', 'never'], 'expected online, offline or never')
export type DeviceState = z.infer<typeof DeviceState>

const ReplacedLineJson = z.object({ source: z.string() })
const FixJson = z.object({
  time_at: Instant.optional(),
  valid: z.boolean(),
  ...each(z.number().optional(), 'lat', 'lon', 'altitude', 'speed', 'heading', 'accuracy', 'hdop', 'satellites'),
})

/** Values that a tracker sends beside its position; the alarms are those of protocols/kit/said.ts. */
const SaidJson = z
  .object({
    ...each(z.boolean(), 'ignition', 'moving', 'charging'),
    ...each(z.number(), 'external_voltage', 'battery_voltage', 'battery_percent'),
    driver: z.string(),
    alarms: z.array(z.string()).readonly(),
  })
  .partial()

/** A fix as `decode` prints it: RFC 3339, degrees, metres, metres per second. */
const DecodedFix = FixJson.omit({ time_at: true })
  .extend({ time: Instant, device: z.string(), said: SaidJson })
  .partial()
export type DecodedFix = z.infer<typeof DecodedFix>

/**
 * A frame of a device. `port`: of the gateway; `bytes`: the first 1,024 of `size`, as hex, of a request its method, address and
 * body; `text`: the same where it is text; `fixes`: the first 20 of `fix_count`; `reply`: what it was answered, as hex; `error`:
 * why it was not understood, refused or not stored.
 */
export const DeviceFrameJson = z.object({
  at: Instant,
  ...each(z.string(), 'transport', 'protocol', 'bytes'),
  port: Count.optional(),
  remote: z.string().optional(),
  ...each(Count, 'size', 'fix_count'),
  fixes: z.array(DecodedFix),
  ...each(z.string().optional(), 'text', 'reply', 'error'),
})
export type DeviceFrameJson = z.infer<typeof DeviceFrameJson>

export const DeviceFramesJson = z.object({ watched_until_at: Instant.optional(), results: z.array(DeviceFrameJson) })
export type DeviceFramesJson = z.infer<typeof DeviceFramesJson>
/** Until when the frames of a device are kept. */
export const WatchJson = z.object({ until_at: Instant })
export type WatchJson = z.infer<typeof WatchJson>

/**
 * Data volume of a device, with an estimate of the headers of lower layers. It is computed as if each day were like `day`,
 * its last full one; on the first day, like the part that has passed. `bytes_per_month`: of 30 days; `connects_anew`: opens a
 * connection for each fix.
 */
export const AirJson = z.object({
  ...each(Count, 'bytes_per_month', 'connections_per_day', 'fixes_per_day'),
  connects_anew: z.boolean(),
  day: z.string().meta({ format: 'date' }),
})
export type AirJson = z.infer<typeof AirJson>

const EventJson = z.object({
  at: Instant,
  event: z.enum(['connected', 'disconnected', 'routed', 'held', 'filtered', 'misunderstood', 'refused']),
  ...each(z.string().optional(), 'protocol', 'transport', 'remote', 'reason'),
  ...LaneIds.partial().shape,
})
export type EventJson = z.infer<typeof EventJson>

/** Fields of a device that both lists and `DeviceJson` have. */
const DeviceHead = z.object({
  id: z.string(),
  configured: z.boolean(),
  ...each(z.string().optional(), 'name', 'company_id', 'courier_id', 'route_id'),
  state: DeviceState.optional(),
  last_heard: ContactJson.optional(),
})

/** `mapped`: has a lane now; `no_route`: is configured and has no lane; `unmapped`: is not configured. */
export const DeviceMapping = z.enum(['mapped', 'unmapped', 'no_route'], 'expected mapped, unmapped or no_route')
export type DeviceMapping = z.infer<typeof DeviceMapping>

export const DeviceCondition = z.enum(CONDITIONS, `expected ${CONDITIONS.join(', ')}`)

const said = <Value extends z.ZodType>(value: Value) => z.object({ value, since_at: Instant })

/**
 * The last values that a tracker sent beside its positions. `since_at`: when it took this value; for a measured value, when
 * it was sent. `alarms`: the last one of each kind, latest first.
 */
const LastSaidJson = z
  .object({
    ...each(said(z.boolean()), 'ignition', 'moving', 'charging'),
    ...each(said(z.number()), 'external_voltage', 'battery_voltage', 'battery_percent'),
    driver: said(z.string()),
    alarms: z.array(z.object({ alarm: z.string(), at: Instant })),
  })
  .partial()
export type LastSaidJson = z.infer<typeof LastSaidJson>

/** What the latest messages of a device show: see src/diagnose/conditions.md. */
const SeenNow = z.object({
  condition: DeviceCondition,
  /** The position of the last stored fix; m/s, degrees, m. */
  position: z
    .object({ at: Instant.optional(), ...each(z.number().optional(), 'lat', 'lon', 'speed', 'heading', 'accuracy') })
    .optional(),
  /** Near which place that is: `2 km NE of Kaunas`. */
  place: z.string().optional(),
  said: LastSaidJson.optional(),
  /** Codes. */
  findings: z.array(z.string()),
  /**
   * The worst trouble of this device, in a dispatcher's words. `never`: no message of it was accepted yet; `unproven`: it
   * lacks the proof that its entry demands.
   */
  problem: z
    .object({
      code: z.string(),
      severity: Severity,
      link: LinkName,
      since_at: Instant.optional(),
      ...each(z.string(), 'message', 'action'),
    })
    .optional(),
})

export const DeviceRowJson = DeviceHead.extend({
  mapping: DeviceMapping,
  lane: StayJson.optional(),
  held: Count.optional(),
  ...SeenNow.shape,
})
export type DeviceRowJson = z.infer<typeof DeviceRowJson>

export const DeviceJson = DeviceHead.extend({
  ...SeenNow.partial().shape,
  ...each(z.string().optional(), 'time_zone', 'model', 'source'),
  settings: z.record(z.string(), z.unknown()).optional(),
  ...each(z.boolean().optional(), 'secret', 'previous_secret'),
  protocol: z.string().optional(),
  ...each(z.array(z.string()).optional(), 'transports', 'networks', 'client_certificate'),
  /**
   * On a listener with an old server. `off`: waybridge answers the device; `feed`: waybridge answers, and the old server
   * still gets the bytes.
   */
  trial: z.enum(['on', 'off']).optional(),
  feed: z.boolean().optional(),
  file_entry: z.string().optional(),
  held: z.array(
    z.object({
      reason: z.enum(['unknown', 'no_route', 'clock', 'suspicious']),
      fixes: Count,
      oldest_at: Instant,
      offset: z.string().optional(),
      replaced_line: ReplacedLineJson.optional(),
    }),
  ),
  lane: LaneJson.extend(StayJson.shape).optional(),
  replaced_line: ReplacedLineJson.optional(),
  connection: ContactJson.omit({ at: true }).extend({ connected_at: Instant }).optional(),
  last_fix: FixJson.extend({ received_at: Instant }).optional(),
  air: AirJson.optional(),
  last_filtered: z.object({ reason: z.string(), at: Instant, held: z.boolean().optional(), fix: FixJson }).optional(),
  events: z.array(EventJson),
})
export type DeviceJson = z.infer<typeof DeviceJson>
