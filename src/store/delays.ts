/*
 * A histogram of delays: a bucket is a range of them, and each ends 19 % above the one before.
 */

/** Returns the histogram bucket of a delay, ms. */
export function delayBucket(ms: number): number {
  if (ms <= LEAST_DELAY_MS) return 0
  return Math.min(LAST_BUCKET, Math.ceil(Math.log2(ms / LEAST_DELAY_MS) * BUCKETS_AN_OCTAVE))
}

/** The delay in ms that a share of fixes did not exceed, to 9 %; null without fixes. */
export function delayOf(delays: ReadonlyMap<number, number>, share: number): number | null {
  const buckets = [...delays].toSorted(([one], [other]) => one - other)
  const wanted = buckets.reduce((sum, [, count]) => sum + count, 0) * share
  let seen = 0
  for (const [bucket, count] of buckets) {
    seen += count
    if (seen >= wanted) return LEAST_DELAY_MS * 2 ** (Math.max(0, bucket - 0.5) / BUCKETS_AN_OCTAVE)
  }
  return null
}

const LEAST_DELAY_MS = 250
const BUCKETS_AN_OCTAVE = 4
/** Delays of 40 days and more. */
const LAST_BUCKET = 95
