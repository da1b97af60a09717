import * as z from 'zod'
import { DAY_REASONS } from '../../diagnose/day-sheet.ts'
import { GAP_REASONS } from '../../diagnose/history.ts'
import { Count, each, Instant, LaneIds, SpanJson } from './parts.ts'

/** A time of the plan without a delivered position: one reason, and the device that it is about. */
const DayGapJson = SpanJson.extend({
  min: Count,
  reason: z.enum(DAY_REASONS),
  message: z.string(),
  device: z.string(),
})

/**
 * Figures of a courier on a route for a local day. `planned_min`: the planned minutes that have begun, the sum of
 * `covered_min` and all of `by_reason`. Fixes, delays and `redelivered` count what was delivered to this courier and route,
 * by the time of the fix.
 */
export const DaySheetJson = LaneIds.extend({
  day: z.iso.date(),
  /** Ids of the devices that the roster has on the route. */
  devices: z.array(z.string()),
  /** Within the day; for today also times to come. */
  planned: z.array(SpanJson),
  ...each(Count, 'planned_min', 'covered_min'),
  /** `covered_min / planned_min`; null while no planned time has begun. */
  share: z.number().min(0).max(1).nullable(),
  first_fix_at: Instant.nullable(),
  /** From the first planned time to the first covered minute; null if no planned time begins on this day, or none is covered. */
  start_delay_min: Count.nullable(),
  last_fix_at: Instant.nullable(),
  ...each(Count, 'fixes', 'late_fixes'),
  /** From arrival to delivery; null if nothing was delivered. */
  ...each(z.number().min(0).nullable(), 'delay_p50_s', 'delay_p95_s'),
  longest_gap_min: Count,
  gaps: z.array(DayGapJson),
  by_reason: z.partialRecord(z.enum(DAY_REASONS), Count),
  /** Positions that were read back from the tracking API; absent if none were. */
  verified: z.object(each(Count, 'checked', 'missing')).optional(),
  /** Of the fixes, those that were delivered again, by a correction. */
  redelivered: Count,
})
export type DaySheetJson = z.infer<typeof DaySheetJson>

/** A page of the sheets of a day, the worst share first. */
export const DaysJson = SpanJson.extend({
  results: z.array(DaySheetJson),
  next_page_token: z.string().optional(),
  day: z.iso.date(),
  time_zone: z.string(),
  /** Until when minutes count: the end of the day, or now. */
  as_of_at: Instant,
})
export type DaysJson = z.infer<typeof DaysJson>

const DayJson = SpanJson.extend({
  date: z.iso.date(),
  fixes: Count,
  /** How many of these fixes came more than five minutes after their time. */
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
