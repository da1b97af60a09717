import { setTimeout as sleep } from 'node:timers/promises'
import type { Fix } from '../../protocols/kit/index.ts'
import { everySecond } from '../async.ts'
import { sameId } from '../config/units.ts'
import {
  type AppenderOptions,
  claimHeld,
  type Fate,
  HELD_LISTS,
  type HeldLists,
  heldAmong,
  heldDevices,
  lookAgain,
  lookAtAll,
  packDevice,
  packRecords,
  positionOf,
  type Redis,
  receivedAt,
  spokenIn,
  sweepHeld,
  timestampOf,
} from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import type { DeviceEntry } from '../roster/directory.ts'
import type { Replica } from '../roster/replica.ts'
import type { OwnClock } from './clock.ts'
import type { DayBook } from './day-book.ts'
import { trustIn } from './identity.ts'
import { type FilterOptions, type HoldOptions, judge } from './place.ts'

export interface HoldingOptions {
  readonly redis: Redis
  readonly appender: AppenderOptions
  /** While it is not current, held fixes stay where they are. */
  readonly replica: Pick<Replica, 'current' | 'roster' | 'version'>
  readonly filter: FilterOptions
  readonly hold: HoldOptions
  readonly clock: Pick<OwnClock, 'isInDoubt'>
  /** Without it no day is noted. */
  readonly days?: Pick<DayBook, 'note'>
  readonly logger: Logger
}

/** Held fixes of one device in one of the lists. */
interface HeldPlace {
  readonly lists: HeldLists
  readonly device: string
}

/**
 * Releases held fixes in order once the configuration or the time says where they belong; discards those that are too old.
 * What is held is looked at when its device changes in the roster, or when its time comes: the cost grows with what changes,
 * not with what is held. All is looked at once after the start, since the settings may have changed.
 */
export class Holding {
  /** Whether held fixes of any device are being released; written here alone. */
  isBusy = false
  readonly #options: HoldingOptions
  readonly #looking: ReturnType<typeof everySecond>
  readonly #closing = new AbortController()
  /** Devices that the roster has changed, by ids without leading zeros. */
  #changed = new Set<string>()
  /** Of the last change that may concern all devices; undefined once it is dealt with. */
  #changedAll: symbol | undefined
  /** Devices whose held fixes are being released: new fixes have to go behind them. */
  readonly #releasing = new Set<string>()
  /** How many frames of a device are on their way to its held fixes. */
  readonly #underWay = new Map<string, number>()
  /** Devices of which frames have arrived there since held fixes were looked for last. */
  readonly #arrived = new Set<string>()
  #release: Promise<void> | undefined
  #wasInDoubt = false
  #isDue = true

  constructor(options: HoldingOptions) {
    this.#options = options
    this.#looking = everySecond(() => this.#look().catch((error: unknown) => this.#wait(error)))
  }

