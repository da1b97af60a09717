import * as z from 'zod'
import { isZone } from '../config/times.ts'

/*
 * What the admin port answers, as far as these commands need it: instants are RFC 3339, ids are text. Fields that are not
 * listed may be there.
 */

const Instant = z.string().refine((text) => !Number.isNaN(Date.parse(text)))

/** `GET /admin/status` */
export const StatusAnswer = z.object({
  waiting: z.object({ fixes: z.number(), lanes: z.number(), oldest_at: Instant.optional() }),
  parked: z.object({ fixes: z.number(), lanes: z.number() }),
  held: z.object({ fixes: z.number(), devices: z.number() }),
  rates: z.object({ received_per_s: z.number(), delivered_per_s: z.number() }),
  upstream: z.object({
    state: z.enum(['up', 'down', 'limited']),
    since_at: Instant,
    /** When a backlog will be gone. */
    drained_at: Instant.optional(),
    /** Companies whose OAuth token the service does not take. */
    token_refused: z.array(z.string()).optional(),
  }),
  custody: z.object({
    received: z.number(),
    filtered: z.number(),
    delivered: z.number(),
    waiting: z.number(),
    parked: z.number(),
    held: z.number(),
    discarded: z.number(),
    difference: z.number(),
  }),
  /** In which the gateway reads times without an offset. */
  time_zone: z.string().refine(isZone),
})
export type StatusAnswer = z.infer<typeof StatusAnswer>

/** `never`: it has not spoken yet. */
const DeviceState = z.enum(['online', 'offline', 'never'])

/** A line of a file that would give the device its route, and when the put was that took its place. */
const ReplacedLine = z.object({ source: z.string(), put_at: Instant })

/** `GET /admin/devices/{id}` */
export const DeviceAnswer = z.object({
  id: z.string(),
  name: z.string().optional(),
  configured: z.boolean(),
  company_id: z.string().optional(),
  courier_id: z.string().optional(),
  /** Where its entry stands, as a lane's `source`. */
  source: z.string().optional(),
  /** When it was deleted through the admin port, though it still is in a file. */
  deleted_at: Instant.optional(),
  held: z.array(
    z.object({
      reason: z.enum(['unknown', 'no_route', 'clock']),
      fixes: z.number(),
      oldest_at: Instant,
      /** The `time_zone` that fits. */
      offset: z.string().optional(),
      /** At the time of the last of them. */
      replaced_line: ReplacedLine.optional(),
    }),
  ),
  /** Where its fixes go now. */
  lane: z
    .object({
      courier_id: z.string(),
      route_id: z.string(),
      /** What says so: `routes.csv:17`, `devices.yaml:3`, or `admin 2026-11-20T08:00:00Z`, when it was put. */
      source: z.string(),
      /** Since when, by a line of the roster; absent where the device's entry says so. */
      from_at: Instant.optional(),
      waiting: z.number(),
      oldest_at: Instant.optional(),
      last_push: z.object({ at: Instant, status: z.union([z.number(), z.string()]) }).optional(),
    })
    .optional(),
  /** Now, where no line says where they go. */
  replaced_line: ReplacedLine.optional(),
  state: DeviceState.optional(),
  last_heard: z.object({ at: Instant }).optional(),
  last_fix: z.object({ time_at: Instant.optional(), received_at: Instant }).optional(),
  last_filtered: z
    .object({
      reason: z.string(),
      at: Instant,
      /** Not filtered but held, and perhaps released since. */
      held: z.boolean().optional(),
    })
    .optional(),
})
export type DeviceAnswer = z.infer<typeof DeviceAnswer>

/** A 404 of `GET /admin/devices/{id}`; `deleted_at` as above. */
export const NoDevice = DeviceAnswer.pick({ deleted_at: true })

/** A row of `GET /admin/devices`. */
const ListedDevice = z.object({
  id: z.string(),
  name: z.string().optional(),
  configured: z.boolean(),
  company_id: z.string().optional(),
  state: DeviceState.optional(),
  last_heard: z.object({ at: Instant }).optional(),
})
export type ListedDevice = z.infer<typeof ListedDevice>

/** A page of `GET /admin/devices`. */
export const DevicesPage = z.object({ results: z.array(ListedDevice), next_page_token: z.string().optional() })
export type DevicesPage = z.infer<typeof DevicesPage>

/** A row of `GET /admin/parked`. */
const ParkedAnswer = z.object({
  company_id: z.string(),
  courier_id: z.string(),
  route_id: z.string(),
  /** Of the whole lane. */
  fixes: z.number(),
  /** Why the lane is parked whole, if it is. */
  parked: z.object({ status: z.number(), message: z.string() }).optional(),
  /** Positions that were refused, by answer. */
  refused: z.array(z.object({ status: z.number(), message: z.string(), count: z.number() })),
})
export type ParkedAnswer = z.infer<typeof ParkedAnswer>

/** A page of `GET /admin/parked`. */
export const ParkedPage = z.object({ results: z.array(ParkedAnswer) })

/** `PUT /admin/routes` */
export const RosterAnswer = z.object({
  added: z.number(),
  changed: z.number(),
  removed: z.number(),
  rejected: z.array(z.object({ line: z.number(), message: z.string() })),
  /** Of lines that overlap for one device; absent where there are none. */
  warnings: z.array(z.object({ line: z.number(), message: z.string() })).optional(),
  /** Ids of devices of the company that have no route now. */
  without_route: z.array(z.string()),
  /** How many devices the company has. */
  devices: z.number(),
})
export type RosterAnswer = z.infer<typeof RosterAnswer>
