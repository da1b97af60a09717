import type { Redis } from 'ioredis'
import { keys } from './keys.ts'
import type { Store } from './shards.ts'

/**
 * The format of the data in Redis that this program writes; data that no process has signed yet have 0. Raise it with every
 * change that an older program would misread. The format of the data rises once every process knows the new one
 * (lua/sign.lua); until then, write nothing that only the new format has.
 */
export const FORMAT = 1

/** Refuses a store whose data have a newer format. Call it whenever the format was read. */
export function noteFormat(store: Store, format: number): void {
  if (format > FORMAT) store.refuse(tooNew('The data in Redis', format))
}

/** Refuses a store whose data this program cannot use. Rejects while Redis does not answer. */
export async function checkFormat(store: Store): Promise<void> {
  const { firstRoster, latestSpans, secret } = keys
  const [format, ofFirst, hasMarks, hasSecret] = await Promise.all([
    store.get(keys.format),
    store.get(firstRoster),
    store.exists(latestSpans),
    store.exists(secret),
  ])
  // A gateway of 0.1.0 had no secret; one of today makes it before its first mark.
  if (ofFirst !== null || (hasMarks === 1 && hasSecret === 0)) store.refuse(OF_FIRST_VERSION)
  noteFormat(store, Number(format ?? 0))
}

export async function readFormat(redis: Redis): Promise<number> {
  return Number((await redis.get(keys.format)) ?? 0)
}

/** Returns the message about data of a newer program. `data`: "The data in Redis". */
export function tooNew(data: string, format: number): string {
  return (
    `${data} are of a newer waybridge: their format is ${format}, this version knows formats up to ${FORMAT}. ` +
    'Run the newer version; to go back, restore a backup that was made before the upgrade.'
  )
}

/** The message about data of version 0.1.0. */
export const OF_FIRST_VERSION =
  'The data are of waybridge 0.1.0, which this version cannot read. Start 0.1.0 on them, wait until its status says that nothing ' +
  'waits, is held or parked, and stop it; then start this version with another data_dir, or another Redis.'
