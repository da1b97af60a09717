import { grouped } from './grouped.ts'
import { keys } from './keys.ts'
import { metrics } from '../observe/metrics.ts'
import { type Redis, scripts } from './redis.ts'

/** Records of one lane, as `packRecords` makes them. */
export interface LaneRecords {
  readonly lane: string
  readonly records: Buffer
}

/** What one frame leaves behind: its records, and what the custody account counts with them. */
export interface Storable {
  readonly parts: readonly LaneRecords[]
  /** Fixes, the filtered ones included. */
  readonly received: number
  /** One reason for each fix that is not stored. */
  readonly filtered: readonly string[]
}

export interface Appender {
  /** Resolves once every record is on disk in Redis. Rejects where that is not certain: then nothing may be acknowledged. */
  append(item: Storable): Promise<void>
  /** Counts fixes of which none needs storing; the numbers travel with the next group, or within a second. */
  count(filtered: readonly string[]): void
  /** Resolves when what was counted is in Redis, or cannot be. */
  close(): Promise<void>
}

/** The gateway's end of the lanes: everything that arrived while the previous append was away leaves in one script call. */
export function createAppender(redis: Redis, maxWaitMs: number): Appender {
  const run = scripts(redis)
  let counted = new Map<string, number>()

  async function store(items: Storable[]): Promise<void[]> {
    const counters = counted
    counted = new Map()
    try {
      for (const { received, filtered } of items) tally(counters, received, filtered)
      const group = packGroup(items)
      metrics.appends.inc({})
      await run('append', [keys.schedule, keys.custody, keys.lanePrefix], [maxWaitMs, group, ...[...counters].flat()])
    } catch (error) {
      for (const { received, filtered } of items) tally(counters, -received, filtered, -1)
      for (const [name, amount] of counters) add(counted, name, amount)
      throw error
    }
    return Array<void>(items.length)
  }

  const append = grouped(store, { inFlight: 2, maxWeight: GROUP_BYTES, weigh })
  const flush = async () => {
    if (counted.size > 0) await store([]).catch(() => {})
  }
  const timer = setInterval(() => void flush(), 1000).unref()
  return {
    append,
    count: (filtered) => tally(counted, filtered.length, filtered),
    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}

const GROUP_BYTES = 1 << 19

function weigh({ parts }: Storable): number {
  let bytes = 0
  for (const { records } of parts) bytes += records.length
  return bytes
}

function tally(counters: Map<string, number>, received: number, filtered: readonly string[], sign = 1): void {
  add(counters, 'received', received)
  for (const reason of filtered) add(counters, `filtered:${reason}`, sign)
}

function add(counters: Map<string, number>, name: string, amount: number): void {
  const sum = (counters.get(name) ?? 0) + amount
  if (sum === 0) counters.delete(name)
  else counters.set(name, sum)
}

/** The group as `append.lua` reads it, the records of a lane together and in order. */
function packGroup(items: readonly Storable[]): Buffer {
  const lanes = new Map<string, Buffer[]>()
  for (const { parts } of items)
    for (const { lane, records } of parts) {
      const together = lanes.get(lane)
      if (together) together.push(records)
      else lanes.set(lane, [records])
    }
  const chunks: Buffer[] = []
  for (const [lane, together] of lanes) chunks.push(head(lane, together), ...together)
  return Buffer.concat(chunks)
}

function head(lane: string, records: readonly Buffer[]): Buffer {
  const bytes = Buffer.allocUnsafe(1 + lane.length + 4)
  bytes[0] = lane.length
  bytes.write(lane, 1, 'latin1')
  bytes.writeUInt32BE(
    records.reduce((sum, { length }) => sum + length, 0),
    1 + lane.length,
  )
  return bytes
}
