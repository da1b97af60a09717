export { type Appender, type AppenderOptions, createAppender, type HoldBounds, type Storable } from './append.ts'
export { addToAudit } from './audit.ts'
export { BEHIND_MS } from './behind.ts'
export { durabilityProblems } from './durability.ts'
export { appendEvents, EVENTS_KEPT, eventsOf } from './events.ts'
export type { HoldReason, Part } from './group.ts'
export { grouped } from './grouped.ts'
export { type Fate, type HeldDevice, HOLD_REASONS, heldDevices, heldOf, surveyHeld, sweepHeld } from './held.ts'
export { keys } from './keys.ts'
export {
  type Batch,
  createLeases,
  type Lease,
  type Leases,
  type Refusal,
  type RetryDelay,
  stillHolds,
} from './lease.ts'
export { joinMembers, type Members } from './members.ts'
export {
  countParked,
  countRefused,
  discard,
  discardAll,
  NOT_CURRENT,
  type Parked,
  type Place,
  parkedLanes,
  type Refused,
  refusedOf,
  release,
  releaseAll,
  releaseParked,
  relocate,
  surveyRefused,
} from './parked.ts'
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
export { connect, LOADING, type Redis } from './redis.ts'
export {
  noteApplied,
  type RosterWrite,
  readRoster,
  readRosterRoutes,
  rosterWrittenAt,
  type StoredRoster,
  type Written,
  writeRoster,
} from './roster.ts'
export { createSeen, type Seen } from './seen.ts'
export { custodyCounters, describeLanes, type LaneState, surveyLanes } from './survey.ts'
