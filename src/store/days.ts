import { yieldToEventLoop } from '../async.ts'
import type { Shard, Store } from './shards.ts'

/*
 * What is noted of a device and a local day: a bit for each minute and kind, and how many fixes came. The first two kinds take
 * 378 bytes, with the key half a kilobyte a device and day; the others are added where they occur.
 *
 *   23 bits fixes · 1 bit written · 16 bits late fixes · 1,492 bits a kind: of a day of 25 hours all but the last eight minutes
 */

/** The kinds of notes on a minute. `fix`: a fix of that time went to a lane; `held`: it is held; the others go by arrival. */
export const NOTED = ['fix', 'connected', 'filtered', 'held', 'not_stored'] as const
export type NotedKind = (typeof NOTED)[number]

/** A note: its kind, and the time that it is about, ms UTC. */
export type DayNote = readonly [kind: NotedKind, at: number]

/** New notes on a device and a day. */
export interface DayNotes {
  readonly device: string
  /** When the local day begins, ms UTC. */
  readonly day: number
  readonly notes: readonly DayNote[]
  readonly fixes: number
  readonly late: number
}

/** The shard that has the days of a device; those of the gateways (`''`) are in the home shard. */
export function dayShardOf(redis: Store, device: string): Shard {
  return device === '' ? redis : redis.shardOf(device)
}

/** Adds notes on devices of a shard, which are kept for 32 days. Rejects if Redis does not accept all. */
export async function addDayNotes(shard: Shard, some: readonly DayNotes[]): Promise<void> {
  const { day: keyOf } = shard.keyNames
  const writes = shard.pipeline()
  for (const { device, day, fixes, late, notes } of some) {
    const bits = runsOf(notes, day).flatMap(({ bit, length }) => ['SET', `u${length}`, bit, 2 ** length - 1])
    const counts = ['OVERFLOW', 'SAT', 'INCRBY', 'u23', 0, fixes, 'INCRBY', 'u16', 24, late]
    writes.call('BITFIELD', keyOf(day, device), ...FIRST, ...counts, ...bits)
  }
  const answers = (await writes.exec()) ?? []
  const expiries = shard.pipeline()
  for (const [at, [error, answer]] of answers.entries()) {
    if (error) throw error
    const [wasWritten] = answer as number[]
    if (!wasWritten) expiries.expire(keyOf(some[at].day, some[at].device), KEPT_S)
  }
  if (expiries.length > 0) await expiries.exec()
}

/** Bits that follow each other: a call for each would cost several times as much. */
function runsOf(notes: readonly DayNote[], day: number): { readonly bit: number; readonly length: number }[] {
  const runs: { bit: number; length: number }[] = []
  const bits = notes.flatMap(([kind, at]) => {
    const minute = Math.floor((at - day) / MINUTE_MS)
    return minute < MOST_MINUTES ? bitOf(kind, minute) : []
  })
  for (const bit of bits.toSorted((one, other) => one - other)) {
    const last = runs[runs.length - 1]
    if (last && bit < last.bit + last.length) continue
    if (last && bit === last.bit + last.length && last.length < LONGEST_RUN) last.length++
    else runs.push({ bit, length: 1 })
  }
  return runs
}

/** The notes on a device for one day. `late`: fixes that came long after their time. */
export interface NotedDay {
  readonly fixes: number
  readonly late: number
  /** @param minute of the day, from 0. The last eight of a day of 25 hours are as the one before them. */
  has(kind: NotedKind, minute: number): boolean
}

/**
 * Resolves to the notes on a device for some days, each by its begin, ms UTC. Asks all shards, because notes from when there
 * were fewer shards stay in their old shard.
 */
export async function readDays(redis: Store, device: string, days: readonly number[]): Promise<NotedDay[]> {
  return Promise.all(
    days.map(async (day) => {
      const parts = await redis.inShards((shard) => shard.getBuffer(shard.keyNames.day(day, device)))
      return notedIn(parts.filter((bytes) => bytes !== null))
    }),
  )
}

/**
 * Resolves to the notes on many devices for one day, by device, read in slices between which Redis does other work. Devices
 * without notes are left out.
 */
export async function readDayOf(redis: Store, devices: readonly string[], day: number): Promise<Map<string, NotedDay>> {
  const parts = new Map<string, Buffer[]>()
  await redis.inShards(async (shard) => {
    for (let at = 0; at < devices.length; at += READ_AT_ONCE) {
      const slice = devices.slice(at, at + READ_AT_ONCE)
      const reads = shard.pipeline()
      for (const device of slice) reads.getBuffer(shard.keyNames.day(day, device))
      for (const [index, [error, bytes]] of ((await reads.exec()) ?? []).entries()) {
        if (error) throw error
        if (bytes === null) continue
        const device = slice[index]
        parts.set(device, [...(parts.get(device) ?? []), bytes as Buffer])
      }
      await yieldToEventLoop()
    }
  })
  return new Map(Array.from(parts, ([device, own]) => [device, notedIn(own)]))
}

/** Combines the parts of a day from several shards. */
function notedIn(parts: readonly Buffer[]): NotedDay {
  const [only] = parts
  return {
    fixes: parts.reduce((sum, bytes) => sum + (bytes.readUIntBE(0, 3) >> 1), 0),
    late: parts.reduce((sum, bytes) => sum + bytes.readUInt16BE(3), 0),
    has(kind, minute) {
      const bit = bitOf(kind, Math.min(minute, MOST_MINUTES - 1))
      const byte = bit >> 3
      const mask = 0x80 >> (bit & 7)
      // Past the end of the bytes, all bits are 0.
      if (parts.length === 1) return (only[byte] & mask) !== 0
      return parts.some((bytes) => (bytes[byte] & mask) !== 0)
    },
  }
}

/** Deletes the notes on devices for some days, in all shards. */
export async function forgetDays(redis: Store, devices: Iterable<string>, days: readonly number[]): Promise<void> {
  const ids = [...devices]
  await redis.inShards((shard) =>
    shard.unlink(...ids.flatMap((device) => days.map((day) => shard.keyNames.day(day, device)))),
  )
}

function bitOf(kind: NotedKind, minute: number): number {
  return FIRST_BITS[kind] + minute
}

const MINUTE_MS = 60_000
const MOST_MINUTES = 1492
const HEAD_BITS = 40
const FIRST_BITS = Object.fromEntries(NOTED.map((kind, index) => [kind, HEAD_BITS + index * MOST_MINUTES])) as Readonly<
  Record<NotedKind, number>
>
/** Such a number is exact. */
const LONGEST_RUN = 50
/** Marks the day as written, and gives the string its usual length at once, because a growing string takes twice the memory. */
const FIRST = ['SET', 'u1', 23, 1, 'INCRBY', 'u1', HEAD_BITS + 2 * MOST_MINUTES - 1, 0]
const KEPT_S = 32 * 86_400
/** For how long the notes on a day are kept, from the beginning of that day. */
export const NOTES_KEPT_MS = KEPT_S * 1000
/** Devices whose days are read in one call, which takes Redis a third of a millisecond. */
const READ_AT_ONCE = 250
