import type { Shard, Store } from './shards.ts'

/*
 * What was delivered to a lane, of fixes of one local day: about 100 bytes.
 *
 *   FFFF LLLL RRRR AAAA ZZZZ [B CCCC]…
 *
 *   F  fixes delivered                     A, Z  times of the first and the last of them, unix seconds
 *   L  of these, late when they arrived    B, C  a bucket of delays, and how many fixes are in it; by rising buckets
 *   R  of these, delivered again
 *
 * All big-endian; lua/lane_days.lua adds two of them up. Each bucket of delays ends 19 % above the one before.
 */

/** Figures of the deliveries to a lane, for fixes of one local day. */
export interface LaneDay {
  readonly fixes: number
  /** Of the fixes, those that arrived late. */
  readonly late: number
  /** Number of fixes that were redelivered to the lane where they belong. */
  readonly redelivered: number
  /** Times of the first and the last fix, unix seconds. */
  readonly first: number
  readonly last: number
  /** Bucket of `delayBucket` → number of fixes, without those that were delivered again. */
  readonly delays: ReadonlyMap<number, number>
}

type OfLane = readonly [lane: string, figures: LaneDay]

/**
 * Adds to what was delivered to lanes, of a local day, by when it begins (ms UTC). It is kept for 33 days. Resolves to what Redis
 * did not take: one shard may be away.
 */
export async function addLaneDays(redis: Store, day: number, lanes: ReadonlyMap<string, LaneDay>): Promise<OfLane[]> {
  const byShard = Map.groupBy(lanes, ([lane]) => redis.shardOf(lane))
  const left = await Promise.all(Array.from(byShard, ([shard, own]) => addIn(shard, day, own)))
  return left.flat()
}

async function addIn(shard: Shard, day: number, lanes: readonly OfLane[]): Promise<readonly OfLane[]> {
  const key = shard.keyNames.laneDays(day)
  for (let at = 0; at < lanes.length; at += SLICE) {
    const figures = lanes.slice(at, at + SLICE).flatMap(([lane, figure]) => [lane, packed(figure)])
    try {
      await shard.run('lane_days', [key], [KEPT_S, ...figures])
    } catch {
      return lanes.slice(at)
    }
  }
  return []
}

/**
 * Resolves to the deliveries to each lane for a local day, by its begin (ms UTC). Asks all shards, because figures from when
 * there were fewer shards stay in their old shard. Reads in slices, between which Redis does other work.
 */
export async function readLaneDays(redis: Store, day: number): Promise<Map<string, LaneDay>> {
  const found = new Map<string, LaneDay>()
  for (const shard of redis.shards) {
    const own = new Map<string, LaneDay>()
    for await (const slice of shard.hscanBufferStream(shard.keyNames.laneDays(day), { count: SLICE }) as AsyncIterable<
      Buffer[]
    >)
      for (let at = 0; at < slice.length; at += 2) own.set(slice[at].toString(), unpacked(slice[at + 1]))
    for (const [lane, figures] of own) found.set(lane, joined(found.get(lane), figures))
  }
  return found
}

/** The sum of two figures of a lane and a day. */
export function joined(one: LaneDay | undefined, other: LaneDay): LaneDay {
  if (!one) return other
  const delays = new Map(one.delays)
  for (const [bucket, count] of other.delays) delays.set(bucket, (delays.get(bucket) ?? 0) + count)
  return {
    fixes: one.fixes + other.fixes,
    late: one.late + other.late,
    redelivered: one.redelivered + other.redelivered,
    first: Math.min(one.first, other.first),
    last: Math.max(one.last, other.last),
    delays,
  }
}

function packed({ fixes, late, redelivered, first, last, delays }: LaneDay): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES + delays.size * PAIR_BYTES)
  for (const [index, value] of [fixes, late, redelivered, first, last].entries()) bytes.writeUInt32BE(value, index * 4)
  let at = HEAD_BYTES
  for (const [bucket, count] of delays) {
    bytes.writeUInt32BE(count, bytes.writeUInt8(bucket, at))
    at += PAIR_BYTES
  }
  return bytes
}

function unpacked(bytes: Buffer): LaneDay {
  const [fixes, late, redelivered, first, last] = [0, 4, 8, 12, 16].map((at) => bytes.readUInt32BE(at))
  const delays = new Map<number, number>()
  for (let at = HEAD_BYTES; at < bytes.length; at += PAIR_BYTES) delays.set(bytes[at], bytes.readUInt32BE(at + 1))
  return { fixes, late, redelivered, first, last, delays }
}

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
const HEAD_BYTES = 20
const PAIR_BYTES = 5
/** To add up so many takes Redis a millisecond. */
const SLICE = 100
const KEPT_S = 33 * 86_400
