import { within } from '../async.ts'
import { memoryShare } from '../ingest/acceptance.ts'
import type { Redis } from '../lanes/index.ts'
import { operationGauges } from '../observe/metrics.ts'
import type { Account } from './account.ts'
import type { DeviceState } from './device/state.ts'
import type { Upstream } from './upstream.ts'

export interface GaugeSources {
  readonly redis: Redis
  readonly account: () => Promise<Account>
  readonly upstream: () => Promise<Upstream>
  readonly devices: () => Promise<Record<DeviceState, number>>
}

/**
 * Gauges of what stands in Redis, taken whenever the metrics of this process are read. Where they are not known they have no
 * value; where taking them is slow, their last one.
 */
export function startGauges({ redis, account, upstream, devices }: GaugeSources): { readonly close: () => void } {
  const gauges = operationGauges(refresh)

  async function refresh(): Promise<void> {
    taking ??= take().finally(() => (taking = undefined))
    await within(PATIENCE_MS, taking)
  }

  async function take(): Promise<void> {
    try {
      const [taken, api, states, memory] = await Promise.all([account(), upstream(), devices(), redis.info('memory')])
      gauges.waiting.set(taken.waiting.fixes)
      gauges.parked.set(taken.parked.fixes)
      for (const [reason, fixes] of Object.entries(taken.heldFor)) gauges.held.set({ reason }, fixes)
      gauges.setDiscarded(taken.discardedFor)
      if (taken.waiting.oldestAt === undefined) gauges.oldest.remove()
      else gauges.oldest.set(taken.waiting.oldestAt / 1000)
      gauges.difference.set(taken.custody.difference)
      for (const [state, number] of Object.entries(states)) gauges.devices.set({ state }, number)
      gauges.upstreamUp.set(api.state === 'down' ? 0 : 1)
      gauges.memory.set(memoryShare(memory))
    } catch {
      gauges.forget()
    }
  }

  let taking: Promise<void> | undefined
  return { close: gauges.unregister }
}

const PATIENCE_MS = 2000
