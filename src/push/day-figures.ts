import { LATE_MS } from '../domain/late.ts'
import { localDaysOf } from '../domain/times.ts'
import {
  addLaneDays,
  arrivalAt,
  delayBucket,
  isRedelivered,
  joined,
  type LaneDay,
  type Store,
  timestampAt,
} from '../store/index.ts'

/**
 * What this worker has delivered, by lane and local day of the fix's own time. It is summed up in memory and added to Redis every 30 s,
 * and once more at the end: a worker that is killed loses what it has delivered since.
 */
export class DayFigures {
  readonly #redis: Store
  readonly #dayOf: ReturnType<typeof localDaysOf>
  /** By when the day begins, ms UTC, then by lane. */
  #open = new Map<number, Map<string, OpenLaneDay>>()
  #writtenAt = performance.now()
  #writing: Promise<void> | undefined

  /** `zone`: the time zone of the local days. */
  constructor(redis: Store, zone: string) {
    this.#redis = redis
    this.#dayOf = localDaysOf(zone)
  }

  /** Notes records that the tracking API has taken at `at`, ms UTC. */
  delivered(lane: string, records: Buffer, at: number): void {
    let open: OpenLaneDay | undefined
    let [from, until] = [0, 0]
    for (let place = 0; place < records.length; place += records[place]) {
      const ms = timestampAt(records, place) * 1000
      if (ms < from || ms >= until) {
        ;({ from, until } = this.#dayOf(ms))
        open = at - from > OLDEST_MS ? undefined : this.#openOf(from, lane)
      }
      open?.add(records, place, at)
    }
  }

  /** Writes if it is time: call it now and then. What Redis does not take waits for the next time. */
  writeIfDue(): void {
    if (performance.now() - this.#writtenAt >= EVERY_MS) void this.#write()
  }

  /** Writes what is not written yet, unless Redis fails. Call it after the last delivery. */
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
      for (const [lane, figures] of await addLaneDays(this.#redis, day, lanes)) this.#openOf(day, lane).addAll(figures)
  }

  #openOf(day: number, lane: string): OpenLaneDay {
    const lanes = this.#open.get(day) ?? new Map<string, OpenLaneDay>()
    this.#open.set(day, lanes)
    const open = lanes.get(lane) ?? new OpenLaneDay()
    lanes.set(lane, open)
    return open
  }
}

/** Figures that are not in Redis yet. */
class OpenLaneDay implements LaneDay {
  fixes = 0
  late = 0
  redelivered = 0
  first = LAST_TIME
  last = 0
  readonly delays = new Map<number, number>()

  /** Adds the fix whose record begins at a position. `deliveredAt`: ms UTC. */
  add(records: Buffer, at: number, deliveredAt: number): void {
    const time = timestampAt(records, at)
    const cameAt = arrivalAt(records, at)
    this.fixes++
    if (time < this.first) this.first = time
    if (time > this.last) this.last = time
    // What is delivered again came in time, and was delivered in time, the first time.
    if (isRedelivered(records, at)) return void this.redelivered++
    if (cameAt - time * 1000 > LATE_MS) this.late++
    const bucket = delayBucket(deliveredAt - cameAt)
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
