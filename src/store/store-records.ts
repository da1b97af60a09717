import { observations } from '../observe/observations.ts'
import { type DuplicateFilter, type MarkedRun, MOST_IN_RUN } from './duplicates.ts'
import { chunksOf } from './kept-chunks.ts'
import type { ShardKeys } from './keys.ts'
import { dueAfter } from './lease.ts'
import { type CopiedPart, type HoldReason, type Part, slicesOf } from './record.ts'
import type { Shard } from './shards.ts'

/** Bounds of data other than waiting fixes, so that these keep enough memory. */
export interface MemoryShares {
  /** Bytes of marks of duplicates. */
  markBytes: number
  heldFixes: number
  /** Bytes of frames that were not understood. */
  misunderstoodBytes: number
}

/** Limits and shares are those of one shard. */
export interface AppenderOptions {
  readonly maxWaitMs: number
  readonly shares: Readonly<MemoryShares>
  /** null: duplicates are stored like other fixes. */
  readonly duplicates: DuplicateFilter | null
  readonly hold: HoldLimits
}

export interface HoldLimits {
  /** For a device that is not configured: fixes beyond this number are refused. */
  readonly maxFixesPerDevice: number
  /**
   * For a configured device and each reason: beyond this number the oldest are discarded, first those of unproven
   * senders.
   */
  readonly maxFixesConfigured: number
  /** The most unknown devices with held fixes; unproven senders may use half of these places. */
  readonly maxUnknownDevices: number
}

/** A list from which entries may move. */
export interface RecordSource {
  readonly list: string
  /** The zset that has the list's name while it is not empty. */
  readonly index: string
  readonly name: string
  /** The token of the lease, if the list is that of a lane. */
  readonly token?: string
}

/**
 * Records of a part that were not stored: the number of duplicates; −1 if its device is not configured and all places are in
 * use.
 */
export interface LeftOut {
  readonly part: number
  readonly duplicates: number
}

interface StoreCall {
  readonly parts: readonly Part[]
  /** Counts for the custody account, added in the same step. */
  readonly counters: Map<string, number>
  /** Entries that leave a list in the same step: their positions, from 0, and their content when they were read. */
  readonly from?: RecordSource & {
    readonly entries: readonly (readonly [position: number, entry: Buffer])[]
    /** The records of these that had been delivered to another lane, and are not delivered to this one. */
    readonly withdrawn: readonly Buffer[]
  }
}

/**
 * Stores records in a shard in one step, and optionally removes others from a list. Resolves to what was left out; null if
 * the list has changed since it was read, or the lease was lost: then nothing has changed.
 */
export async function storeRecords(
  shard: Shard,
  { maxWaitMs, duplicates: filter, hold, shares }: AppenderOptions,
  call: StoreCall,
): Promise<LeftOut[] | null> {
  const { parts, counters, from } = call
  const [keys, duplicates] = [shard.keyNames, filter?.in(shard) ?? null]
  if (duplicates?.isPrepared === false) await duplicates.prepare()
  const turn = duplicates?.turn ?? ''
  const { bytes, marks = '', partOfRun, leftOut } = packGroup(parts, duplicates, Date.now())
  for (const left of leftOut) add(counters, 'filtered:duplicate', left.duplicates)
  const ofFilter = [duplicates?.gateway ?? '', turn, duplicates?.keepMs ?? 0, shares.markBytes, marks]
  const { maxFixesPerDevice, maxUnknownDevices, heldFixes } = from ? UNLIMITED : { ...hold, ...shares }
  const bounds = [maxFixesPerDevice, maxUnknownDevices, hold.maxFixesConfigured, heldFixes]
  const ownKeys = from ? [from.list, from.index] : []
  const ownArgs = from
    ? [from.name, from.token ?? '', chunksOf(Buffer.concat(from.withdrawn)), ...from.entries.flat()]
    : []
  const args = [bytes, dueAfter(maxWaitMs), ...ofFilter, ...bounds, counters.size, ...[...counters].flat(), ...ownArgs]
  let answer: unknown = null
  try {
    answer = await shard.run(from ? 'move' : 'append', [...TOUCHED.map((name) => keys[name]), ...ownKeys], args)
  } finally {
    if (!answer) for (const { device } of parts) duplicates?.failed(device)
  }
  if (!answer) return null
  const [ofRuns, latest, storedIn, unmarked, overflowed] = answer as StoreAnswer
  const storedTurn = storedIn.toString()
  if (duplicates && duplicates.turn !== storedTurn) duplicates.beginTurn(storedTurn)
  for (let i = 0; i < latest.length; i += 2) duplicates?.learn(parts[partOfRun[latest[i]]].device, latest[i + 1])
  for (const each of unmarked) observations.note('marks_full', { subject: { device: parts[partOfRun[each]].device } })
  for (let i = 0; i < ofRuns.length; i += 2) leftOut.push({ part: partOfRun[ofRuns[i]], duplicates: ofRuns[i + 1] })
  for (const each of overflowed) observations.note('held_full', { subject: { device: parts[partOfRun[each]].device } })
  return leftOut
}

