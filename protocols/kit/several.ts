import { DecodeError } from './errors.ts'

/** What was made of the entries of a frame. */
export interface Entries<Result> {
  readonly good: Result[]
  /** How many are left out; undefined where none is. */
  readonly unreadable: number | undefined
}

/**
 * What `read` makes of each entry of a frame that holds several. An entry that it refuses is left out, so that one bad
 * entry does not hold up the good ones for ever; where none is good, the first refusal is thrown. After 100 refusals the
 * rest is left out unread: a refusal takes longer than anything else in a frame, and who sends so many is no tracker with
 * a few bad entries. What was good up to there is kept: refused as a whole, the frame would only come again.
 */
export function eachReadable<Entry, Result>(
  entries: readonly Entry[],
  read: (entry: Entry) => Result,
): Entries<Result> {
  const good: Result[] = []
  let refusals = 0
  let first: DecodeError | undefined
  for (const entry of entries) {
    try {
      good.push(read(entry))
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      first ??= error
      if (++refusals === MOST_REFUSALS) break
    }
  }
  if (first && good.length === 0) throw first
  return { good, unreadable: entries.length - good.length || undefined }
}

const MOST_REFUSALS = 100
