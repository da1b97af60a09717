import type { Redis } from 'ioredis'
import { keys } from './keys.ts'

/**
 * The format of the data in Redis that this program writes; data without one have format 0. It is raised with every change that a
 * program of before would misread. The format of the data rises once every process knows it (lua/sign.lua): until then what it
 * adds must not be written.
 */
export const FORMAT = 1

const found = Promise.withResolvers<string>()

/** Resolves, once the data in Redis turn out to be of a newer program, with a sentence for the user: the process must end then. */
export const newerData: Promise<string> = found.promise

/** To be called with the format of the data whenever it was read. */
export function noteFormat(format: number): void {
  if (format > FORMAT) found.resolve(tooNew('The data in Redis', format))
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
