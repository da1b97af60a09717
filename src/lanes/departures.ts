import { randomUUID } from 'node:crypto'
import type { Part } from './record.ts'
import type { Redis } from './redis.ts'
import { inShards, keysOf, shardOfPart, shardsOf } from './shards.ts'
import { type AppenderOptions, storeRecords } from './store.ts'

/**
 * Records move from one shard to another in three steps. (1) The script that takes them out of their list notes them
 * under `departing`. (2) The other shard stores them, and remembers for a day that they have arrived. (3) The first
 * shard deletes the note. Each step may be done twice. Every process that finds records under `departing` does steps 2
 * and 3. Those of one list arrive in the order in which they left.
 */

/** Records that leave one list for one other shard. */
interface Departure {
  readonly id: string
  /** The number of the shard. */
  readonly to: number
  /** Whether duplicates are looked for among them, as among new records. */
  readonly isNew: boolean
  readonly fixes: number
  readonly parts: readonly PackedPart[]
}

/** `records`: base64. */
type PackedPart<Of extends Part = Part> = Of extends Part ? Omit<Of, 'records'> & { readonly records: string } : never

/**
 * Divides parts with single records by the shard of their lanes, or of their device where they are held: those that stay in `shard`, and a text for `departing`
 * for each of the others.
 */
export function splitByShard(
  redis: Redis,
  { shard, parts, isNew }: { readonly shard: Redis; readonly parts: readonly Part[]; readonly isNew: boolean },
): { readonly staying: readonly Part[]; readonly departing: string[] } {
  const here = shardsOf(redis).indexOf(shard)
  const { [here]: staying = [], ...leaving } = Object.groupBy(parts, (part) => shardOfPart(redis, part))
  const departing = Object.entries(leaving).map(([to, own = []]) => {
    const packed = own.map((part) => ({ ...part, records: part.records.toString('base64') }))
    const departure: Departure = { id: randomUUID(), to: Number(to), isNew, fixes: own.length, parts: packed }
    return JSON.stringify(departure)
  })
  return { staying, departing }
}

/** Stores what departs from a shard where it belongs, and forgets it here. Rejects where a shard does not answer. */
async function arrive(redis: Redis, shard: Redis, { text, options }: { text: string; options: AppenderOptions }) {
  const { id, isNew, parts, to } = JSON.parse(text) as Departure
  // Only a gateway looks for duplicates.
  if (isNew && !options.duplicates) return
  const unpacked = parts.map((part) => ({ ...part, records: Buffer.from(part.records, 'base64') }))
  const own = isNew ? options : { ...options, duplicates: null }
  await storeRecords(shardsOf(redis)[to], own, { parts: unpacked, counters: new Map(), arrival: id })
  await shard.lrem(keysOf(shard).departing, 1, text)
}

/** Does what another process has begun and not ended: all that departs from a shard arrives, in its order. */
export async function endDepartures(redis: Redis, shard: Redis, options: AppenderOptions): Promise<void> {
  if (shardsOf(redis).length === 1) return
  for (const text of await shard.lrange(keysOf(shard).departing, 0, -1)) await arrive(redis, shard, { text, options })
}

/** How many records are on their way from one shard to another. */
export async function countDeparting(redis: Redis): Promise<number> {
  const texts = await inShards(redis, (shard) => shard.lrange(keysOf(shard).departing, 0, -1))
  return texts.flat().reduce((sum, text) => sum + (JSON.parse(text) as Departure).fixes, 0)
}
