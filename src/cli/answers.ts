import * as z from 'zod'
import {
  ContactJson,
  DeviceJson,
  FixJson,
  Instant,
  LaneIds,
  LaneJson,
  pageSchema,
  RosterPutJson,
  StatusJson,
  StayJson,
} from '../admin/json.ts'

/*
 * The answers of the admin port: of its schemas only the fields that these commands use, because a port of another version may
 * have others.
 */

/** `GET /admin/status` */
export const StatusAnswer = StatusJson.extend({ upstream: StatusJson.shape.upstream.partial({ token_refused: true }) })
export type StatusAnswer = z.infer<typeof StatusAnswer>

/** What both answers about devices say of one. */
const ListedDevice = DeviceJson.pick({ id: true, name: true, configured: true, company_id: true, state: true }).extend({
  last_heard: ContactJson.pick({ at: true }).optional(),
})
export type ListedDevice = z.infer<typeof ListedDevice>

/** `GET /admin/devices` */
export const DevicesPage = pageSchema(ListedDevice)
export type DevicesPage = z.infer<typeof DevicesPage>

/** `GET /admin/devices/{id}` */
export const DeviceAnswer = ListedDevice.extend({
  ...DeviceJson.pick({ courier_id: true, source: true, file_entry: true, held: true, replaced_line: true }).shape,
  /** Where its fixes go now; `from_at` is absent where the device's entry assigns the route. */
  lane: LaneJson.pick({ courier_id: true, route_id: true, waiting: true, oldest_at: true, last_push: true })
    .extend(StayJson.pick({ source: true, from_at: true }).shape)
    .optional(),
  last_fix: FixJson.pick({ time_at: true }).extend({ received_at: Instant }).optional(),
  /** `held`: the fix was held, not filtered, and may have been released since. */
  last_filtered: z.object({ reason: z.string(), at: Instant, held: z.boolean().optional() }).optional(),
})
export type DeviceAnswer = z.infer<typeof DeviceAnswer>

/** A 404 of `GET /admin/devices/{id}`. */
export const NoDevice = DeviceAnswer.pick({ file_entry: true })

/** An answer of the tracking API that refused positions. */
const RefusedPush = z.object({ status: z.number(), message: z.string() })

const ParkedLane = LaneIds.extend({
  fixes: z.number(),
  parked: RefusedPush.optional(),
  refused: z.array(RefusedPush.extend({ count: z.number() })),
})
export type ParkedLane = z.infer<typeof ParkedLane>

/** `GET /admin/parked` */
export const ParkedPage = pageSchema(ParkedLane)

/** `PUT /admin/routes` */
export const RosterAnswer = RosterPutJson
export type RosterAnswer = z.infer<typeof RosterAnswer>

/** Whether a device has no connection and was not heard for 15 minutes: many disconnect between two packets. `now`: ms UTC. */
export function isSilent({ state, last_heard }: Pick<ListedDevice, 'state' | 'last_heard'>, now: number): boolean {
  return state === 'offline' && last_heard !== undefined && now - Date.parse(last_heard.at) > SILENT_MS
}

const SILENT_MS = 15 * 60_000
