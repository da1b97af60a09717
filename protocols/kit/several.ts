import { DecodeError } from './errors.ts'

/**
 * What `read` makes of each entry of a frame that holds several. An entry that it refuses is left out, so that one bad
 * entry does not hold up the good ones for ever; where none is good, the first refusal is thrown.
 */
export function eachReadable<Entry, Result>(entries: readonly Entry[], read: (entry: Entry) => Result): Result[] {
  const results: Result[] = []
  let refusal: DecodeError | undefined
  for (const entry of entries) {
    try {
      results.push(read(entry))
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      refusal ??= error
    }
  }
  if (refusal && results.length === 0) throw refusal
  return results
}
