import type { Fix } from '../../protocols/kit/index.ts'
import { inTurns } from '../async.ts'
import { sameId } from '../domain/ids.ts'
import type { Logger } from '../observe/log.ts'
import { belongedAt, type DeviceEntry, type Lane } from '../roster/device-entry.ts'
import { type ArrivedSender, readArrival } from '../store/arrivals.ts'
import {
  type AppenderOptions,
  claimHeld,
  countHeld,
  endRelease,
  type Fate,
  HELD_LISTS,
  type HeldLists,
  type HeldPlace,
  heldDevices,
  isInUtc,
  lookAgain,
  lookAtAll,
  markReleasing,
  packDevice,
  packRecords,
  type Position,
  positionOf,
  type Store,
  receivedAt,
  releaseMark,
  releasingDevices,
  type Swept,
  spokenIn,
  sweepHeld,
  timestampOf,
  withCopied,
} from '../store/index.ts'
import { trustIn } from './identity.ts'
import type { Journal } from './journal.ts'
import { DOUBT_AGAIN_MS, judge, type PlacingOptions, utcOf } from './place.ts'

export interface HoldingOptions extends PlacingOptions {
  readonly redis: Store
  readonly appender: AppenderOptions
  readonly journal: Pick<Journal, 'heldTooLong' | 'released' | 'sentBefore'>
  readonly logger: Logger
}

/**
 * Releases held fixes in order once the configuration or the time tells where they belong, and discards those that are too
 * old. The held fixes of a device are judged when the roster changes the device, or when their time comes, so the cost grows
 * with the changes, not with the number of held fixes. After a start all are judged, because settings, roster or clock
 * may have changed.
 */
export class Holding {
  readonly #options: HoldingOptions
  readonly #closing = new AbortController()
  readonly #inTurn = inTurns()
  readonly #markInTurn = inTurns()
  /**
   * Devices that the roster has changed and that are not marked in Redis yet, by ids without leading zeros; undefined:
   * all.
   */
  #changed: Set<string> | undefined
  #wasInDoubt: boolean | undefined
  /** Fixes that left the lists since the last log line about them. */
  readonly #gone = new Map<HeldLists['reason'], { readonly devices: Set<string>; fixes: number }>()
  #loggedAt = -Infinity
  /**
   * Set while Redis is informed of changed devices; resolves to whether every shard knows them. Before that, fixes stored by
   * the new roster could overtake held ones. Only this class sets it.
   */
  marking: Promise<boolean> | undefined

  constructor(options: HoldingOptions) {
    this.#options = options
    void this.#mark()
  }

  /**
   * Releases held fixes of these devices (undefined: of all) after a change of the roster. The devices are marked before
   * anything is stored by the new roster, so that newer fixes queue behind the held ones, through whichever gateway they
   * come.
   */
  rosterChanged(changed: ReadonlySet<string> | undefined): void {
    this.#changed = changed && this.#changed?.union(changed)
    void this.#mark()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.marking
    await this.#inTurn(async () => {})
    this.#logGone()
  }

