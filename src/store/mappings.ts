import type { Redis } from '../redis/connection.ts'
import { keys } from './keys.ts'

/** A mapping that was saved through the admin port, as Redis stores it. */
export interface SavedMapping {
  /** As mappings.yaml would have it. */
  readonly mapping: unknown
  /** ms UTC. */
  readonly at: number
  /** Whose token saved it. */
  readonly by: string
}

/** The saved mappings, JSON of `SavedMapping` each, by their names. */
export function savedMappings(redis: Redis): Promise<Record<string, string>> {
  return redis.hgetall(keys.mappings)
}

/** Saves a mapping, replacing one with the same name. Every gateway uses it within a second. */
export async function saveMapping(redis: Redis, name: string, saved: SavedMapping): Promise<void> {
  await redis.hset(keys.mappings, name, JSON.stringify(saved))
}

/** Returns whether there was such a mapping. */
export async function deleteMapping(redis: Redis, name: string): Promise<boolean> {
  return (await redis.hdel(keys.mappings, name)) > 0
}