  /** Whether new fixes of a device have to go behind held ones, which are being released. */
  isReleasing(device: string): boolean {
    if (this.#changedAll) return true
    const id = sameId(device)
    return this.#releasing.has(id) || this.#changed.has(id)
  }

  /** Fixes of a device are being stored as held ones; `stored` settles when they are, or are not. */
  noteHeld(device: string, stored: Promise<unknown>): void {
    const id = sameId(device)
    this.#underWay.set(id, (this.#underWay.get(id) ?? 0) + 1)
    const arrived = () => {
      if (this.isBusy) this.#arrived.add(id)
      const left = (this.#underWay.get(id) ?? 1) - 1
      if (left > 0) this.#underWay.set(id, left)
      else this.#underWay.delete(id)
    }
    stored.then(arrived, arrived)
  }

  /** The roster has changed: held fixes of these devices (undefined: of all) go where they belong now. */
  rosterChanged(changed: ReadonlySet<string> | undefined): void {
    if (changed) for (const id of changed) this.#changed.add(id)
    else this.#changedAll = Symbol('roster')
    this.isBusy = true
    this.#release ??= this.#releaseChanged()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#looking.stop(), this.#release])
  }

  /** New fixes of a device go behind the held ones until none of these moves, and none is on its way to them. */
  async #releaseChanged(): Promise<void> {
    while (this.#changedAll || this.#changed.size + this.#releasing.size > 0) {
      if (this.#closing.signal.aborted) return
      try {
        if (this.#options.replica.current) await this.#releaseOnce()
        else await this.#pause()
      } catch (error) {
        this.#wait(error)
        await this.#pause()
      }
    }
    this.isBusy = false
    this.#release = undefined
  }

  async #releaseOnce(): Promise<void> {
    const all = this.#changedAll
    for (const id of this.#changed) this.#releasing.add(id)
    this.#changed.clear()
    this.#arrived.clear()
    // What the roster changes and what arrives from here on is looked for the next time.
    const held = await this.#heldPlaces(all ? undefined : [...this.#releasing])
    const moving = all ? [...this.#underWay.keys(), ...this.#arrived] : []
    for (const id of [...moving, ...held.keys()]) this.#releasing.add(id)
    if (this.#changedAll === all) this.#changedAll = undefined
    for (const id of this.#releasing) {
      let isMoving = false
      for (const place of held.get(id) ?? []) if (await this.#sweep(place)) isMoving = true
      if (!isMoving && !this.#underWay.has(id) && !this.#arrived.has(id)) this.#releasing.delete(id)
    }
  }

  /** Where fixes of these devices are held; `ids` undefined: of all devices. */
  async #heldPlaces(ids: readonly string[] | undefined): Promise<Map<string, HeldPlace[]>> {
    const { redis, replica } = this.#options
    // Fixes from before a device was configured are held under its id without leading zeros.
    const names = ids && ids.length <= ASK_AT_ONCE && ids.flatMap((id) => [id, replica.roster.find(id)?.id ?? id])
    const places: HeldPlace[] = []
    for (const lists of HELD_LISTS)
      for (const device of await (names ? heldAmong(redis, lists, names) : heldDevices(redis, lists)))
        places.push({ lists, device })
    const wanted = names ? undefined : ids && new Set(ids)
    const found = wanted ? places.filter(({ device }) => wanted.has(sameId(device))) : places
    return Map.groupBy(found, ({ device }) => sameId(device))
  }

  /** Looks at what is held whose time has come. */
  async #look(): Promise<void> {
    const { clock, redis, replica } = this.#options
    if (!replica.current) return
    if (this.#isDue || clock.isInDoubt !== this.#wasInDoubt) await lookAtAll(redis, HELD_LISTS)
    this.#isDue = false
    this.#wasInDoubt = clock.isInDoubt
    for (const place of await claimHeld(redis)) {
      if (this.#closing.signal.aborted) return
      // What is being released leaves its lists in their order.
      if (!this.isReleasing(place.device)) await this.#sweep(place)
    }
  }

  /** Answers whether fixes did not stay, or another gateway moved some meanwhile. */
  async #sweep({ lists, device }: HeldPlace): Promise<boolean> {
    const { appender, logger, redis } = this.#options
    const next = { at: Infinity }
    const fate = (record: Buffer) => this.#fateOf(record, { lists, device }, next)
    const { end, left, stayed } = await sweepHeld(redis, appender, { lists, device, fate })
    // Many fixes are looked at less often, so that looking costs the same.
    const soonest = Date.now() + LOOK_AGAIN_MS + stayed * LOOK_MS_PER_FIX
    if (stayed > 0) await lookAgain(redis, lists, device, Math.max(next.at, soonest))
    if (left > 0) logger.info({ device, reason: lists.reason, fixes: left }, 'held fixes released or discarded')
    return left > 0 || end === 'changed'
  }

  #wait(error: unknown): void {
    this.#options.logger.debug({ err: error }, 'held fixes wait for Redis')
  }

  async #pause(): Promise<void> {
    await sleep(RETRY_MS, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {})
  }

  /** `next.at` becomes the earliest time at which a fix that stays is to be looked at. */
  #fateOf(record: Buffer, { lists, device }: HeldPlace, next: { at: number }): Fate {
    const { clock, filter, hold, replica } = this.#options
    const { roster, version: rosterVersion } = replica
    const now = Date.now()
    const received = receivedAt(record)
    const found = roster.find(device)
    const trust = found && lists.reason === 'unknown' ? trustIn(found, spokenIn(record)) : 'trusted'
    // Its frame is decoded again, as the protocol that the entry names: see redecoding.ts.
    if (trust === 'other_protocol') return { gone: 'discarded:other_protocol' }
    const entry = trust === 'unproven' ? undefined : found
    // A fix without a time of its own has that of its arrival, which no time zone changes.
    const hasOwnTime = timestampOf(record) !== Math.floor(received / 1000)
    const origin = { entry: hasOwnTime ? entry : withoutZone(entry), now, isReleasing: false }
    const rules = { roster, rosterVersion, filter, hold, isClockInDoubt: clock.isInDoubt }
    const oldestAt = received + hold.max_age
    if (lists.reason === 'suspicious' && filter.holdsSuspicious) {
      next.at = Math.min(next.at, oldestAt)
      return oldestAt < now ? { gone: 'discarded:held_age' } : 'stays'
    }
    const verdict = judge(fixOf(record), origin, rules)
    if ('filtered' in verdict) return { gone: `filtered:${verdict.filtered}` }
    const id = entry?.id ?? device
    const records = packRecords([verdict.position], packDevice(id), received)
    if ('lane' in verdict) this.#options.days?.note(id, 'fix', verdict.position.timestamp * 1000)
    if ('lane' in verdict) return { lane: verdict.lane.key, device: id, records }
    if (oldestAt < now) return { gone: 'discarded:held_age' }
    const lookAt = Math.min(verdict.lookAt, oldestAt)
    if (verdict.held !== lists.reason)
      return { held: verdict.held, device: id, records, isProven: lists.isProven, lookAt, rosterVersion }
    next.at = Math.min(next.at, lookAt)
    return 'stays'
  }
}

function withoutZone(entry: DeviceEntry | undefined): DeviceEntry | undefined {
  return entry && { ...entry, time_zone: undefined }
}

function fixOf(record: Buffer): Fix {
  const { timestamp, ...position } = positionOf(record)
  return { ...position, time: timestamp * 1000, valid: true }
}

const RETRY_MS = 1000
/** Of more devices than these, all that are held are read. */
const ASK_AT_ONCE = 500
const LOOK_AGAIN_MS = 1000
const LOOK_MS_PER_FIX = 6
