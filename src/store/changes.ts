import { randomUUID } from 'node:crypto'
import { keys } from './keys.ts'
import type { Redis } from '../redis/connection.ts'

/** Tells who keeps an index of devices that something new was heard of these, or that what was heard is deleted. */
export async function tellHeard(redis: Redis, devices: readonly string[]): Promise<void> {
  await redis.xadd(keys.heardChanges, 'MAXLEN', '~', KEPT, '*', 'devices', JSON.stringify(devices))
}

/** Where a reader of changes stands. `mark`: of the data that it has read; another one: these are other data. */
export interface ReadTo {
  readonly mark: string
  readonly last: string
}

/**
 * The devices with news since the reader's last look, and the reader's new place; undefined: it has to read everything,
 * because it never did, or some changes are not kept any more, or Redis was emptied or restored meanwhile.
 */
export async function heardSince(redis: Redis, since: ReadTo | undefined) {
  const mark = await redis.get(keys.heardMark)
  if (mark === null || mark !== since?.mark) return undefined
  const entries = await redis.xrange(keys.heardChanges, since.last, '+', 'COUNT', KEPT)
  // The oldest entries go first: where the last one that was read is there, all later ones are.
  if (since.last !== NONE && entries[0]?.[0] !== since.last) return undefined
  const later = entries.filter(([id]) => id !== since.last)
  const devices = later.flatMap(([, [, json]]) => JSON.parse(json) as string[])
  return { devices, readTo: { mark, last: later.at(-1)?.[0] ?? since.last } }
}

/** Where a reader stands that reads everything from now on. */
export async function beginReading(redis: Redis): Promise<ReadTo> {
  await redis.set(keys.heardMark, randomUUID(), 'NX')
  const [mark, [latest]] = await Promise.all([
    redis.get(keys.heardMark),
    redis.xrevrange(keys.heardChanges, '+', '-', 'COUNT', 1),
  ])
  return { mark: mark ?? '', last: latest?.[0] ?? NONE }
}

/** Entries of up to 500 devices each. */
const KEPT = 300
/** Stands before all entries. */
const NONE = '0-0'
