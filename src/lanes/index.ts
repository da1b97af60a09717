export * from './api-clock.ts'
export * from './changes.ts'
export * from './days.ts'
export { DuplicateFilter } from './duplicates.ts'
export * from './forget-device.ts'
export * from './held.ts'
export { BEHIND_MS, keys } from './keys.ts'
export * from './lease.ts'
export * from './logs.ts'
export * from './misunderstood.ts'
export { type Fate, NOT_CURRENT } from './move.ts'
export { discard, type Place, release, releaseParked, relocate } from './parked.ts'
export * from './processes.ts'
export * from './record.ts'
export {
  connect,
  durabilityProblems,
  grouped,
  isConnectionError,
  LOADING,
  openRedis,
  type Redis,
  scripts,
} from './redis.ts'
export { Appender, type AppenderOptions, type MemoryShares } from './store.ts'
export * from './survey.ts'
export * from './watched.ts'
export { joinWorkers } from './workers.ts'
