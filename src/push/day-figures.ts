import { LATE_MS } from '../domain/late.ts'
import { localDay } from '../domain/times.ts'
import { addLaneDays, delayBucket, eachFix, joined, type LaneDay, type Store } from '../store/index.ts'

/**
 * Counts what this worker has delivered, by lane and local day of the fix's own time. Sums up in memory, adds to Redis every
 * 30 s, and once more at the end: a killed worker loses the counts since then.
 */
export class DayFigures {
  readonly #redis: Store
  readonly #zone: string
  /** By when the day begins, ms UTC, then by lane. */
  #open = new Map<number, Map<string, OpenLaneDay>>()
  #day = { from: 0, until: 0 }
  #writtenAt = performance.now()
  #writing: Promise<void> | undefined

  /** `zone`: the time zone of the local days. */
  constructor(redis: Store, zone: string) {
    this.#redis = redis
    this.#zone = zone
  }

  /** Notes records that the tracking API has taken at `at`, ms UTC. */
  delivered(lane: string, records: Buffer, at: number): void {
    let open: OpenLaneDay | undefined
    let [from, until] = [0, 0]
    eachFix(records, (time, receivedAt, isRedelivered) => {
      const ms = time * 1000
      if (ms < from || ms >= until) {
        ;({ from, until } = this.#dayOf(ms))
        open = at - from > OLDEST_MS ? undefined : this.#openOf(from, lane)
      }
      open?.add(time, { receivedAt, deliveredAt: at, isRedelivered })
    })
  }

  /** Writes if it is time: call it now and then. What Redis does not take waits for the next time. */
  writeIfDue(): void {
    if (performance.now() - this.#writtenAt >= EVERY_MS) void this.#write()
  }

  /** Writes the last counts, unless Redis fails. Call it after the last delivery. */
  async close(): Promise<void> {
    await this.#writing
    await this.#write()
  }

  async #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined))
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    this.#writtenAt = performance.now()
    const due = this.#open
    this.#open = new Map()
    for (const [day, lanes] of due)
      await addLaneDays(this.#redis, day, lanes).catch(() => {
        for (const [lane, figures] of lanes) this.#openOf(day, lane).addAll(figures)
      })
  }

  #openOf(day: number, lane: string): OpenLaneDay {
    const lanes = this.#open.get(day) ?? new Map<string, OpenLaneDay>()
    this.#open.set(day, lanes)
    const open = lanes.get(lane) ?? new OpenLaneDay()
    lanes.set(lane, open)
    return open
  }

  #dayOf(ms: number): { readonly from: number; readonly until: number } {
    if (ms < this.#day.from || ms >= this.#day.until) this.#day = localDay(ms, this.#zone)
    return this.#day
  }
}

interface Delivery {
  /** ms UTC. */
  readonly receivedAt: number
  readonly deliveredAt: number
  readonly isRedelivered: boolean
}

/** Figures that are not in Redis yet. */
class OpenLaneDay implements LaneDay {
  fixes = 0
  late = 0
  redelivered = 0
  first = LAST_TIME
  last = 0
  readonly delays = new Map<number, number>()

  /** `time`: the fix's own, unix seconds. */
  add(time: number, { receivedAt, deliveredAt, isRedelivered }: Delivery): void {
    this.fixes++
    if (time < this.first) this.first = time
    if (time > this.last) this.last = time
    // A redelivered fix was in time when it was first delivered.
    if (isRedelivered) return void this.redelivered++
    if (receivedAt - time * 1000 > LATE_MS) this.late++
    const bucket = delayBucket(deliveredAt - receivedAt)
    this.delays.set(bucket, (this.delays.get(bucket) ?? 0) + 1)
  }

  addAll(figures: LaneDay): void {
    const { delays, ...sums } = joined(this, figures)
    Object.assign(this, sums)
    for (const [bucket, count] of delays) this.delays.set(bucket, count)
  }
}

const EVERY_MS = 30_000
/** Days before are not shown. */
const OLDEST_MS = 33 * 86_400_000
const LAST_TIME = 0xffff_ffff
