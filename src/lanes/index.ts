export { type Appender, createAppender, type LaneRecords, type Storable } from './append.ts'
export { keys } from './keys.ts'
export { type Batch, createLeases, type Lease, type Leases, type Refusal, type RetryDelay } from './lease.ts'
export { countRecords, packDevice, packRecords, type Position, positionsJson, receivedAt, records } from './record.ts'
export { connect, type Redis } from './redis.ts'
export {
  custodyCounters,
  type LaneState,
  type Parked,
  type Refused,
  release,
  surveyLanes,
  surveyRefused,
} from './survey.ts'
