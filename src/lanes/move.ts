import { type AppenderOptions, STORE_KEYS, storeArguments } from './append.ts'
import { type Part, packGroup } from './group.ts'
import { keys } from './keys.ts'
import { type Redis, scripts } from './redis.ts'

/** Entries to be taken out of a list, and where their records go. */
export interface Move {
  /** The list's key, its index (a zset) and its name there. */
  readonly list: string
  readonly index: string
  readonly name: string
  /** Positions in the list, from 0, and the entries as they were read there. */
  readonly entries: readonly (readonly [position: number, entry: Buffer])[]
  /** What becomes of their records; those that are in no part are gone. */
  readonly parts: readonly Part[]
  /** What the custody account counts with it. */
  readonly counters: readonly (readonly [string, number])[]
  /** Of the lease, where the list is a lane's own. */
  readonly token?: string
}

/** Moves records in one step. Answers whether it happened: not where somebody else changed the list meanwhile. */
export async function move(redis: Redis, options: AppenderOptions, what: Move): Promise<boolean> {
  const group = packGroup(what.parts, options.seen, Date.now())
  const own = group.duplicates.reduce((sum, count) => sum + count, 0)
  const counters = [...what.counters, ...(own > 0 ? [['filtered:duplicate', own] as const] : [])]
  const args = [
    group.bytes,
    ...storeArguments(options),
    what.name,
    what.token ?? '',
    counters.length,
    ...counters.flat(),
    ...what.entries.flat(),
  ]
  const run = scripts(redis)
  const answer = run('move', [...STORE_KEYS, what.list, what.index, keys.parked, keys.ahead], args).catch(
    (error: unknown) => {
      for (const { device } of what.parts) options.seen?.unsure(device)
      throw error
    },
  )
  if ((await answer) !== null) return true
  for (const { device } of what.parts) options.seen?.unsure(device)
  return false
}
