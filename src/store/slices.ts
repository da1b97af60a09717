import type { Redis } from '../redis/connection.ts'

/**
 * Yields the members of a sorted set, in no order, read in slices between which Redis does other work. Members that come or
 * go during the read may be missing.
 */
export async function membersOf(redis: Redis, key: string): Promise<string[]> {
  const members = new Set<string>()
  for await (const slice of redis.zscanStream(key, { count: SLICE }))
    for (let at = 0; at < slice.length; at += 2) members.add(slice[at])
  return [...members]
}

/** The same of a hash: its fields with their values. */
export async function fieldsOf(redis: Redis, key: string): Promise<Map<string, string>> {
  const fields = new Map<string, string>()
  for await (const slice of redis.hscanStream(key, { count: SLICE }))
    for (let at = 0; at < slice.length; at += 2) fields.set(slice[at], slice[at + 1])
  return fields
}

/** This many take Redis a quarter of a millisecond. */
const SLICE = 200
