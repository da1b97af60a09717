import type { Redis } from 'ioredis'
import { keys, type ShardKeys, shardKeys, tagOf } from './keys.ts'

/*
 * A shard is a part of the devices, with keys and a connection of its own; in a Redis Cluster its keys may be on a master of their
 * own. All fixes of a device are in its shard: in lanes, held and refused, with their marks of duplicates. A lane is in every shard
 * that has a device of it: each part has an order of its own, and is leased and pushed on its own.
 *
 * Shard 0 is home: it has everything else as well, and its connection stands for all. A connection that `connect` has not made
 * stands for itself alone, as home.
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

/** The connection of the shard of a device. Ids of digits mean the same device with leading zeros and without. */
export function shardOf(redis: Redis, device: string): Redis {
  const all = shards.get(redis)
  return all ? all[hashOf(device.replace(/^0+(?=\d+$)/, '')) % all.length] : redis
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

/** FNV-1a. Part of the format of the data: another one would not find what is stored. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
