import { yieldToEventLoop } from '../async.ts'
import { localDaysOf } from '../domain/times.ts'
import {
  addAir,
  addDayNotes,
  type AirDay,
  type DayNote,
  type DayNotes,
  dayShardOf,
  NOTED,
  type NotedKind,
  type Shard,
  type Store,
} from '../store/index.ts'
import type { Capacity } from './acceptance.ts'
import type { HeardBook } from './heard.ts'
import type { Placement } from './place.ts'

export interface DayBookOptions {
  /** The time zone of the local days. */
  readonly zone: string
  readonly heard: Pick<HeardBook, 'presentSince'>
  /** While memory is scarce, nothing is written. */
  readonly capacity: Pick<Capacity, 'isScarce'>
}

/**
 * Notes by the minute when each configured device was connected, which times its fixes have, and its data volume, for the
 * view of its days. Collects the notes in memory and writes them once a minute; with 100,000 devices, every five minutes. No
 * frame waits for that. A killed gateway loses the notes of these minutes.
 */
export class DayBook {
  readonly #redis: Store
  readonly #options: DayBookOptions
  readonly #dayOf: ReturnType<typeof localDaysOf>
  #devices = new Map<string, OpenNotes>()
  /** By the monotonic clock, as the other one may be set. */
  #writtenAt = performance.now()

  constructor(redis: Store, options: DayBookOptions) {
    this.#redis = redis
    this.#options = options
    this.#dayOf = localDaysOf(options.zone)
  }

  /** Returns the open notes on a device. A caller may keep them while they are open. */
  of(device: string): OpenNotes {
    const open = this.#devices.get(device) ?? new OpenNotes()
    this.#devices.set(device, open)
    return open
  }

  /** Writes the notes if it is time. Call it once a second. Rejects with the last error of Redis if it did not take all. */
  async writeIfDue(): Promise<void> {
    if (performance.now() - this.#writtenAt >= Math.max(EVERY_MS, this.#devices.size * MS_PER_DEVICE))
      await this.#write()
  }

  /** Writes the last notes if Redis accepts them. Call it once `writeIfDue` has ended. */
  async close(): Promise<void> {
    await this.#write().catch(() => {})
  }

  /** Notes that Redis does not accept are written the next time. */
  async #write(): Promise<void> {
    const { capacity, heard } = this.#options
    const now = Date.now()
    const since = now - (performance.now() - this.#writtenAt)
    this.#writtenAt = performance.now()
    this.#present('', since, now)
    for (const { device, from } of heard.presentSince(since)) {
      this.#present(device, Math.min(from, now), now)
      await yieldToEventLoop()
    }
    const devices = this.#devices.entries().toArray()
    this.#devices = new Map()
    for (const [, open] of devices) open.isOpen = false
    if (capacity.isScarce) return
    const byShard = Map.groupBy(devices, ([device]) => dayShardOf(this.#redis, device))
    const faults = await Promise.all(Array.from(byShard, ([shard, own]) => this.#writeIn(shard, own)))
    if (faults.flat().length > 0) throw faults.flat().at(-1)
  }

  /** Resolves to the errors of a shard. */
  async #writeIn(shard: Shard, devices: readonly NotedDevice[]): Promise<unknown[]> {
    const faults: unknown[] = []
    for (let at = 0; at < devices.length; at += AT_ONCE) {
      const slice = devices.slice(at, at + AT_ONCE)
      const notes = slice.flatMap(([device, open]) => this.#daysOf(device, open))
      await addDayNotes(shard, notes).catch((error: unknown) => {
        this.#putBack(slice)
        faults.push(error)
      })
      const carried = slice.flatMap(([device, { air }]) => (air ? [[device, air] as const] : []))
      if (carried.length > 0)
        await addAir(shard, this.#dayOf(Date.now()).from, carried).catch((error: unknown) => {
          for (const [device, air] of carried) this.of(device).carried(air, air.since)
          faults.push(error)
        })
    }
    return faults
  }

  /** Notes the minutes in which a device was connected; for `''`, in which the gateway ran. */
  #present(device: string, from: number, until: number): void {
    for (let at = from - (from % MINUTE_MS); at <= until; at += MINUTE_MS) this.of(device).add('connected', at)
  }

  #putBack(slice: readonly NotedDevice[]): void {
    for (const [device, { fixes, late, notes }] of slice) {
      if (notes.length > MOST_WAITING) continue
      const open = this.of(device)
      open.fixes += fixes
      open.late += late
      for (const [kind, at] of notes.map(unpacked)) open.add(kind, at)
    }
  }

  /** The fixes count for the day on which they came. */
  #daysOf(device: string, { fixes, late, notes }: OpenNotes): DayNotes[] {
    const today = this.#dayOf(Date.now()).from
    const byDay = Map.groupBy(Array.from(new Set(notes), unpacked), ([, at]) => this.#dayOf(at).from)
    if (!byDay.has(today) && fixes > 0) byDay.set(today, [])
    return Array.from(byDay, ([day, some]) => {
      const counts = day === today ? { fixes, late } : { fixes: 0, late: 0 }
      return { device, day, notes: some, ...counts }
    })
  }
}

type NotedDevice = readonly [device: string, open: OpenNotes]

/** Notes on a device that are not in Redis yet. */
export class OpenNotes {
  /** False once these notes are being written; later notes belong into new ones. */
  isOpen = true
  fixes = 0
  late = 0
  /** Data volume of the device; undefined: none. */
  air: { -readonly [Figure in keyof AirDay]: AirDay[Figure] } | undefined
  /** Kind and minute as one number, since these are many. */
  readonly notes: number[] = []

  /** Notes the placement of fixes that arrived at a time, ms UTC. */
  placed({ filtered, heldTimes, late, received, times }: Placement, at: number, duplicates: number): void {
    const stored = Math.max(0, received - filtered.length - duplicates)
    this.fixes += stored
    this.late += Math.min(stored, late)
    for (const time of times) this.#add(FIX, time)
    for (const time of heldTimes) this.#add(HELD, time)
    if (filtered.length > 0) this.add('filtered', at)
  }

  /** Notes the data volume of a session of the device, with its fixes; `since`: the begin of counting, ms UTC. */
  carried({ bytes, connections, fixes }: Omit<AirDay, 'since'>, since = this.air?.since ?? Date.now()): void {
    this.air ??= { bytes: 0, connections: 0, fixes: 0, since }
    this.air.bytes += bytes
    this.air.connections += connections
    this.air.fixes += fixes
    if (since < this.air.since) this.air.since = since
  }

  /** Notes something about the minute in which a time lies, ms UTC. */
  add(kind: NotedKind, at: number): void {
    this.#add(NOTED.indexOf(kind), at)
  }

  #add(kind: number, at: number): void {
    const { notes } = this
    const note = Math.floor(at / MINUTE_MS) * NOTED.length + kind
    if (note !== notes[notes.length - 1] && note !== notes[notes.length - 2] && notes.length < MOST_NOTES)
      notes.push(note)
  }
}

function unpacked(note: number): DayNote {
  return [NOTED[note % NOTED.length], Math.floor(note / NOTED.length) * MINUTE_MS]
}

const FIX = NOTED.indexOf('fix')
const HELD = NOTED.indexOf('held')
const EVERY_MS = 60_000
const MS_PER_DEVICE = 3
const MINUTE_MS = 60_000
const AT_ONCE = 250
/** Two days of a device. */
const MOST_NOTES = 3000
/**
 * Notes of a device beyond this number are dropped if Redis has accepted none for hours: those of 100,000 devices would take
 * a gigabyte.
 */
const MOST_WAITING = 300
