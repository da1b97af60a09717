import { setTimeout as sleep } from 'node:timers/promises'
import { companyOfLane, sameId } from '../domain/ids.ts'
import type { Logger } from '../observe/log.ts'
import {
  deviceOf,
  jobFaults,
  lanesParked,
  misplacedLanes,
  NOT_CURRENT,
  type Place,
  type Shard,
  tryParked,
} from '../store/index.ts'

/** Changes that may end the reason why lanes are parked. */
interface Changed {
  /** Lanes with fixes of these devices that belong elsewhere now are tried; undefined: of all devices. */
  readonly devices: ReadonlySet<string> | undefined
  /** The companies that have other apikeys or another API: all their lanes are tried. */
  readonly companies: ReadonlySet<string>
}

interface ParkedLanesOptions {
  readonly shards: readonly Shard[]
  readonly place: Place
  readonly stopping: AbortSignal
  readonly logger: Logger
}

/**
 * Tries parked lanes at once after a change that may end the reason for parking. Each worker does so when it learns of the
 * change: another worker that did not know it yet may have tried the lane before, and was refused.
 */
export class ParkedLanes {
  readonly #options: ParkedLanesOptions
  #changed: Changed = NOTHING
  #isTrying = false

  constructor(options: ParkedLanesOptions) {
    this.#options = options
  }

  /** By ids without leading zeros; undefined: all devices may have changed. */
  rosterChanged(devices: ReadonlySet<string> | undefined): void {
    this.#add({ devices, companies: NONE })
  }

  companiesChanged(companies: ReadonlySet<string>): void {
    this.#add({ devices: NONE, companies })
  }

  #add({ devices, companies }: Changed): void {
    const before = this.#changed
    this.#changed = {
      devices: devices && before.devices?.union(devices),
      companies: before.companies.union(companies),
    }
    if (!this.#isTrying) void this.#try()
  }

  /** Handles further changes afterwards. If Redis does not answer or the roster is not current, everything is tried later. */
  async #try(): Promise<void> {
    const { stopping } = this.#options
    this.#isTrying = true
    while (!stopping.aborted && (this.#changed.devices?.size !== 0 || this.#changed.companies.size > 0)) {
      const changed = this.#changed
      this.#changed = NOTHING
      const began = performance.now()
      const isTried = await this.#tryConcerned(changed)
      if (!isTried) this.#add(changed)
      // A million parked fixes take a second to check: at most half of the time is spent on that.
      const pauseMs = isTried ? performance.now() - began : AGAIN_MS
      await sleep(pauseMs, undefined, { signal: stopping }).catch(() => {})
    }
    this.#isTrying = false
  }

  /** Resolves to false if something must be tried later. */
  async #tryConcerned(changed: Changed): Promise<boolean> {
    const { logger, shards } = this.#options
    try {
      const tried = await Promise.all(shards.map((shard) => this.#tryIn(shard, changed)))
      return !tried.includes(false)
    } catch (error) {
      jobFaults(logger)(error, 'parked lanes')
      return false
    }
  }

  async #tryIn(shard: Shard, { devices, companies }: Changed): Promise<boolean> {
    const place: Place = (record) =>
      devices?.has(sameId(deviceOf(record))) === false ? undefined : this.#options.place(record)
    const misplaced = devices?.size === 0 ? [] : await misplacedLanes(shard, place)
    if (misplaced === NOT_CURRENT) return false
    const isConcerned = (lane: string) => companies.has(companyOfLane(lane))
    const concerned = companies.size > 0 ? (await lanesParked(shard)).filter(isConcerned) : []
    await tryParked(shard, [...new Set([...misplaced, ...concerned])])
    return true
  }
}

const NONE: ReadonlySet<string> = new Set()
const NOTHING: Changed = { devices: NONE, companies: NONE }
const AGAIN_MS = 1000
