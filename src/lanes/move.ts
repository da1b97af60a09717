import { keys } from './keys.ts'
import { type Redis, scripts } from './redis.ts'
import { type AppenderOptions, add, type HoldReason, type Part, type StoreCall, storeRecords } from './store.ts'

/** What becomes of a record in a list: it stays, it goes (a part of a lane), or it is gone under a name of the account. */
export type Fate = 'stays' | Part | { readonly gone: string }

/** A list whose entries may leave it. */
type List = Omit<NonNullable<StoreCall['from']>, 'entries'>

export interface Swept {
  readonly left: number
  readonly stayed: number
  /** Whether the end was reached: not where another process changed the list meanwhile, or `decide` was uncertain. */
  readonly complete: boolean
}

/**
 * Goes through a list in order and does with the records of each entry what `decide` says: the entry stays, its records have
 * other fates, or (undefined) this is uncertain now, which ends the sweep. Each slice of the list is one step.
 */
export async function sweep(
  redis: Redis,
  { options = UNBOUNDED, ...list }: List & { readonly options?: AppenderOptions },
  decide: (entry: Buffer) => 'stays' | Exclude<Fate, 'stays'>[] | undefined,
): Promise<Swept> {
  let left = 0
  for (let stayed = 0; ; ) {
    const slice = await redis.lrangeBuffer(list.list, stayed, stayed + SLICE - 1)
    if (slice.length === 0) return { left, stayed, complete: true }
    const parts: Part[] = []
    const entries: [number, Buffer][] = []
    const counters = new Map<string, number>()
    for (const [index, entry] of slice.entries()) {
      const fates = decide(entry)
      if (!fates) return { left, stayed, complete: false }
      if (fates === 'stays') continue
      entries.push([stayed + index, entry])
      for (const fate of fates) {
        if ('gone' in fate) add(counters, fate.gone, 1)
        else parts.push(fate)
      }
    }
    const from = { ...list, entries }
    if (entries.length > 0 && !(await storeRecords(scripts(redis), options, { parts, counters, from })))
      return { left, stayed, complete: false }
    left += entries.length
    stayed += slice.length - entries.length
  }
}

/**
 * Goes through the held fixes of a device in order. A list that somebody else changes meanwhile is left for the next time.
 * Answers how many records did not stay.
 */
export async function sweepHeld(
  redis: Redis,
  options: AppenderOptions,
  { reason, device, fate }: { reason: HoldReason; device: string; fate: (record: Buffer) => Fate },
): Promise<number> {
  const list = { list: keys.held(reason, device), index: keys.heldDevices(reason), name: device, options }
  const { left } = await sweep(redis, list, (record) => {
    const of = fate(record)
    return of === 'stays' ? of : [of]
  })
  return left
}

/** For records that were stored before: they are no duplicates, and nothing of them is held. */
const UNBOUNDED: AppenderOptions = {
  maxWaitMs: 0,
  duplicates: null,
  hold: { maxFixesPerDevice: 0, maxUnknownDevices: 0 },
}
/** Entries read and moved in one step. */
const SLICE = 200