type StoreAnswer = [number[], number[], Buffer, number[], number[]]

/** Packs parts as runs for store.lua. `leftOut`: records that repeat others of the same part. `now`: ms UTC. */
function packGroup(parts: readonly Part[], filter: DuplicateFilter | null, now: number) {
  const [runs, marked]: [MarkedRun[], MarkedRun[]] = [[], []]
  const partOfRun: number[] = []
  const leftOut: LeftOut[] = []
  let size = 0
  // Without `entries`, which makes two objects for each of the many parts.
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]
    const place = 'lane' in part ? part.lane : part.device
    const split = 'lane' in part ? filter?.split(part.device, part.records, now) : undefined
    if (split && split.duplicates > 0) leftOut.push({ part: index, duplicates: split.duplicates })
    if (split) marked.push(...split.runs)
    for (const run of split?.runs ?? runsWithoutMarks(part)) {
      runs.push(run)
      partOfRun.push(index)
      const { logs = '', head } = part.copied ?? {}
      const texts = MAX_CHAR_BYTES * (place.length + run.name.length + logs.length)
      size += MAX_HEAD_BYTES + texts + (head?.length ?? 0) + run.records.length
    }
  }
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (let index = 0; index < runs.length; index++) {
    const { name, flags, count, records } = runs[index]
    const part = parts[partOfRun[index]]
    const kind = 'lane' in part ? 'L' : KINDS[part.held]
    bytes[at++] = (part.isProven === false ? kind.toLowerCase() : kind).charCodeAt(0)
    at += 1 + (bytes[at] = bytes.write('lane' in part ? part.lane : part.device, at + 1))
    at += 1 + (bytes[at] = bytes.write(name, at + 1))
    at += writeCopied(part.copied, bytes, at)
    bytes[at] = flags
    bytes.writeUInt16BE(count, at + 1)
    bytes.set(records, at + 3)
    at += 3 + records.length
  }
  return { bytes: bytes.subarray(0, at), marks: filter?.marksOf(marked), partOfRun, leftOut }
}

/** Writes what copies get of a run at a position. Returns how many bytes it takes. */
function writeCopied(copied: CopiedPart | undefined, bytes: Buffer, at: number): number {
  if (!copied) {
    bytes[at] = 0
    return 1
  }
  const { logs, head, ownLength } = copied
  const length = (bytes[at] = bytes.write(logs, at + 1))
  bytes[at + 1 + length] = ownLength
  bytes[at + 2 + length] = head.length
  bytes.set(head, at + 3 + length)
  return 3 + length + head.length
}

/** `name`: in place of that of the marks the device, or when held records are looked at. */
function runsWithoutMarks(part: Part): MarkedRun[] {
  const name = 'lane' in part ? `${part.device}:` : `${Math.round(part.lookAt)} ${part.rosterVersion}`
  return Array.from(slicesOf(part.records, MOST_IN_RUN), (slice) => ({ ...slice, name, flags: 0 }))
}

export function add(counters: Map<string, number>, name: string, amount: number): void {
  if (amount !== 0) counters.set(name, (counters.get(name) ?? 0) + amount)
}

const { MAX_SAFE_INTEGER: MOST } = Number
/** Limits for records that were acknowledged before, which are never refused. */
const UNLIMITED = { maxFixesPerDevice: MOST, maxUnknownDevices: MOST, heldFixes: MOST }
/** The most bytes that precede the records of a run, without its texts; the most bytes of a character in UTF-8. */
const MAX_HEAD_BYTES = 9
const MAX_CHAR_BYTES = 3
const KINDS = { unknown: 'U', no_route: 'N', clock: 'C', suspicious: 'S' } satisfies Record<HoldReason, string>

/** The keys of store.lua, in order; the keys of a list follow. */
const TOUCHED = [
  'schedule',
  'custody',
  'lanePrefix',
  'heldPrefix',
  'marksPrefix',
  'markExpiries',
  'markBytes',
  'heldFixes',
  'rosterVersion',
  'latestSpans',
  'storing',
  'parked',
  'ahead',
  'releasing',
  'clock',
  'copiedPrefix',
  'copiedEntries',
  'copiedFixes',
  'keptPrefix',
  'keptHours',
] as const satisfies readonly (keyof ShardKeys)[]
