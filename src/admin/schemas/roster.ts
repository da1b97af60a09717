import * as z from 'zod'
import { Count, each, Instant, StayJson } from './parts.ts'

/** A line of the roster. */
export const RouteJson = StayJson.extend({ device: z.string(), name: z.string().optional() })
export type RouteJson = z.infer<typeof RouteJson>

/** `device`: as the line has it. */
export const LineRemark = z.object({ line: z.int(), device: z.string().optional(), message: z.string() })
export type LineRemark = z.infer<typeof LineRemark>

/** A route that a device loses; without bounds if its entry gives it the route for all times. */
export const TakenRouteJson = z.object({
  device: z.string(),
  name: z.string().optional(),
  route_id: z.string(),
  ...each(Instant.optional(), 'from_at', 'until_at'),
})
export type TakenRouteJson = z.infer<typeof TakenRouteJson>

/** The lines that a device loses, and those that it gets. */
const VanChangeJson = z.object({
  device: z.string(),
  name: z.string().optional(),
  ...each(z.array(StayJson.omit({ company_id: true, source: true })), 'before', 'after'),
})
export type VanChangeJson = z.infer<typeof VanChangeJson>

const EntryCells = z.object({ ...each(z.string().optional(), 'name', 'courier_id', 'route_id', 'time_zone', 'model') })

/**
 * The fields of a device's entry that differ before and after a change; without `before` it is added, without `after`
 * removed.
 */
export const DeviceChangeJson = z.object({
  line: z.int().optional(),
  device: z.string(),
  name: z.string().optional(),
  ...each(EntryCells.optional(), 'before', 'after'),
  /** When it was last heard, if it has arrived and is not configured yet. */
  arrived_at: Instant.optional(),
})
export type DeviceChangeJson = z.infer<typeof DeviceChangeJson>

const RouteOfCourier = z.object(each(z.string(), 'route_id', 'courier_id'))

/**
 * Delivered fixes of the concerned times that belong to another route after a change. `from`, `to`: if all come from one
 * route and go to one. `moves`: the first 1,000, by device; `kept_since_at`: how far back delivered positions are kept.
 */
export const RedeliverJson = z.object({
  fixes: Count,
  ...each(RouteOfCourier.optional(), 'from', 'to'),
  ...each(Instant, 'from_at', 'until_at', 'kept_since_at'),
  moves: z.array(
    z.object({
      device: z.string(),
      name: z.string().optional(),
      fixes: Count,
      ...each(RouteOfCourier, 'from', 'to'),
      ...each(Instant, 'first_at', 'last_at'),
    }),
  ),
  message: z.string(),
})
export type RedeliverJson = z.infer<typeof RedeliverJson>
export const RedeliveredJson = z.object({ redeliver: RedeliverJson.optional() })

const LineCounts = each(Count, 'added', 'changed', 'removed')

/**
 * What a put changes. `put`: its id, by which it can be undone. `devices`: number of devices of the company. `without_route`:
 * ids of devices without a route. `takes`: routes of devices that have none afterwards. `changes`, in a dry run: the lines
 * that differ, of the first 1,000 devices; `entries`, for the undo of a list of vans: the first 1,000 entries that differ.
 */
export const RosterPutJson = z.object({
  ...LineCounts,
  put: z.string().optional(),
  rejected: z.array(LineRemark),
  warnings: z.array(LineRemark).optional(),
  takes: z.array(TakenRouteJson).optional(),
  changes: z.array(VanChangeJson).optional(),
  entries: z.array(DeviceChangeJson).optional(),
  redeliver: RedeliverJson.optional(),
  without_route: z.array(z.string()),
  devices: Count,
})
export type RosterPutJson = z.infer<typeof RosterPutJson>

/**
 * Result of a file, a put or a pull. `by`: the name of the token; `list`: the kind of list, unless it is routes; `undone`: it
 * was undone. `pulled_at`: when the server last confirmed the roster in effect. `failing`: since when, and why, the server's
 * present roster is not in effect.
 */
const WriterResultJson = z.object({
  writer: z.string(),
  kind: z.enum(['file', 'put', 'pull']),
  list: z.literal('devices').optional(),
  company_id: z.string().optional(),
  at: Instant,
  by: z.string().optional(),
  ...LineCounts,
  rejected: z.array(LineRemark),
  warnings: z.array(LineRemark),
  put: z.string().optional(),
  undone: z.literal(true).optional(),
  pulled_at: Instant.optional(),
  failing: z.object({ since_at: Instant, reason: z.string() }).optional(),
})
export type WriterResultJson = z.infer<typeof WriterResultJson>

export const RosterResultsJson = z.object({ results: z.array(WriterResultJson) })
export type RosterResultsJson = z.infer<typeof RosterResultsJson>

/** What an assignment changes; `text`: the same in one sentence. */
export const AssignedJson = z.object({
  put: z.string().optional(),
  ...each(Count, 'added', 'removed'),
  takes: z.array(TakenRouteJson),
  warnings: z.array(z.string()),
  text: z.string(),
  redeliver: RedeliverJson.optional(),
})
export type AssignedJson = z.infer<typeof AssignedJson>
