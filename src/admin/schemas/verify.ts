import * as z from 'zod'
import { Count, each, Instant, LaneIds } from './parts.ts'

/** What is missing of a lane in the tracking API. `positions`: the first hundred of them. */
const MissingLaneJson = LaneIds.extend({
  ...each(Instant, 'from_at', 'until_at'),
  missing: Count,
  positions: z.array(z.object({ at: Instant, ...each(z.number(), 'lat', 'lon') })),
})

/** Fixes of which it is not known whether the tracking API has them, and why. */
const UnknownFixesJson = z.object({
  company_id: z.string(),
  fixes: Count,
  reason: z.enum(['no_token', 'refused', 'no_operation', 'no_answer', 'not_readable', 'couriers']),
  message: z.string(),
})

/**
 * What was compared of a day. `until_at`: later fixes are too new; `kept_since_at`: of earlier ones not all is kept; `stopped`: why the
 * rest was not compared; `next_page_token`: ask again with it for the rest.
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
