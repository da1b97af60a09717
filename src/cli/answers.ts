import * as z from 'zod'
import { isZone } from '../config/times.ts'

/*
 * The answers of the admin port, only the fields that these commands use: a port of another version may have more. Instants
 * are RFC 3339, ids are text.
 */

const Instant = z.string().refine((text) => !Number.isNaN(Date.parse(text)))
const Count = z.number()

/** `GET /admin/status` */
export const StatusAnswer = z.object({
  waiting: z.object({ fixes: Count, lanes: Count, oldest_at: Instant.optional() }),
  parked: z.object({ fixes: Count, lanes: Count }),
  held: z.object({ fixes: Count, devices: Count }),
  rates: z.object({ received_per_s: z.number(), delivered_per_s: z.number() }),
  upstream: z.object({
    state: z.enum(['up', 'down', 'limited']),
    since_at: Instant,
    /** When the backlog will be delivered at the present rate. */
    drained_at: Instant.optional(),
    /** Companies whose OAuth token the tracking service refuses. */
    token_refused: z.array(z.string()).optional(),
  }),
  custody: z.record(
    z.enum(['received', 'filtered', 'delivered', 'waiting', 'parked', 'held', 'discarded', 'difference']),
    Count,
  ),
  /** In which the gateway reads times without an offset. */
  time_zone: z.string().refine(isZone),
})
export type StatusAnswer = z.infer<typeof StatusAnswer>

/** What both answers about devices say of one. `never`: it has not connected yet. */
const DeviceHead = z.object({
  id: z.string(),
  name: z.string().optional(),
  configured: z.boolean(),
  company_id: z.string().optional(),
  state: z.enum(['online', 'offline', 'never']).optional(),
  last_heard: z.object({ at: Instant }).optional(),
})

/** A line of a file that would give the device its route, and that a later put replaced. */
const ReplacedLine = z.object({ source: z.string() })

/** `GET /admin/devices/{id}` */
export const DeviceAnswer = DeviceHead.extend({
  courier_id: z.string().optional(),
  /** Where its entry is: `devices.yaml:3`, or `admin 2026-11-20T08:00:00Z`, when it was put. */
  source: z.string().optional(),
  /** The place of its entry in a file, if it was deleted through the admin port and the file still has it. */
  file_entry: z.string().optional(),
  held: z.array(
    z.object({
      reason: z.enum(['unknown', 'no_route', 'clock']),
      fixes: Count,
      oldest_at: Instant,
      /** The `time_zone` that would explain why these fixes are ahead of the clock. */
      offset: z.string().optional(),
      /** The line for the time of the latest of these fixes. */
      replaced_line: ReplacedLine.optional(),
    }),
  ),
  /** Where its fixes go now. */
  lane: z
    .object({
      courier_id: z.string(),
      route_id: z.string(),
      /** What assigns the route: as `source` above, or a line `routes.csv:17`. */
      source: z.string(),
      /** When the assignment begins; absent where the device's entry assigns the route. */
      from_at: Instant.optional(),
      waiting: Count,
      oldest_at: Instant.optional(),
      last_push: z.object({ at: Instant, status: z.union([z.number(), z.string()]) }).optional(),
    })
    .optional(),
  /** The line for now, where the device has no route. */
  replaced_line: ReplacedLine.optional(),
  last_fix: z.object({ time_at: Instant.optional(), received_at: Instant }).optional(),
  /** `held`: the fix was held, not filtered, and may have been released since. */
  last_filtered: z.object({ reason: z.string(), at: Instant, held: z.boolean().optional() }).optional(),
})
export type DeviceAnswer = z.infer<typeof DeviceAnswer>

/** A 404 of `GET /admin/devices/{id}`. */
export const NoDevice = DeviceAnswer.pick({ file_entry: true })

export type ListedDevice = z.infer<typeof DeviceHead>

/** `GET /admin/devices` */
export const DevicesPage = z.object({ results: z.array(DeviceHead), next_page_token: z.string().optional() })
export type DevicesPage = z.infer<typeof DevicesPage>

/** Whether a device has no connection and was not heard for 15 minutes: many disconnect between two packets. `now`: ms UTC. */
export function isSilent({ state, last_heard }: Pick<ListedDevice, 'state' | 'last_heard'>, now: number): boolean {
  return state === 'offline' && last_heard !== undefined && now - Date.parse(last_heard.at) > SILENT_MS
}

const SILENT_MS = 15 * 60_000

/** An answer of the tracking API that refused positions. */
const RefusedPush = z.object({ status: z.number(), message: z.string() })

const ParkedLane = z.object({
  company_id: z.string(),
  courier_id: z.string(),
  route_id: z.string(),
  /** All parked fixes of the lane. */
  fixes: Count,
  /** Present where the lane is parked whole. */
  parked: RefusedPush.optional(),
  /** Positions that were refused one by one, grouped by answer. */
  refused: z.array(RefusedPush.extend({ count: Count })),
})
export type ParkedLane = z.infer<typeof ParkedLane>

/** `GET /admin/parked` */
export const ParkedPage = z.object({ results: z.array(ParkedLane) })

const LineRemark = z.object({ line: z.number(), message: z.string() })

/** `PUT /admin/routes` */
export const RosterAnswer = z.object({
  added: Count,
  changed: Count,
  removed: Count,
  rejected: z.array(LineRemark),
  /** Lines that overlap for one device; absent where there are none. */
  warnings: z.array(LineRemark).optional(),
  /** Ids of the company's devices that have no route at the time. */
  without_route: z.array(z.string()),
  /** How many devices the company has. */
  devices: Count,
})
export type RosterAnswer = z.infer<typeof RosterAnswer>
