import { type DuplicateFilter, type MarkedRun, MOST_IN_RUN } from './duplicates.ts'
import { type HeldPart, type HoldReason, type Part, slicesOf } from './record.ts'

/** What was left out of a part: duplicates, or −1 where its device is not configured and has used up its places. */
export interface LeftOut {
  readonly part: number
  readonly duplicates: number
  readonly releasedBy?: number
}

/** Parts as store.lua reads them: runs. `leftOut`: records that repeat others of the same part. `now`: ms UTC. */
export function packGroup(parts: readonly Part[], filter: DuplicateFilter | null, now: number) {
  const marked: MarkedRun[] = []
  const runs: PackedRun[] = []
  const leftOut: LeftOut[] = []
  let size = 0
  for (const [index, part] of parts.entries()) {
    const [kind, place, look] = 'lane' in part ? laneHead(part) : heldHead(part)
    const split = 'lane' in part ? filter?.split(part.device, part.records, now) : undefined
    if (split && split.duplicates > 0) leftOut.push({ part: index, duplicates: split.duplicates })
    if (split) marked.push(...split.runs)
    const slices: Iterable<Pick<MarkedRun, 'records' | 'count'> & Partial<MarkedRun>> =
      split?.runs ?? slicesOf(part.records, MOST_IN_RUN)
    for (const { name = look, flags = 0, count, records } of slices) {
      runs.push({ part: index, kind, place, name, flags, count, records })
      size += MAX_HEAD_BYTES + MAX_CHAR_BYTES * (place.length + name.length) + records.length
    }
  }
  const bytes = Buffer.allocUnsafe(size)
  const end = runs.reduce((at, run) => writeRun(bytes, at, run), 0)
  const partOfRun = runs.map(({ part }) => part)
  return { bytes: bytes.subarray(0, end), ...filter?.marksOf(marked, now), partOfRun, leftOut }
}

/** `name`: of the marks, or of the device, or when held records are looked at. */
interface PackedRun extends MarkedRun {
  readonly part: number
  readonly kind: string
  readonly place: string
}

/** Answers where the run ends. */
function writeRun(bytes: Buffer, start: number, { kind, place, name, flags, count, records }: PackedRun): number {
  bytes[start] = kind.charCodeAt(0)
  let at = start + 1
  at += 1 + (bytes[at] = bytes.write(place, at + 1))
  at += 1 + (bytes[at] = bytes.write(name, at + 1))
  bytes[at] = flags
  at = bytes.writeUInt16BE(count, at + 1)
  bytes.set(records, at)
  return at + records.length
}

/** How a run of a lane begins, as store.lua says: its kind, its lane, and the device of its marks. */
function laneHead({ device, isProven, lane }: Exclude<Part, HeldPart>): [string, string, string] {
  return [isProven === false ? 'l' : 'L', lane, `${device}:`]
}

/** How a run of held records begins: its kind, its device, and when they are looked at again. */
function heldHead({ device, held, isProven, lookAt, rosterVersion }: HeldPart): [string, string, string] {
  return [isProven ? KINDS[held] : KINDS[held].toLowerCase(), device, `${Math.round(lookAt)} ${rosterVersion}`]
}

/** The most bytes that precede the records of a run, without its two texts. */
const MAX_HEAD_BYTES = 6
/** In UTF-8, of a text's length. */
const MAX_CHAR_BYTES = 3
const KINDS = { unknown: 'U', no_route: 'N', clock: 'C', suspicious: 'S' } satisfies Record<HoldReason, string>
