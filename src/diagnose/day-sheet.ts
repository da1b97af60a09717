import { GAP_REASONS } from './history.ts'

/** Why a planned minute of a route has no delivered position: what the page of the van says, or that the van has not started. */
export const DAY_REASONS = [...GAP_REASONS, 'not_started'] as const
export type DayReason = (typeof DAY_REASONS)[number]
