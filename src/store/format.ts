import type { Redis } from 'ioredis'
import { keys } from './keys.ts'

/**
 * The format of the data in Redis that this program writes; data that no process has signed yet have 0. Raise it with every change
 * that an older program would misread. The format of the data rises once every process knows the new one
 * (lua/sign.lua): until then nothing may be written that the new format adds.
 */
export const FORMAT = 1

const found = Promise.withResolvers<string>()

/** Resolves, once it turns out that this process cannot work on the data in Redis, with a sentence for the user: it must end then. */
export const unusableData: Promise<string> = found.promise

/** `message`: the sentence. */
export function refuseData(message: string): void {
  found.resolve(message)
}

/** To be called with the format of the data whenever it was read. */
export function noteFormat(format: number): void {
  if (format > FORMAT) refuseData(tooNew('The data in Redis', format))
}

/** Refuses data that this program cannot work on. Rejects while Redis does not answer. */
export async function checkFormat(redis: Redis): Promise<void> {
  const [format, ofFirst] = await redis.mget(keys.format, keys.firstRoster)
  if (ofFirst !== null) refuseData(OF_FIRST_VERSION)
  noteFormat(Number(format ?? 0))
}

/** Reads which format the data have. */
export async function readFormat(redis: Redis): Promise<number> {
  return Number((await redis.get(keys.format)) ?? 0)
}

/** What to say of data of a newer program. `data`: "The data in Redis". */
export function tooNew(data: string, format: number): string {
  return (
    `${data} are of a newer waybridge: their format is ${format}, this version knows formats up to ${FORMAT}. ` +
    'Run the newer version; to go back, restore a backup that was made before the upgrade.'
  )
}

/** What to say of data of version 0.1.0. */
export const OF_FIRST_VERSION =
  'The data are of waybridge 0.1.0, which this version cannot read. Start 0.1.0 on them, wait until its status says that nothing ' +
  'waits, is held or parked, and stop it; then start this version with another data_dir, or another Redis.'
