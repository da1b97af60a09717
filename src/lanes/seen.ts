/*
 * What was stored lately, against repeats: a device whose answer was lost sends again, and may do so over another
 * connection, another gateway, a day later, or with other fixes in between.
 *
 * For each device and 2,048 seconds of its fixes' own time there is a set of integers, one a fix: 11 bits of its time, 41 of
 * a hash of its place. Redis keeps such a set as a sorted array of 8 bytes a member (`intset`). It is forgotten when nothing
 * was added for the window.
 *
 * A fix newer than all that its device ever sent cannot be a repeat: it is remembered without a look-up. What the newest one
 * was this process knows by itself: of before its start only that it was no further ahead than `maxFuture` allows. While
 * other gateways live around the same Redis nothing is known, and everything is looked up.
 */
import { timestampOf } from './record.ts'

/** Records of one device within 2,048 s, and how they are remembered. */
export interface SeenRun {
  /** `<device>:<2,048 s>` */
  readonly set: string
  readonly members: readonly string[]
  readonly records: Buffer
  /** Whether some may be repeats. */
  readonly lookUp: boolean
  /** Whether the set may have been made long ago, or is new, so that it has to be kept for the whole window from now. */
  readonly keep: boolean
}

export interface Seen {
  /** ms for which a fix is remembered. */
  readonly windowMs: number
  /** Splits a device's records; `duplicates` counts those that this very call repeats. `now`: ms UTC. */
  runs(device: string, records: Buffer, now: number): { readonly runs: SeenRun[]; readonly duplicates: number }
  /** Forgets what it knows of newest fixes: another process may have stored newer ones up to now, ms UTC. */
  reset(now: number): void
}

export interface SeenOptions {
  readonly windowMs: number
  readonly maxFutureMs: number
  /** Whether no other process may be storing. */
  readonly alone: () => boolean
}

/** @param options.windowMs at least as long as `keep` may be late: two hours are added */
export function createSeen({ windowMs, maxFutureMs, alone }: SeenOptions): Seen {
  const newest = new Map<string, number>()
  let unknownUntil = 0

  function reset(now: number): void {
    newest.clear()
    unknownUntil = Math.ceil((now + maxFutureMs) / 1000)
  }

  reset(Date.now())
  return {
    windowMs: windowMs + SLACK_MS,
    reset,
    runs(device, records, now) {
      const before = newest.get(device) ?? unknownUntil
      const known = alone()
      const runs: Mutable[] = []
      const all = new Set<string>()
      let latest = before
      let duplicates = 0
      for (let at = 0; at < records.length; at += records[at]) {
        const record = records.subarray(at, at + records[at])
        const time = timestampOf(record)
        const member = memberOf(record, time)
        const set = `${device}:${time >>> SET_BITS}`
        if (all.has(set + member)) {
          duplicates++
          continue
        }
        all.add(set + member)
        const run = runFor(runs, set)
        run.members.push(member)
        run.records.push(record)
        run.lookUp ||= !known || time <= before
        run.keep ||= now / 1000 - time > LIVE_S || time >>> SET_BITS !== latest >>> SET_BITS
        if (time > latest) latest = time
      }
      if (latest > before) newest.set(device, latest)
      return { runs: runs.map(finished), duplicates }
    },
  }
}

interface Mutable {
  readonly set: string
  readonly members: string[]
  readonly records: Buffer[]
  lookUp: boolean
  keep: boolean
}

/** The last run where it is of this set, else a new one: order is kept. */
function runFor(runs: Mutable[], set: string): Mutable {
  const last = runs.at(-1)
  if (last && last.set === set && last.members.length < MOST_IN_RUN) return last
  const run = { set, members: [], records: [], lookUp: false, keep: false }
  runs.push(run)
  return run
}

function finished({ records, ...run }: Mutable): SeenRun {
  return { ...run, records: Buffer.concat(records) }
}

/** 16 digits, below 2^53: Lua and Redis both keep it exactly. */
function memberOf(record: Buffer, time: number): string {
  const latitude = record.readInt32BE(11)
  const longitude = record.readInt32BE(15)
  const low = mix(latitude, longitude) >>> 0
  const high = mix(longitude ^ 0x5bd1e995, latitude) & 0x1ff
  return String(SIXTEEN_DIGITS + ((time & (2 ** SET_BITS - 1)) * 2 ** 9 + high) * 2 ** 32 + low)
}

/** Two words to one, every bit of both in every bit of it (the finish of MurmurHash3). */
function mix(a: number, b: number): number {
  let hash = Math.imul(a, 0xcc9e2d51) ^ Math.imul((b << 13) | (b >>> 19), 0x1b873593)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

const SET_BITS = 11
const SIXTEEN_DIGITS = 1e15
/** A fix that is older than this at its arrival may come to a set that was made long before. */
const LIVE_S = 3600
/** How much later than its making a set may get its last live fix: its 2,048 s, an hour, and clocks that are ahead. */
const SLACK_MS = 7_200_000
/** What Lua hands over to one command. */
const MOST_IN_RUN = 1000
