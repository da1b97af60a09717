import { setTimeout as sleep } from 'node:timers/promises'
import type { Fix } from '../../protocols/kit/index.ts'
import {
  type AppenderOptions,
  type Fate,
  HOLD_REASONS,
  type HoldReason,
  heldDevices,
  packDevice,
  packRecords,
  positionOf,
  type Redis,
  receivedAt,
  sweepHeld,
  timestampOf,
} from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import type { DeviceEntry } from '../roster/directory.ts'
import type { Replica } from '../roster/replica.ts'
import type { OwnClock } from './clock.ts'
import { type FilterOptions, type HoldOptions, judge } from './place.ts'

export interface HoldingOptions {
  readonly redis: Redis
  readonly appender: AppenderOptions
  /** While it is not current, held fixes stay where they are. */
  readonly replica: Pick<Replica, 'current' | 'roster'>
  readonly filter: FilterOptions
  readonly hold: HoldOptions
  readonly clock: Pick<OwnClock, 'isInDoubt'>
  readonly logger: Logger
}

/** Releases held fixes in order once the configuration or the time says where they belong; discards those that are too old. */
export class Holding {
  /** Devices whose held fixes are being released: new fixes have to go behind them. */
  releasing: ReadonlySet<string> = new Set()
  readonly #options: HoldingOptions
  readonly #timer: NodeJS.Timeout
  readonly #closing = new AbortController()
  /** Devices with fixes held as `unknown` or `no_route`: those of the last sweep, and those of this process since. */
  #waiting = new Set<string>()
  /** How many frames of a device are on their way to its held fixes. */
  readonly #underWay = new Map<string, number>()
  #sweeping: Promise<unknown> = Promise.resolve()
  #seconds = 0

  constructor(options: HoldingOptions) {
    this.#options = options
    const sweep = () => void this.#sweepNext(this.#seconds++ % SWEEP_ALL_EVERY === 0 ? HOLD_REASONS : ['clock'])
    this.#timer = setInterval(sweep, 1000).unref()
  }

  /** Fixes of a device are being stored as `unknown` or `no_route`; `stored` settles when they are, or are not. */
  noteHeld(device: string, stored: Promise<unknown>): void {
    this.#waiting.add(device)
    this.#underWay.set(device, (this.#underWay.get(device) ?? 0) + 1)
    const arrived = () => {
      const left = (this.#underWay.get(device) ?? 1) - 1
      if (left > 0) this.#underWay.set(device, left)
      else this.#underWay.delete(device)
    }
    stored.then(arrived, arrived)
  }

  /** The roster has changed: held fixes go where they belong now. */
  rosterChanged(): void {
    const { roster } = this.#options.replica
    const devices = new Set([...this.#waiting].map((device) => roster.find(device)?.id ?? device))
    this.releasing = devices
    void this.#release(devices)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#timer)
    await this.#sweeping
  }

  /** New fixes of a device go behind the held ones until none of these moves, and none is on its way to them. */
  async #release(devices: Set<string>): Promise<void> {
    while (devices.size > 0 && devices === this.releasing && !this.#closing.signal.aborted) {
      const moved = await this.#sweepNext(HOLD_REASONS)
      if (moved)
        for (const device of devices) if (!moved.has(device) && !this.#underWay.has(device)) devices.delete(device)
      if (!moved) await sleep(RETRY_MS, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {})
    }
  }

  /** Sweeps after the sweeps before. Answers the devices of which something moved; undefined where it could not sweep. */
  #sweepNext(reasons: readonly HoldReason[]): Promise<ReadonlySet<string> | undefined> {
    const sweep = this.#sweeping
      .then(() => this.#sweep(reasons))
      .catch((error: unknown) => {
        this.#options.logger.debug({ err: error }, 'held fixes wait for Redis')
        return undefined
      })
    this.#sweeping = sweep
    return sweep
  }

  async #sweep(reasons: readonly HoldReason[]): Promise<ReadonlySet<string> | undefined> {
    const { appender, logger, redis, replica } = this.#options
    if (!replica.current) return undefined
    const moved = new Set<string>()
    for (const reason of reasons)
      for (const device of await heldDevices(redis, reason)) {
        const fate = (record: Buffer) => this.#fateOf(record, reason, device)
        const fixes = await sweepHeld(redis, appender, { reason, device, fate })
        if (fixes === 0) continue
        moved.add(replica.roster.find(device)?.id ?? device)
        logger.info({ device, reason, fixes }, 'held fixes released or discarded')
      }
    const still = await Promise.all([heldDevices(redis, 'unknown'), heldDevices(redis, 'no_route')])
    this.#waiting = new Set(still.flat())
    return moved
  }

  #fateOf(record: Buffer, reason: HoldReason, device: string): Fate {
    const { clock, filter, hold, replica } = this.#options
    const { roster } = replica
    const now = Date.now()
    const received = receivedAt(record)
    const entry = roster.find(device)
    // A fix without a time of its own has that of its arrival, which no time zone changes.
    const hasOwnTime = timestampOf(record) !== Math.floor(received / 1000)
    const origin = { entry: hasOwnTime ? entry : withoutZone(entry), now, isReleasing: false }
    const verdict = judge(fixOf(record), origin, { roster, filter, hold, isClockInDoubt: clock.isInDoubt })
    if ('filtered' in verdict) return { gone: `filtered:${verdict.filtered}` }
    const id = entry?.id ?? device
    const records = packRecords([verdict.position], packDevice(id), received)
    if ('lane' in verdict) return { lane: verdict.lane.key, device: id, records }
    if (received < now - hold.max_age) return { gone: 'discarded:held_age' }
    return verdict.held === reason ? 'stays' : { held: verdict.held, device: id, records }
  }
}

function withoutZone(entry: DeviceEntry | undefined): DeviceEntry | undefined {
  return entry && { ...entry, time_zone: undefined }
}

function fixOf(record: Buffer): Fix {
  const { timestamp, ...position } = positionOf(record)
  return { ...position, time: timestamp * 1000, valid: true }
}

const SWEEP_ALL_EVERY = 5
const RETRY_MS = 1000
