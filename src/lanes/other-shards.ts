import { type DuplicateFilter, MARK_BYTES, marksName } from './duplicates.ts'
import { type Part, slicesOf } from './record.ts'
import { type Redis, scripts } from './redis.ts'
import { inShards, keysOf, shardOfPart, shardsOf } from './shards.ts'

/*
 * The marks of a fix are in the shard in which it was stored. It may come again after the roster has given its device a lane in
 * another shard: before it is stored there, the other shards are asked for its mark. Only a fix up to the last change of its
 * device can be in another shard, or one that was ahead of the clock then: a later one is stored without asking.
 *
 * Two gateways that store a fix at the same moment, one of them by the roster before a change, may both store it.
 */

/** Whether other shards are to be asked for some of these parts before they are stored. */
export function mayBeElsewhere(redis: Redis, filter: DuplicateFilter | null, parts: readonly Part[]): boolean {
  if (!filter || shardsOf(redis).length === 1) return false
  return parts.some((part) => 'lane' in part && filter.mayBeElsewhere(part.device, part.records))
}

/**
 * Asks the other shards for the parts of each of several groups, and drops the records that one of them has stored: so many
 * `duplicates`. Rejects while one of them does not answer.
 */
export async function dropDuplicates<Of extends Part>(
  redis: Redis,
  filter: DuplicateFilter | null,
  groups: readonly (readonly Of[])[],
): Promise<{ readonly parts: readonly Of[]; readonly duplicates: number }[]> {
  const singles = groups.map((parts) => (mayBeElsewhere(redis, filter, parts) ? parts.flatMap(singlesOf) : []))
  const asked = singles.flat().filter((single) => mayBeElsewhere(redis, filter, [single]))
  const known = new Set<Part>(filter ? await storedElsewhere(redis, filter, asked) : [])
  return groups.map((parts, index) => {
    const fresh = singles[index].filter((single) => !known.has(single))
    const duplicates = singles[index].length - fresh.length
    // Most fixes come once.
    return { parts: duplicates === 0 ? parts : fresh, duplicates }
  })
}

function singlesOf<Of extends Part>(part: Of): Of[] {
  return Array.from(slicesOf(part.records, 1), ({ records }) => ({ ...part, records }))
}

/** Which of these single records are stored already, in another shard than the one to which they go. */
async function storedElsewhere(redis: Redis, filter: DuplicateFilter, singles: readonly Part[]): Promise<Part[]> {
  const found = await inShards(redis, (shard) => {
    const number = shardsOf(redis).indexOf(shard)
    const others = singles.filter((single) => shardOfPart(redis, single) !== number)
    return storedIn(shard, filter.in(shard), others)
  })
  return found.flat()
}

/** Which of these single records the shard has stored. */
async function storedIn(shard: Redis, filter: DuplicateFilter, singles: readonly Part[]): Promise<Part[]> {
  if (singles.length > 0 && !filter.isPrepared) await filter.prepare()
  const { marksPrefix, markBytes } = keysOf(shard)
  const stored: Part[] = []
  for (let from = 0; from < singles.length; from += ASKED_AT_ONCE) {
    const slice = singles.slice(from, from + ASKED_AT_ONCE)
    const runs = slice.map(({ records }) => ({ records, count: 1 }))
    const { marks } = filter.marksOf(runs, Date.now())
    const args = slice.flatMap(({ device, records }, index) => {
      return [marksName(device, records), marks.subarray(index * MARK_BYTES, (index + 1) * MARK_BYTES)]
    })
    const numbers = (await scripts(shard)('known', [marksPrefix, markBytes], args)) as number[]
    stored.push(...numbers.map((number) => slice[number]))
  }
  return stored
}

/** Redis answers these within some milliseconds, even if each has a full string of marks of its own. */
const ASKED_AT_ONCE = 500
