import type { Fix } from '../../protocols/kit/index.ts'
import {
  type AppenderOptions,
  type Fate,
  type HoldReason,
  HOLD_REASONS,
  heldDevices,
  packDevice,
  packRecords,
  positionOf,
  receivedAt,
  type Redis,
  sweepHeld,
} from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { judge, type JudgeOptions } from './judge.ts'

export interface Holding {
  /** Whether fixes of a device are being released, so that new ones have to go behind them. */
  releasing(device: string): boolean
  /** Something of a device is being held for want of an entry or a route. */
  held(device: string): void
  /** The directory has changed: what is held goes where it belongs by now. */
  configured(): void
  close(): Promise<void>
}

export interface HoldingOptions {
  readonly redis: Redis
  readonly appender: AppenderOptions
  readonly judge: () => JudgeOptions
  readonly logger: Logger
}

/** Releases held fixes, in order, once the configuration or the time says where they belong; discards those too old. */
export function createHolding({ redis, appender, judge: options, logger }: HoldingOptions): Holding {
  /** Devices with fixes held for want of an entry or a route, as of the last look, and those of this process since. */
  let waiting = new Set<string>()
  let leaving = new Set<string>()
  let looks = 0
  let sweeping: Promise<void> = Promise.resolve()

  async function sweep(reasons: readonly HoldReason[]): Promise<void> {
    for (const reason of reasons)
      for (const device of await heldDevices(redis, reason)) {
        const moved = await sweepHeld(redis, appender, { reason, device, fate: fateOf(reason, device) })
        if (moved > 0) logger.info({ device, reason, fixes: moved }, 'held fixes released or discarded')
      }
    const still = await Promise.all([heldDevices(redis, 'unknown'), heldDevices(redis, 'no_route')])
    waiting = new Set(still.flat())
  }

  function fateOf(reason: HoldReason, device: string): (record: Buffer) => Fate {
    return (record) => {
      const now = Date.now()
      const received = receivedAt(record)
      const entry = options().directory.find(device)
      const verdict = judge(fixOf(record), entry, now, options())
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
    held: (device) => void waiting.add(device),
    configured() {
      const now = new Set([...waiting].map((device) => options().directory.find(device)?.id ?? device))
      leaving = now
      void queue(HOLD_REASONS).then(() => {
        if (leaving === now) leaving = new Set()
        // What came meanwhile went behind the rest.
        return queue(HOLD_REASONS)
      })
    },
    async close() {
      clearInterval(timer)
      await sweeping
    },
  }
}

function fixOf(record: Buffer): Fix {
  const { timestamp, ...position } = positionOf(record)
  return { ...position, time: timestamp * 1000, valid: true }
}
