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
import { type JudgeOptions, judge } from './judge.ts'

export interface Holding {
  /** Whether fixes of a device are being released, so that new ones have to go behind them. */
  releasing(device: string): boolean
  /** Something of a device is being held for want of an entry or a route; `stored` says when it is, or is not. */
  held(device: string, stored: Promise<unknown>): void
  /** The directory has changed: what is held goes where it belongs by now. */
  configured(): void
  close(): Promise<void>
}

export interface HoldingOptions {
  readonly redis: Redis
  readonly appender: AppenderOptions
  /** Whether it is known who drives what; before that everything stays where it is. */
  readonly complete: () => boolean
  readonly judge: () => JudgeOptions
  readonly logger: Logger
}

/** Releases held fixes, in order, once the configuration or the time says where they belong; discards those too old. */
export function createHolding({ redis, appender, complete, judge: options, logger }: HoldingOptions): Holding {
  /** Devices with fixes held for want of an entry or a route, as of the last look, and those of this process since. */
  let waiting = new Set<string>()
  let leaving = new Set<string>()
  /** How many frames of a device are on their way to what is held. */
  const underWay = new Map<string, number>()
  /** Devices of which the last sweep moved anything. */
  let moving = new Set<string>()
  let looks = 0
  const closing = new AbortController()
  let sweeping: Promise<void> = Promise.resolve()

  async function sweep(reasons: readonly HoldReason[]): Promise<void> {
    if (!complete()) return
    const now = new Set<string>()
    for (const reason of reasons)
      for (const device of await heldDevices(redis, reason)) {
        const moved = await sweepHeld(redis, appender, { reason, device, fate: fateOf(reason, device) })
        if (moved === 0) continue
        now.add(options().directory.find(device)?.id ?? device)
        logger.info({ device, reason, fixes: moved }, 'held fixes released or discarded')
      }
    moving = now
    const still = await Promise.all([heldDevices(redis, 'unknown'), heldDevices(redis, 'no_route')])
    waiting = new Set(still.flat())
  }

  /** Until nothing of a device moves any more, and nothing of it is on its way to be held, what it sends goes behind. */
  async function release(these: Set<string>): Promise<void> {
    await queue(HOLD_REASONS)
    for (const device of these) if (!moving.has(device) && !underWay.has(device)) these.delete(device)
    if (these.size > 0 && these === leaving && !closing.signal.aborted) await release(these)
  }

  function fateOf(reason: HoldReason, device: string): (record: Buffer) => Fate {
    return (record) => {
      const now = Date.now()
      const received = receivedAt(record)
      const entry = options().directory.find(device)
      // A fix without a time of its own was given that of its arrival, which no time zone changes.
      const ownTime = timestampOf(record) !== Math.floor(received / 1000)
      const verdict = judge(fixOf(record), ownTime ? entry : withoutZone(entry), now, options())
      if ('filtered' in verdict) return { gone: `filtered:${verdict.filtered}` }
      const id = entry?.id ?? device
      const records = packRecords([verdict.position], packDevice(id), received)
      if ('lane' in verdict) return { lane: verdict.lane.key, device: id, records }
      if (received < now - options().hold.max_age) return { gone: 'discarded:held_age' }
      return verdict.held === reason ? 'stays' : { held: verdict.held, device: id, records }
    }
  }

  function queue(reasons: readonly HoldReason[]): Promise<void> {
    sweeping = sweeping
      .then(() => sweep(reasons))
      .catch((error: unknown) => logger.debug({ err: error }, 'what is held waits for Redis'))
    return sweeping
  }

  const timer = setInterval(() => void queue(looks++ % 5 === 0 ? HOLD_REASONS : ['clock']), 1000).unref()
  return {
    releasing: (device) => leaving.has(device),
    held(device, stored) {
      waiting.add(device)
      underWay.set(device, (underWay.get(device) ?? 0) + 1)
      const over = () => {
        const left = (underWay.get(device) ?? 1) - 1
        if (left > 0) underWay.set(device, left)
        else underWay.delete(device)
      }
      stored.then(over, over)
    },
    configured() {
      leaving = new Set([...waiting].map((device) => options().directory.find(device)?.id ?? device))
      void release(leaving)
    },
    async close() {
      closing.abort()
      clearInterval(timer)
      await sweeping
    },
  }
}

function withoutZone(entry: DeviceEntry | undefined): DeviceEntry | undefined {
  return entry && { ...entry, time_zone: undefined }
}

function fixOf(record: Buffer): Fix {
  const { timestamp, ...position } = positionOf(record)
  return { ...position, time: timestamp * 1000, valid: true }
}