  #mark(): Promise<boolean> {
    this.marking = this.#markInTurn(() => this.#markChanged())
    return this.marking
  }

  /** Resolves to whether Redis knows the changed devices; if not, it is informed again within a second. */
  async #markChanged(): Promise<boolean> {
    const { redis, replica } = this.#options
    const { roster, version } = replica
    const changed = this.#changed
    this.#changed = new Set()
    try {
      // Only a configured device has lanes.
      const ids = changed ?? (await heldDevices(redis)).filter((id) => roster.find(id))
      // Fixes from before a device was configured are held under its id without leading zeros.
      const names = Array.from(ids, (id) => [id, roster.find(id)?.id ?? id]).flat()
      const found = await markReleasing(redis, version, names)
      if (found > 0) void this.#release().catch((error) => this.#wait(error))
    } catch (error) {
      this.#changed = changed && this.#changed?.union(changed)
      this.#wait(error)
      return false
    }
    // More devices may have changed in between.
    if (this.#changed?.size === 0) this.marking = undefined
    return true
  }

  /** Judges the held fixes that are due. Call it once a second. Rejects if Redis does not answer. */
  async look(): Promise<void> {
    const { clock, redis, replica } = this.#options
    if (performance.now() - this.#loggedAt >= LOG_EVERY_MS) this.#logGone()
    if (!replica.current) return
    if (clock.isInDoubt !== this.#wasInDoubt) await lookAtAll(redis, HELD_LISTS)
    this.#wasInDoubt = clock.isInDoubt
    if (this.marking) await this.#mark()
    await this.#release()
    for (const place of await claimHeld(redis)) {
      if (this.#closing.signal.aborted) return
      // Fixes that are being released, perhaps since the claim, leave their lists in order.
      if ((await releaseMark(redis, sameId(place.device))) === null) await this.#sweep(place)
    }
  }

  /** Releases the devices that are marked, whichever gateway has marked them. */
  #release(): Promise<void> {
    return this.#inTurn(async () => {
      for (const device of await releasingDevices(this.#options.redis)) await this.#releaseDevice(device)
    })
  }

  /**
   * Passes through all held fixes of a device until nothing more moves. All are judged at the same time, so that a clock that
   * is corrected in between cannot give a newer fix a lane before an older one.
   */
  async #releaseDevice(device: string): Promise<void> {
    const { redis, replica } = this.#options
    const names = new Set([device, replica.roster.find(device)?.id ?? device])
    const arrived = await readArrival(redis, device)
    const places = RELEASED_IN_TURN.flatMap((lists) => Array.from(names, (name) => ({ lists, device: name })))
    for (let left = 1; left > 0; ) {
      if (this.#closing.signal.aborted || !replica.current) return
      const { version } = replica
      const mark = await releaseMark(redis, device)
      if (mark === null) return
      const moment = this.#moment()
      const counts = await countHeld(redis, places)
      const looked = places.map((place) => ({ place, stayed: 0 }))
      left = 0
      for (const [index, each] of looked.entries()) {
        if (counts[index] === 0) continue
        const swept = await this.#sweep(each.place, { moment, arrived })
        // Another gateway moves them; or it ends, and they are looked at again.
        if (swept.end === 'changed') return
        each.stayed = swept.stayed
        left += swept.left
      }
      if (Number(mark) < version + 1 && (await endRelease(redis, { device, mark, looked }))) return
    }
  }

  /** `arrived`: arrivals of the device from before it was configured. */
  async #sweep(place: HeldPlace, { moment, arrived }: SweepOptions = {}): Promise<Swept> {
    const { appender, redis } = this.#options
    const { lists, device } = place
    const next = { at: Infinity }
    const judged = { moment: moment ?? this.#moment(), next, arrived }
    const fate = (record: Buffer) => this.#fateOf(record, place, judged)
    const swept = await sweepHeld(redis, appender, { place, fate })
    const { left, stayed } = swept
    // A device with many held fixes is checked less often, so that the cost stays the same.
    const soonest = Date.now() + LOOK_AGAIN_MS + stayed * LOOK_MS_PER_FIX
    if (stayed > 0) await lookAgain(redis, place, { stayed, at: Math.max(next.at, soonest) })
    if (left > 0) this.#note(lists.reason, device, left)
    return swept
  }

  #moment(): Moment {
    const { clock } = this.#options
    const now = clock.now()
    return { now, jumps: clock.jumps }
  }

  #note(reason: HeldLists['reason'], device: string, fixes: number): void {
    const gone = this.#gone.get(reason) ?? { devices: new Set(), fixes: 0 }
    gone.devices.add(device)
    gone.fixes += fixes
    this.#gone.set(reason, gone)
  }

  /**
   * Logs a line for each reason, with the device if there is only one, so that a fleet with wrong clocks does not fill the
   * log.
   */
  #logGone(): void {
    if (this.#gone.size === 0) return
    for (const [reason, { devices, fixes }] of this.#gone) {
      const [device] = devices
      const whose = devices.size === 1 ? { device } : { devices: devices.size }
      this.#options.logger.info({ ...whose, reason, fixes }, 'held fixes released or discarded')
    }
    this.#gone.clear()
    this.#loggedAt = performance.now()
  }

  #wait(error: unknown): void {
    this.#options.logger.debug({ err: error }, 'held fixes wait for Redis')
  }

  /** `next.at` becomes the earliest time at which a fix that stays is to be looked at. */
  #fateOf(record: Buffer, { lists, device }: HeldPlace, { moment, next, arrived }: FateOptions): Fate {
    const { clock, filter, hold, journal, replica } = this.#options
    const { roster, version: rosterVersion } = replica
    const { now } = moment
    const isClockInDoubt = clock.isInDoubt || clock.jumps !== moment.jumps
    const received = receivedAt(record)
    const found = roster.find(device)
    if (found && !belongedAt(found, received)) return { gone: 'discarded:other_company' }
    const trust = found && lists.reason === 'unknown' ? trustIn(found, spokenIn(record)) : 'trusted'
    // Its frame is decoded again, as the protocol that the entry names: see redecoding.ts.
    if (trust === 'other_protocol') return { gone: 'discarded:other_protocol' }
    const entry = trust === 'unproven' ? undefined : found
    // A fix without its own time has the time of its arrival, which no time zone changes.
    const isUtc = isInUtc(record) || timestampOf(record) === Math.floor(received / 1000)
    const origin = { entry: isUtc && entry ? { ...entry, time_zone: undefined } : entry, now }
    const rules = { roster, rosterVersion, filter, hold, isClockInDoubt }
    // A clock that has jumped ahead discards nothing.
    const leastAt = isClockInDoubt ? now + DOUBT_AGAIN_MS : 0
    const oldestAt = Math.max(received + hold.max_age, leastAt)
    if (lists.reason === 'suspicious' && filter.holdsSuspicious) {
      next.at = Math.min(next.at, oldestAt)
      return oldestAt < now ? this.#tooOld(found, lists) : 'stays'
    }
    const verdict = judge(fixOf(record), origin, rules)
    if ('filtered' in verdict) return { gone: `filtered:${verdict.filtered}` }
    const id = entry?.id ?? device
    const records = packRecords([verdict.position], packDevice(id), received)
    const sent = (fix?: Fix) => {
      if (!arrived || !entry || lists.reason !== 'unknown') return
      const { address: remote, protocol, transport } = arrived
      journal.sentBefore(id, { at: received, transport, remote, protocol }, fix)
    }
    if (verdict.lane) {
      const fix = { ...fixOf(record), time: verdict.position.timestamp * 1000 }
      journal.released(id, fix.time)
      sent(fix)
      const copied = this.#copied(records, {
        entry,
        position: verdict.position,
        lane: verdict.lane,
        from: lists.reason,
      })
      return { lane: verdict.lane.key, device: id, ...copied }
    }
    if (oldestAt < now) return this.#tooOld(found, lists)
    const lookAt = Math.min(verdict.lookAt, oldestAt)
    if (verdict.held !== lists.reason) {
      sent()
      const timestamp = Math.floor(utcOf(timestampOf(record) * 1000, origin) / 1000)
      const position = { ...verdict.position, timestamp }
      const copied = verdict.held === 'no_route' ? this.#copied(records, { entry, position }) : { records }
      return { held: verdict.held, device: id, ...copied, isProven: lists.isProven, lookAt, rosterVersion }
    }
    next.at = Math.min(next.at, lookAt)
    return 'stays'
  }

  /**
   * Returns the record of a fix that leaves a list, with the copies that get it. Fixes `without_route` were copied when they
   * were held.
   */
  #copied(records: Buffer, { entry, position, lane, from }: ReleasedFix) {
    const logs = entry && this.#options.logsOf?.(entry.company_id)
    const names = logs && (!lane ? logs.unassigned : from === 'no_route' ? logs.released : logs.arriving)
    if (!entry || !names) return { records }
    const place = { device: entry.id, lane }
    return withCopied(records, { positions: [position], beside: [{}], place, logs: names, hasSaid: false })
  }

  /** The fate of a fix that was held for too long. Of devices that are not configured anybody may send. */
  #tooOld(entry: DeviceEntry | undefined, { reason }: HeldLists): Fate {
    if (entry) this.#options.journal.heldTooLong(entry.id, reason)
    return { gone: 'discarded:held_age' }
  }
}

interface ReleasedFix {
  readonly entry: DeviceEntry | undefined
  /** In UTC. */
  readonly position: Position
  readonly lane?: Lane
  /** Why it was held. */
  readonly from?: HeldLists['reason']
}

/** By our clock, and how often it had jumped then. */
interface Moment {
  readonly now: number
  readonly jumps: number
}

interface SweepOptions {
  readonly moment?: Moment
  readonly arrived?: ArrivedSender
}

interface FateOptions extends SweepOptions {
  readonly moment: Moment
  readonly next: { at: number }
}

function fixOf(record: Buffer): Fix {
  const { timestamp, ...position } = positionOf(record)
  return { ...position, time: timestamp * 1000, valid: true }
}

/** Fixes that arrive in between are queued like those without a route: that list comes last. */
const RELEASED_IN_TURN = HELD_LISTS.toSorted(
  (a, b) => Number(a.reason === 'no_route') - Number(b.reason === 'no_route'),
)
const LOOK_AGAIN_MS = 1000
const LOG_EVERY_MS = 60_000
const LOOK_MS_PER_FIX = 6
