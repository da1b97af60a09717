import * as z from 'zod'
import { Count, each, Instant, LaneIds } from './parts.ts'

/** Why a lane is parked whole. */
const ParkedJson = z.object({
  status: z.int(),
  message: z.string(),
  tries: Count,
  at: Instant,
  since_at: Instant,
})

export const LaneJson = LaneIds.extend({
  waiting: Count,
  oldest_at: Instant.optional(),
  last_push: z.object({ at: Instant, status: z.union([z.int(), z.string()]) }).optional(),
  parked: ParkedJson.optional(),
})
export type LaneJson = z.infer<typeof LaneJson>

/** Parked positions of a lane: why the whole lane is parked, and single refusals by answer. */
export const ParkedLaneJson = LaneIds.extend({
  fixes: Count,
  parked: ParkedJson.extend({ next_try_at: Instant.optional() }).optional(),
  refused: z.array(z.object({ status: z.int(), message: z.string(), at: Instant, first_at: Instant, count: Count })),
})
export type ParkedLaneJson = z.infer<typeof ParkedLaneJson>

/**
 * Positions of a device that the receiver of a copy refused with the same answer. Status 0: many tries without an answer,
 * while other positions were accepted.
 */
export const ParkedCopyJson = z.object({
  ...each(z.string(), 'company_id', 'device', 'message'),
  status: z.int(),
  fixes: Count,
  ...each(Instant, 'first_at', 'at'),
})
export type ParkedCopyJson = z.infer<typeof ParkedCopyJson>

export const RetriedJson = z.object({ retried: Count })
export type RetriedJson = z.infer<typeof RetriedJson>
export const DeletedJson = z.object({ deleted: Count })
export type DeletedJson = z.infer<typeof DeletedJson>
