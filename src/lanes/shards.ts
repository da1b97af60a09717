import type { Redis } from 'ioredis'
import { keys, type ShardKeys, shardKeys, tagOf } from './keys.ts'
import type { Part } from './record.ts'

/*
 * A shard is a part of the lanes, with keys and a connection of its own; in a Redis Cluster its keys may be on a master of their own.
 * Shard 0 is home: it has everything else as well, and its connection stands for all. What reads or changes lanes takes that
 * connection and finds the shards by it. A connection that `connect` has not made stands for itself alone, as home.
 */

/** The connections of all shards, by the connection of the home shard, which is the first. */
const shards = new WeakMap<Redis, readonly Redis[]>()
const shardKeysOf = new WeakMap<Redis, ShardKeys>()

/** Has the connection of the home shard stand for all. The others end with it. */
export function joinShards(home: Redis, others: readonly Redis[]): void {
  shards.set(home, [home, ...others])
  for (const [index, redis] of others.entries()) shardKeysOf.set(redis, shardKeys(tagOf(index + 1)))
  home.on('end', () => others.forEach((redis) => redis.disconnect()))
}

/** The connections of all shards, home first. */
export function shardsOf(redis: Redis): readonly Redis[] {
  return shards.get(redis) ?? [redis]
}

/** The connection of the shard of a lane. */
export function shardOf(redis: Redis, lane: string): Redis {
  return shards.get(redis)?.[shardNumber(redis, lane)] ?? redis
}

/** The connection of the shard where fixes of a device are held. */
export function deviceShard(redis: Redis, device: string): Redis {
  return shardsOf(redis)[deviceShardNumber(redis, device)]
}

/** The number of that shard, from 0. Ids of digits mean the same device with leading zeros and without. */
function deviceShardNumber(redis: Redis, device: string): number {
  return shardNumber(redis, device.replace(/^0+(?=\d+$)/, ''))
}

/** The number of the shard of a lane, from 0. */
function shardNumber(redis: Redis, lane: string): number {
  const { length } = shardsOf(redis)
  return length === 1 ? 0 : hashOf(lane) % length
}

/** The number of the shard where a part is stored. */
export function shardOfPart(redis: Redis, part: Part): number {
  return 'lane' in part ? shardNumber(redis, part.lane) : deviceShardNumber(redis, part.device)
}

/** Whether a connection is that of the home shard. */
export function isHome(redis: Redis): boolean {
  return !shardKeysOf.has(redis)
}

/** The keys of the shard of a connection. */
export function keysOf(redis: Redis): ShardKeys {
  return shardKeysOf.get(redis) ?? keys
}

/** What each shard answers, home first. */
export function inShards<Answer>(redis: Redis, ask: (shard: Redis) => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(shardsOf(redis).map(ask))
}

/** Names by their shards, for each shard that has some. */
export function byShard<Name extends string>(redis: Redis, names: readonly Name[]): Map<Redis, Name[]> {
  return Map.groupBy(names, (name) => shardOf(redis, name))
}

/** FNV-1a. Part of the format of the data: another one would not find the lanes that there are. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
