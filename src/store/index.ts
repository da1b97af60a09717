export * from './api-clock.ts'
export { Appender, openAppender } from './appender.ts'
export * from './changes.ts'
export * from './days.ts'
export { DuplicateFilter } from './duplicates.ts'
export { durabilityProblems, missingReplicas, type RedisPrimary, redisPrimaries } from './durability.ts'
export * from './forget-device.ts'
export { FORMAT, readFormat, tooNew } from './format.ts'
export { openGatewayChannel } from './gateway-channel.ts'
export { grouped } from './grouped.ts'
export * from './held.ts'
export * from './kept-frames.ts'
export { BEHIND_MS, keys } from './keys.ts'
export * from './lease.ts'
export * from './logs.ts'
export { type Fate, NOT_CURRENT, type Swept } from './move.ts'
export { discard, lanesParked, misplacedLanes, type Place, release, relocate, tryParked } from './parked.ts'
export * from './processes.ts'
export * from './record.ts'
export {
  connect,
  isConnectionError,
  LOADING,
  openRedis,
  type Redis,
  type RedisServer,
  scripts,
  troubleOf,
} from './redis.ts'
export { inShards, keysOf, shardOf, shardsOf } from './shards.ts'
export type { AppenderOptions, MemoryShares } from './store.ts'
export * from './survey.ts'
export * from './watched-frames.ts'
export { joinWorkers, type Workers } from './workers.ts'
