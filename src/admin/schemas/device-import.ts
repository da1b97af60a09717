import * as z from 'zod'
import { Count, each, Instant } from './parts.ts'
import { DeviceChangeJson, LineRemark, TakenRouteJson } from './roster.ts'

/** A column of the list; `read_as`: null if it is ignored, for the reason in `note`. */
const ColumnJson = z.object({
  name: z.string(),
  read_as: z.enum(['device', 'name', 'courier_id', 'route_id', 'time_zone', 'model']).nullable(),
  note: z.string().optional(),
})
export type ColumnJson = z.infer<typeof ColumnJson>

/**
 * A line that is skipped until an id is accepted for it. `device`: as written in the line; `id`: used if the line is accepted
 * unchanged; `suggestions`: devices that it may mean.
 */
const DoubtJson = LineRemark.extend({
  ...each(z.string().optional(), 'id', 'name'),
  suggestions: z.array(z.object({ id: z.string(), name: z.string().optional(), arrived_at: Instant.optional() })),
})
export type DoubtJson = z.infer<typeof DoubtJson>

/**
 * What the put of a list of vans changes. `put`: its id, by which it can be undone. `takes`: routes of devices that have none
 * afterwards. `changes`, in a dry run: the first 1,000 entries that differ. `devices`: number of devices of the company.
 */
export const DevicesPutJson = z.object({
  ...each(Count, 'added', 'changed', 'unchanged'),
  put: z.string().optional(),
  columns: z.array(ColumnJson),
  notes: z.array(z.string()).optional(),
  rejected: z.array(LineRemark),
  doubtful: z.array(DoubtJson),
  warnings: z.array(LineRemark).optional(),
  takes: z.array(TakenRouteJson).optional(),
  changes: z.array(DeviceChangeJson).optional(),
  devices: Count,
})
export type DevicesPutJson = z.infer<typeof DevicesPutJson>
