/*
 * What was stored lately, against repeats: a device whose answer was lost sends again, and may do so over another
 * connection, another gateway, a day later, or with other fixes in between.
 *
 * For each device and 2,048 seconds (a span) of its fixes' own time there is a string of marks, 6 bytes a fix: 11 bits of its
 * time, 37 of a hash of its place. It is forgotten when nothing was added for the window. A hash has the latest span of each
 * device. Sets of integers would find a mark faster, but adding to them costs more, and that is what every fix pays.
 *
 * A fix newer than all that its device ever sent cannot be a repeat: it is remembered without a look-up. Of what came before
 * its start this process knows at first only that it was no further ahead than `maxFuture` allows, and asks with the device's
 * first frame for its latest span. While other gateways live around the same Redis nothing is known, and everything is
 * looked up.
 */
/** Records of one device within one span, and how they are remembered. */
export interface SeenRun {
  /** `<device>:<span>` */
  readonly name: string
  /** 6 bytes a record, in their order. */
  readonly marks: Buffer
  readonly count: number
  readonly records: Buffer
  /** Whether some may be repeats. */
  readonly lookUp: boolean
  /** Whether the string has to be kept for the whole window from now, and its span be noted if it is the device's latest. */
  readonly keep: boolean
  /** Whether the device's latest span, as it was before, is asked for. */
  readonly ask: boolean
}

export interface Seen {
  /** ms for which a string is kept. */
  readonly windowMs: number
  /** Splits a device's records; `duplicates` counts those that this very call repeats. `now`: ms UTC. */
  runs(device: string, records: Buffer, now: number): { readonly runs: readonly SeenRun[]; readonly duplicates: number }
  /** What was asked for: the device's latest span before; undefined where nothing of it was ever stored. */
  learn(device: string, latestSpan: number | undefined): void
  /** What was to be stored of a device may not have been: its string is kept again with the next frame. */
  unsure(device: string): void
  /** Forgets what it knows of newest fixes: another process may have stored newer ones up to now, ms UTC. */
  reset(now: number): void
}

export interface SeenOptions {
  /** ms for which a fix is remembered. */
  readonly windowMs: number
  readonly maxFutureMs: number
  /** Whether no other process may be storing. */
  readonly alone: () => boolean
}

export function createSeen({ windowMs, maxFutureMs, alone }: SeenOptions): Seen {
  const devices = new Map<string, Known>()
  let latestEver = 0

  function reset(now: number): void {
    devices.clear()
    latestEver = Math.ceil((now + maxFutureMs) / 1000)
  }

  function knownOf(device: string): Known {
    let known = devices.get(device)
    if (!known) devices.set(device, (known = { asked: false, before: latestEver, newest: -1, span: -1, keptAt: 0 }))
    return known
  }

  reset(Date.now())
  return {
    windowMs: windowMs + SLACK_MS,
    reset,
    runs(device, records, now) {
      const known = knownOf(device)
      const sure = alone()
      const ask = !known.asked
      known.asked = true
      const bound = Math.max(known.before, known.newest)
      const runs: SeenRun[] = []
      const { records: unique, duplicates } = withoutRepeats(records)
      for (let at = 0; at < unique.length; ) {
        const from = at
        const span = timeAt(unique, at) >>> SPAN_BITS
        let [count, oldest, newest] = [0, Infinity, -1]
        for (; at < unique.length && count < MOST_IN_RUN; at += unique[at], count++) {
          const time = timeAt(unique, at)
          if (time >>> SPAN_BITS !== span) break
          if (time > newest) newest = time
          if (time < oldest) oldest = time
        }
        const keep = span !== known.span || Math.abs(now - known.keptAt) > KEEP_AGAIN_MS
        if (keep) {
          known.span = span
          known.keptAt = now
        }
        const own = unique.subarray(from, at)
        const name = `${device}:${span}`
        runs.push({
          name,
          marks: marksOf(own, count),
          count,
          records: own,
          lookUp: !sure || oldest <= bound,
          keep,
          ask,
        })
        if (newest > known.newest) known.newest = newest
      }
      return { runs, duplicates }
    },
    unsure(device) {
      const known = devices.get(device)
      if (known) known.span = -1
    },
    learn(device, latestSpan) {
      const known = knownOf(device)
      known.before = latestSpan === undefined ? -1 : Math.min(known.before, (latestSpan + 1) * 2 ** SPAN_BITS - 1)
    },
  }
}

/** What this process knows of a device. Times in unix seconds. */
interface Known {
  /** Whether its latest span was asked for. */
  asked: boolean
  /** Nothing that others stored of it is newer. */
  before: number
  /** Of what this process stored, or tried to. */
  newest: number
  /** The span whose string was kept last, and when. */
  span: number
  keptAt: number
}

/** Without the records that repeat others among them; as they are where their times grow, as they mostly do. */
function withoutRepeats(records: Buffer): { records: Buffer; duplicates: number } {
  let last = -1
  let grow = true
  for (let at = 0; at < records.length && grow; at += records[at]) {
    const time = timeAt(records, at)
    grow = time > last
    last = time
  }
  if (grow) return { records, duplicates: 0 }
  const unique = new Map<string, Buffer>()
  let count = 0
  for (let at = 0; at < records.length; at += records[at]) {
    const record = records.subarray(at, at + records[at])
    const place = record.toString('latin1', TIME_AND_PLACE.from, TIME_AND_PLACE.until)
    if (!unique.has(place)) unique.set(place, record)
    count++
  }
  return { records: Buffer.concat([...unique.values()]), duplicates: count - unique.size }
}

function marksOf(records: Buffer, count: number): Buffer {
  const marks = Buffer.allocUnsafe(MARK_BYTES * count)
  for (let at = 0, to = 0; at < records.length; at += records[at], to += MARK_BYTES) {
    const latitude = records.readInt32BE(at + 11)
    const longitude = records.readInt32BE(at + 15)
    const time = timeAt(records, at) & (2 ** SPAN_BITS - 1)
    marks.writeUInt16BE((time << 5) | (mix(longitude ^ 0x5bd1e995, latitude) & 0x1f), to)
    marks.writeInt32BE(mix(latitude, longitude), to + 2)
  }
  return marks
}

/** The time of the record that begins there, unix seconds. */
function timeAt(records: Buffer, at: number): number {
  return records.readUInt32BE(at + 7)
}

/** Two words to one, every bit of both in every bit of it (the finish of MurmurHash3). */
function mix(a: number, b: number): number {
  let hash = Math.imul(a, 0xcc9e2d51) ^ Math.imul((b << 13) | (b >>> 19), 0x1b873593)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

const SPAN_BITS = 11
/** As in store.lua. */
const MARK_BYTES = 6
const TIME_AND_PLACE = { from: 7, until: 19 }
const KEEP_AGAIN_MS = 3_600_000
/** A string gets marks for an hour after it was last kept. */
const SLACK_MS = 2 * KEEP_AGAIN_MS
/** What Lua hands over to one command. */
const MOST_IN_RUN = 1000
