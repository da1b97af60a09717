import { observations } from '../observe/observations.ts'
import { type DuplicateFilter, type MarkedRun, MOST_IN_RUN } from './duplicates.ts'
import { keys } from './keys.ts'
import { slicesOf } from './record.ts'
import type { RunScript } from './redis.ts'

/**
 * Why fixes are held: their device is not configured, it has no route at their time, their time is in the future, or they are off
 * the track of the device.
 */
export const HOLD_REASONS = ['unknown', 'no_route', 'clock', 'suspicious'] as const
export type HoldReason = (typeof HOLD_REASONS)[number]

/** Records of one device for one place, as `packRecords` makes them: a lane, or what is held for a reason. */
export type Part = { readonly lane: string; readonly device: string; readonly records: Buffer } | HeldPart

interface HeldPart {
  readonly held: HoldReason
  readonly device: string
  readonly records: Buffer
  /** Whether they came over a connection: its sender has the address that it says it has. A datagram's may be forged. */
  readonly isProven: boolean
  /** When they may belong somewhere else, or are too old, ms UTC: then they are looked at again. */
  readonly lookAt: number
  /** By which version of the roster they are held: where that is not the last one, they are looked at at once. */
  readonly rosterVersion: number
}

/** What may be stored beside waiting fixes, so that it cannot take the memory that these need. */
export interface MemoryShares {
  /** Bytes of marks of duplicates. */
  markBytes: number
  heldFixes: number
  /** Bytes of frames that were not understood. */
  misunderstoodBytes: number
}

export interface AppenderOptions {
  readonly maxWaitMs: number
  readonly shares: Readonly<MemoryShares>
  /** null: duplicates are stored like other fixes. */
  readonly duplicates: DuplicateFilter | null
  readonly hold: HoldLimits
}

export interface HoldLimits {
  /** Of a device that is not configured: beyond it, its fixes are refused. */
  readonly maxFixesPerDevice: number
  /** Of a configured device, for each reason: beyond it, the oldest are discarded, first those of unproven senders. */
  readonly maxFixesConfigured: number
  /** Unproven senders have half of the places. */
  readonly maxUnknownDevices: number
}

/** A list whose entries may leave it. */
export interface RecordSource {
  readonly list: string
  /** The zset that has the list's name while it is not empty. */
  readonly index: string
  readonly name: string
  /** Of the lease, where the list is a lane's own. */
  readonly token?: string
}

interface StoreCall {
  readonly parts: readonly Part[]
  /** What the custody account counts in the same step. */
  readonly counters: Map<string, number>
  /** The entries that leave a list in the same step: their positions, from 0, and the entries as they were read there. */
  readonly from?: RecordSource & { readonly entries: readonly (readonly [position: number, entry: Buffer])[] }
}

/**
 * Stores records in one step, and takes others out of a list where the call says so. Answers what it left out: duplicates of
 * a part, or −1 where its device is not configured and has used up its places; null where the list is not as it was read, or
 * the lease was lost: then nothing has changed.
 */
