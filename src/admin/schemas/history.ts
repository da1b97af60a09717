import * as z from 'zod'
import { GAP_REASONS } from '../../diagnose/history.ts'
import { Count, Instant } from './parts.ts'

const SpanJson = z.object({ from_at: Instant, until_at: Instant })
const DayJson = SpanJson.extend({
  date: z.iso.date(),
  fixes: Count,
  /** Number of these fixes that arrived more than five minutes after their time. */
  late: Count,
  connected: z.array(SpanJson),
  gaps: z.array(SpanJson.extend({ reason: z.enum(GAP_REASONS), message: z.string() })),
})
export type DayJson = z.infer<typeof DayJson>

/** The last days of a device, each local, and its gaps. */
export const HistoryJson = z.object({
  days: z.array(DayJson),
  time_zone: z.string(),
})
export type HistoryJson = z.infer<typeof HistoryJson>
