import { expect } from 'vitest'
import { createLogger } from '../../src/observe/log.ts'
import { startPushing } from '../../src/push/index.ts'
import {
  Appender,
  connect,
  custodyCounters,
  type Position,
  packDevice,
  packRecords,
  type Store,
} from '../../src/store/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { UNFILTERED } from './appending.ts'

export interface WorkerOptions {
  readonly redisUrl: string
  readonly baseUrl: string
  readonly apikeys: ReadonlyMap<string, readonly string[]>
  /** ms for which what was delivered is kept. */
  readonly delivered: number
}

/** Starts a worker that pushes what waits, and keeps what was delivered. Returns what ends it. */
export function startWorker({ apikeys, baseUrl, delivered, redisUrl }: WorkerOptions): () => Promise<void> {
  const client = createTrackingClient({ baseUrl, timeoutMs: 20_000, connections: 8 })
  const connection = connect(redisUrl, 'worker')
  const { stop } = startPushing({
    redis: connection,
    client,
    apikeys,
    place: () => undefined,
    batch: { max_positions: 500, max_wait: 0 },
    keep: { delivered, max_memory: 0.1 },
    push: { concurrency: 8, max_requests_per_s: null, redeliver_share: 1, first_delay: 20, max_delay: 100 },
    zone: 'UTC',
    logger: createLogger('test', { level: 'fatal', format: 'json' }),
  })
  return async () => {
    await stop()
    await client.close()
    connection.disconnect()
  }
}

export interface Delivery {
  readonly lane: string
  readonly device: string
  readonly positions: readonly Position[]
}

/** Has the worker deliver these, and waits until it has. */
export async function deliverAll(redis: Store, deliveries: readonly Delivery[]): Promise<void> {
  const before = await custody(redis, 'delivered')
  const count = deliveries.reduce((sum, { positions }) => sum + positions.length, 0)
  const appender = new Appender(redis, UNFILTERED)
  const parts = deliveries.map(({ device, lane, positions }) => {
    return { lane, device, records: packRecords(positions, packDevice(device), Date.now()) }
  })
  await appender.append({ parts, received: count, filtered: [] })
  await appender.close()
  const delivered = () => custody(redis, 'delivered')
  await expect.poll(delivered, { timeout: 60_000, interval: 20 }).toBe(before + count)
}

/** A counter of the account. */
export async function custody(redis: Store, name: string): Promise<number> {
  return (await custodyCounters(redis)).get(name) ?? 0
}
