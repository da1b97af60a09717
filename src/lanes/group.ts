import { slicesOf } from './record.ts'
import type { Seen } from './seen.ts'

/** Why fixes are held: nobody configured their device, no route at their time, or a time in the future. */
export type HoldReason = 'unknown' | 'no_route' | 'clock'

/** Records of one device for one place, as `packRecords` makes them: a lane, or what is held for a reason. */
export type Part =
  | { readonly lane: string; readonly device: string; readonly records: Buffer }
  | { readonly held: HoldReason; readonly device: string; readonly records: Buffer }

/** A group as `store.lua` reads it. */
export interface Group {
  readonly bytes: Buffer
  /** For each run, the number of its part in the call. */
  readonly partOfRun: readonly number[]
  /** For each part, how many of its records repeat others of the same part. */
  readonly duplicates: readonly number[]
}

/** Packs parts in their order; what lanes get is remembered in `seen`, where that is not null. `now`: ms UTC. */
export function packGroup(parts: readonly Part[], seen: Seen | null, now: number): Group {
  const chunks: Buffer[] = []
  const partOfRun: number[] = []
  const duplicates: number[] = []
  const add = (index: number, before: Buffer, records: Buffer) => {
    chunks.push(before, records)
    partOfRun.push(index)
  }
  for (const [index, part] of parts.entries()) {
    duplicates.push(0)
    if ('lane' in part && seen) {
      const split = seen.runs(part.device, part.records, now)
      duplicates[index] = split.duplicates
      for (const { name, marks, count, records, lookUp, keep, ask } of split.runs) {
        const flags = (lookUp ? 1 : 0) + (keep ? 2 : 0) + (ask ? 4 : 0)
        add(index, head('L', part.lane, { name, marks, flags, count, bytes: records.length }), records)
      }
    } else {
      const [kind, name] = 'lane' in part ? ['L', part.lane] : [KINDS[part.held], part.device]
      for (const { records, count } of slicesOf(part.records, MOST_IN_RUN))
        add(index, head(kind, name, { name: '', marks: NONE, flags: 0, count, bytes: records.length }), records)
    }
  }
  return { bytes: Buffer.concat(chunks), partOfRun, duplicates }
}

const KINDS = { unknown: 'U', no_route: 'N', clock: 'C' } satisfies Record<HoldReason, string>
const MOST_IN_RUN = 1000

const NONE = Buffer.alloc(0)

interface Run {
  readonly name: string
  readonly marks: Buffer
  readonly flags: number
  readonly count: number
  readonly bytes: number
}

function head(kind: string, place: string, { name, marks, flags, count, bytes }: Run): Buffer {
  const packed = Buffer.allocUnsafe(10 + 4 * (place.length + name.length) + marks.length)
  let at = packed.write(kind, 0, 'latin1')
  at += 1 + (packed[at] = packed.write(place, at + 1))
  at += 1 + (packed[at] = packed.write(name, at + 1))
  packed[at++] = flags
  at = packed.writeUInt16BE(count, at)
  at += marks.copy(packed, at)
  return packed.subarray(0, packed.writeUInt32BE(bytes, at))
}
