import type { Logger } from '../observe/log.ts'
import { isConnectionError, type Store } from '../store/index.ts'
import { ROSTER_HOLDS_MS } from '../store/gateways.ts'
import { Roster, type RosterChange } from './roster.ts'
import { readRosterTable, readSince } from './table.ts'

/** Hears which devices have changed, by ids without leading zeros; undefined: all may have. */
export type RosterFollower = (changed: ReadonlySet<string> | undefined) => void

/** This process's copy of the roster in Redis. It looks four times a second whether Redis has a newer one. */
export class Replica {
  readonly redis: Store
  readonly #logger: Logger
  readonly #followers: RosterFollower[] = []
  readonly #first = Promise.withResolvers<void>()
  /** Resolves once it was read for the first time. */
  readonly first = this.#first.promise
  readonly #reported = new Set<string>()
  /** Another object after a change of many lines; only this class sets it and `version`. */
  roster = new Roster()
  /** The version of the last write in effect here; 0 if there was none yet. */
  version = 0
  /** Whether the files that this process follows, if any, were compared with the roster; set by their follower. */
  isCompared = true
  #reading: Promise<void> | undefined
  #currentAt = -Infinity
  #disconnectedAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(redis: Store, logger: Logger) {
    this.redis = redis
    this.#logger = logger
    redis.on('close', this.#disconnected)
    void this.#look()
  }

  /** Whether this is the roster as of a moment ago: not while Redis is away, and not until it is read after that. */
  get current(): boolean {
    if (this.version === 0 || !this.isCompared || this.#currentAt <= this.#disconnectedAt) return false
    return performance.now() - this.#currentAt < ROSTER_HOLDS_MS
  }

  /** Calls `changed` after each change, which is in effect then. */
  follow(changed: RosterFollower): void {
    this.#followers.push(changed)
  }

  /**
   * Applies all that was written before the call. A call during a reading waits for that reading, then reads once more.
   * Rejects if Redis does not answer.
   */
  async refresh(): Promise<void> {
    if (this.#reading) await this.#reading.catch(() => {})
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  /** Stops reading. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.redis.off('close', this.#disconnected)
  }

  readonly #disconnected = () => void (this.#disconnectedAt = performance.now())

  async #look(): Promise<void> {
    try {
      await this.refresh()
      this.#reported.clear()
    } catch (error) {
      this.#reportUnreadable(error as Error)
    }
    if (!this.#closed) this.#timer = setTimeout(() => void this.#look(), LOOK_MS).unref()
  }

  async #read(): Promise<void> {
    const began = performance.now()
    const { version, change } = await readSince(this.redis, this.version)
    if (!change) await this.#readWhole(version)
    else if (version !== this.version) await this.#apply(version, change)
    this.#currentAt = began
    this.#first.resolve()
  }

  async #apply(version: number, change: Required<RosterChange>): Promise<void> {
    if (change.devices.length + change.assignments.length <= AT_ONCE)
      return this.#take(version, this.roster.apply(change))
    const next = new Roster(this.roster)
    const changed = await next.applyInSlices(change)
    this.roster = next
    this.#take(version, changed)
  }

  async #readWhole(found: number): Promise<void> {
    if (found < this.version) this.#reportOlder(found, this.version)
    const { roster, version } = await readRosterTable(this.redis)
    this.roster = roster
    this.#take(version, undefined)
  }

  #take(version: number, changed: ReadonlySet<string> | undefined): void {
    this.version = version
    for (const follower of this.#followers) follower(changed)
  }

  /** Logs once that the roster cannot be read, until it can be read again. That Redis is away is a finding. */
  #reportUnreadable(error: Error): void {
    if (isConnectionError(error) || this.#reported.has(error.message)) return
    this.#reported.add(error.message)
    const message = 'the roster in Redis cannot be read: the roster that was read before stays in effect'
    this.#logger.error({ err: error }, message)
  }

  /** The reason may be a restore from a backup, a failover to a copy that lacks the last writes, or FLUSHALL. */
  #reportOlder(version: number, before: number): void {
    const last = version === 0 ? 'empty' : `of ${new Date(version).toISOString()}`
    this.#logger.error(
      `the roster in Redis is older than the one in effect: it is ${last}, the one in effect is of ` +
        `${new Date(before).toISOString()}; what was put through the admin port in between must be put again`,
    )
  }
}

const LOOK_MS = 250
/** Devices and assignments that are applied without a pause. */
const AT_ONCE = 1000