export async function storeRecords(
  run: RunScript,
  { maxWaitMs, duplicates, hold, shares }: AppenderOptions,
  { parts, counters, from }: StoreCall,
): Promise<{ part: number; duplicates: number }[] | null> {
  await duplicates?.prepare()
  const turn = duplicates?.turn ?? ''
  const { bytes, marks = '', unkeyed = '', partOfRun, leftOut } = packGroup(parts, duplicates, Date.now())
  for (const left of leftOut) add(counters, 'filtered:duplicate', left.duplicates)
  const filter = [duplicates?.gateway ?? '', turn, duplicates?.keepMs ?? 0, shares.markBytes, marks, unkeyed]
  // What was acknowledged once is never refused.
  const { MAX_SAFE_INTEGER: unlimited } = Number
  const { maxFixesPerDevice, maxUnknownDevices, maxFixesConfigured } = hold
  const bounds = from
    ? [unlimited, unlimited, maxFixesConfigured, unlimited]
    : [maxFixesPerDevice, maxUnknownDevices, maxFixesConfigured, shares.heldFixes]
  const args = [bytes, maxWaitMs, ...filter, ...bounds, counters.size, ...[...counters].flat()]
  let answer: unknown = null
  try {
    answer = await (from
      ? run('move', [...KEYS, from.list, from.index], [...args, from.name, from.token ?? '', ...from.entries.flat()])
      : run('append', KEYS, args))
  } finally {
    if (!answer) for (const { device } of parts) duplicates?.failed(device)
  }
  if (!answer) return null
  const [ofRuns, latest, storedIn, unmarked, overflowed] = answer as [number[], number[], Buffer, number[], number[]]
  const storedTurn = storedIn.toString()
  if (duplicates && duplicates.turn !== storedTurn) duplicates.beginTurn(storedTurn)
  for (let i = 0; i < latest.length; i += 2) duplicates?.learn(parts[partOfRun[latest[i]]].device, latest[i + 1])
  for (const each of unmarked) observations.note('marks_full', { subject: { device: parts[partOfRun[each]].device } })
  for (let i = 0; i < ofRuns.length; i += 2) leftOut.push({ part: partOfRun[ofRuns[i]], duplicates: ofRuns[i + 1] })
  for (const each of overflowed) observations.note('held_full', { subject: { device: parts[partOfRun[each]].device } })
  return leftOut
}

/** Adds to a counter. */
export function add(counters: Map<string, number>, name: string, amount: number): void {
  if (amount !== 0) counters.set(name, (counters.get(name) ?? 0) + amount)
}

/** Parts as store.lua reads them: runs. `leftOut`: records that repeat others of the same part. `now`: ms UTC. */
function packGroup(parts: readonly Part[], filter: DuplicateFilter | null, now: number) {
  const chunks: Buffer[] = []
  const marked: Buffer[] = []
  let markedCount = 0
  const partOfRun: number[] = []
  const leftOut: { part: number; duplicates: number }[] = []
  for (const [index, part] of parts.entries()) {
    const [kind, place, look] = 'lane' in part ? ['L', part.lane, ''] : [kindOf(part), part.device, lookOf(part)]
    const split = 'lane' in part ? filter?.split(part.device, part.records, now) : undefined
    if (split && split.duplicates > 0) leftOut.push({ part: index, duplicates: split.duplicates })
    const runs: Iterable<PackedRun> = split?.runs ?? slicesOf(part.records, MOST_IN_RUN)
    for (const { name = look, flags = 0, count, records } of runs) {
      const head = Buffer.allocUnsafe(10 + 4 * (place.length + name.length))
      let at = head.write(kind, 0, 'latin1')
      at += 1 + (head[at] = head.write(place, at + 1))
      at += 1 + (head[at] = head.write(name, at + 1))
      head[at++] = flags
      at = head.writeUInt16BE(count, at)
      chunks.push(head.subarray(0, at), records)
      partOfRun.push(index)
      if (!split) continue
      marked.push(records)
      markedCount += count
    }
  }
  const marks = filter?.marksOf(Buffer.concat(marked), markedCount, now)
  return { bytes: Buffer.concat(chunks), ...marks, partOfRun, leftOut }
}

/** A run with or without marks. */
type PackedRun = Pick<MarkedRun, 'records' | 'count'> & Partial<MarkedRun>

/** In lower case: of unproven senders. */
function kindOf({ held, isProven }: HeldPart): string {
  return isProven ? KINDS[held] : KINDS[held].toLowerCase()
}

function lookOf({ lookAt, rosterVersion }: HeldPart): string {
  return `${Math.round(lookAt)} ${rosterVersion}`
}

const KINDS = { unknown: 'U', no_route: 'N', clock: 'C', suspicious: 'S' } satisfies Record<HoldReason, string>
/** The keys that store.lua touches; those of a list follow. */
const KEYS = [
  keys.schedule,
  keys.custody,
  keys.lane(''),
  keys.heldDevices(''),
  keys.marksPrefix,
  keys.unkeyedMarksPrefix,
  keys.markExpiries,
  keys.markBytes,
  keys.heldFixes,
  keys.roster('version'),
  keys.latestSpans,
  keys.storing,
  keys.parked,
  keys.ahead,
]
