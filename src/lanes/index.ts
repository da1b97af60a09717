export { Appender, type Storable, type Stored } from './append.ts'
export { DuplicateFilter } from './duplicates.ts'
export { BEHIND_MS, keys } from './keys.ts'
export {
  type Batch,
  type Lease,
  Leases,
  type RefusalReason,
  type RetryDelay,
  stillHolds,
} from './lease.ts'
export { addToAudit, appendEvents, EVENTS_KEPT, eventsOf } from './logs.ts'
export { type Fate, sweepHeld } from './move.ts'
export { discard, NOT_CURRENT, type Place, release, releaseParked, relocate } from './parked.ts'
export {
  countRecords,
  deviceOf,
  type Position,
  packDevice,
  packRecords,
  positionOf,
  positionsJson,
  receivedAt,
  records,
  slicesOf,
  timestampOf,
} from './record.ts'
export { connect, durabilityProblems, grouped, LOADING, type Redis } from './redis.ts'
export {
  type FieldTexts,
  noteApplied,
  type RosterLogEntry,
  type RosterWrite,
  readRosterChanges,
  readRosterVersion,
  scanRoster,
  writeRoster,
} from './roster.ts'
export type { AppenderOptions, HoldReason, Part } from './store.ts'
export {
  countOverdue,
  countParked,
  countRefused,
  custodyCounters,
  describeLanes,
  type HeldDevice,
  HOLD_REASONS,
  heldDevices,
  heldOf,
  type LaneState,
  type Parked,
  parkedLanes,
  type Refused,
  surveyHeld,
  surveyLanes,
  surveyRefused,
} from './survey.ts'
export { joinWorkers } from './workers.ts'
