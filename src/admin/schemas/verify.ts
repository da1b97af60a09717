import * as z from 'zod'
import { Count, each, Instant, LaneIds } from './parts.ts'

/** Positions of a lane that are missing in the tracking API. `positions`: the first hundred. */
const MissingLaneJson = LaneIds.extend({
  ...each(Instant, 'from_at', 'until_at'),
  missing: Count,
  positions: z.array(z.object({ at: Instant, ...each(z.number(), 'lat', 'lon') })),
})

/** Fixes that could not be compared with the tracking API, and why. */
const UnknownFixesJson = z.object({
  company_id: z.string(),
  fixes: Count,
  reason: z.enum(['no_token', 'refused', 'no_operation', 'no_answer', 'not_readable', 'couriers', 'other_api']),
  message: z.string(),
})

/**
 * What was compared for a day. `until_at`: later fixes are too new; `kept_since_at`: earlier fixes are not all kept;
 * `stopped`: why the comparison ended early; `next_page_token`: continues it.
 */
export const VerifiedJson = z.object({
  day: z.string(),
  ...each(Count, 'checked', 'repaired'),
  missing: z.array(MissingLaneJson),
  unknown: z.array(UnknownFixesJson),
  until_at: Instant.optional(),
  kept_since_at: Instant.optional(),
  stopped: z.string().optional(),
  next_page_token: z.string().optional(),
})
export type VerifiedJson = z.infer<typeof VerifiedJson>
