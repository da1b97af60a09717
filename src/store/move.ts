import type { Part } from './record.ts'
import { type AppenderOptions, add, type RecordSource, storeRecords } from './store-records.ts'
import type { Shard } from './shards.ts'

/** Signals that the process cannot know that its roster is current; it then moves nothing. */
export const NOT_CURRENT = Symbol('roster not current')

/**
 * What happens to a record in a list: it stays, it moves (a part of a lane), it leaves under a name of the account, or it is
 * withdrawn from its lane, since it was delivered to another before.
 */
export type Fate = 'stays' | Part | { readonly gone: string } | { readonly withdrawn: Buffer }

export interface Swept {
  readonly left: number
  readonly stayed: number
  /** Where the sweep ended: at the end of the list, at a change by another process, or at an uncertain fate. */
  readonly end: 'reached' | 'changed' | typeof NOT_CURRENT
}

/**
 * Passes through a list of a shard in order and does with each entry what `decide` returns. Each slice of the list is one
 * step.
 */
export async function sweep(
  shard: Shard,
  { options = UNBOUNDED, ...list }: RecordSource & { readonly options?: AppenderOptions },
  decide: (entry: Buffer) => Fate | typeof NOT_CURRENT,
): Promise<Swept> {
  let left = 0
  for (let stayed = 0; ; ) {
    const slice = await shard.lrangeBuffer(list.list, stayed, stayed + SLICE - 1)
    if (slice.length === 0) return { left, stayed, end: 'reached' }
    const parts: Part[] = []
    const entries: [number, Buffer][] = []
    const counters = new Map<string, number>()
    const withdrawn: Buffer[] = []
    for (const [index, entry] of slice.entries()) {
      const fate = decide(entry)
      if (fate === NOT_CURRENT) return { left, stayed, end: NOT_CURRENT }
      if (fate === 'stays') continue
      entries.push([stayed + index, entry])
      if ('gone' in fate) add(counters, fate.gone, 1)
      else if ('withdrawn' in fate) withdrawn.push(fate.withdrawn)
      else parts.push(fate)
    }
    add(counters, 'withdrawn', withdrawn.length)
    const call = { parts, counters, from: { ...list, entries, withdrawn } }
    if (entries.length > 0 && !(await storeRecords(shard, options, call))) return { left, stayed, end: 'changed' }
    left += entries.length
    stayed += slice.length - entries.length
  }
}

/** Passes through a list until no other process changes it during a pass. Resolves to how many entries have left it. */
export async function sweepAll(shard: Shard, source: RecordSource, fate: (record: Buffer) => Fate): Promise<number> {
  for (let left = 0; ; ) {
    const swept: Swept = await sweep(shard, source, fate)
    left += swept.left
    if (swept.end !== 'changed') return left
  }
}

/** For records that were stored before: they are no duplicates, and none is dropped to stay within bounds. */
const UNBOUNDED: AppenderOptions = {
  maxWaitMs: 0,
  duplicates: null,
  shares: { markBytes: 0, heldFixes: 0, misunderstoodBytes: 0 },
  hold: { maxFixesPerDevice: 0, maxFixesConfigured: Number.MAX_SAFE_INTEGER, maxUnknownDevices: 0 },
}
/** Entries read and moved in one step. */
const SLICE = 200
