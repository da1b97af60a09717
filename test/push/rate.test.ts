import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogger } from '../../src/observe/log.ts'
import { startPushing } from '../../src/push/index.ts'
import { Rate } from '../../src/push/rate.ts'
import { Appender, connect, custodyCounters, keys, packDevice, packRecords, type Store } from '../../src/store/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { startApi } from '../rig/api.ts'
import { UNFILTERED } from '../support/appending.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

it('a rate spreads N requests evenly over at least (N − 1) / rate seconds', async () => {
  const rate = new Rate(100)
  const began = performance.now()
  const left = await leaving(rate, 31)
  left.forEach((at, n) => expect(at - began).toBeGreaterThanOrEqual(n * 10 - ROUNDING_MS))
})

it('a rate allows no burst after a pause', async () => {
  const rate = new Rate(20)
  await rate.turn()
  await new Promise((resolve) => setTimeout(resolve, 200))
  const began = performance.now()
  const left = await leaving(rate, 3)
  expect(left[1] - began).toBeGreaterThanOrEqual(50 - ROUNDING_MS)
  expect(left[2] - began).toBeGreaterThanOrEqual(100 - ROUNDING_MS)
})

it('a rate catches up at most a tenth of a second after its process stalled', async () => {
  const rate = new Rate(100)
  const waiting = leaving(rate, 60)
  await new Promise((resolve) => setTimeout(resolve, 50))
  for (const until = performance.now() + 400; performance.now() < until; );
  const stoodUntil = performance.now()
  const left = await waiting
  const left20ms = left.filter((at) => at >= stoodUntil && at < stoodUntil + 20).length
  expect(left20ms).toBeLessThanOrEqual(10 + 2 + 1)
})

it('a lowered rate applies to requests that are already waiting', async () => {
  const rate = new Rate(100)
  const began = performance.now()
  const waiting = leaving(rate, 5)
  rate.perSecond = 20
  const left = [...(await waiting), ...(await leaving(rate, 3))]
  expect(left.at(-1)! - began).toBeGreaterThanOrEqual(7 * 50 - ROUNDING_MS)
})

it('a raised rate applies to requests that are already waiting', async () => {
  const rate = new Rate(2)
  const waiting = leaving(rate, 21)
  rate.perSecond = 200
  const left = await waiting
  // This takes a tenth of a second; at the old rate it would take ten seconds.
  expect(left.at(-1)! - left[0]).toBeLessThan(8000)
})

describe('push.max_requests_per_s', () => {
  let server: TestRedis
  let redis: Store
  let api: Awaited<ReturnType<typeof startApi>>
  let arrivals: number[]
  let stops: (() => Promise<void>)[] = []

  withRedis((one, connection) => {
    server = one
    redis = connection
  })
  beforeEach(async () => {
    arrivals = []
    api = await startApi((_, response) => {
      arrivals.push(performance.now())
      response.writeHead(200, { 'content-length': 0 }).end()
    })
  })
  afterEach(async () => {
    for (const stop of stops) await stop()
    stops = []
    await api.close()
  })

  function pushing(perSecond: number) {
    const client = createTrackingClient({ baseUrl: api.url, timeoutMs: 20_000, connections: 64 })
    const connection = connect(server.url, 'worker')
    let requests = 0
    const { stop } = startPushing({
      zone: 'UTC',
      redis: connection,
      client: {
        push: (request) => {
          requests++
          return client.push(request)
        },
      },
      apikeys: new Map([['7', ['key-7']]]),
      place: () => undefined,
      batch: { max_positions: 500, max_wait: 0 },
      keep: { delivered: 0, max_memory: 0.1 },
      push: { concurrency: 64, max_requests_per_s: perSecond, redeliver_share: 0.2, first_delay: 20, max_delay: 100 },
      logger,
    })
    stops.push(async () => {
      await stop()
      await client.close()
      connection.disconnect()
    })
    return { requests: () => requests }
  }

  const delivered = async () => (await custodyCounters(redis)).get('delivered') ?? 0

  it('one worker sends N requests in at least (N − 1) / rate seconds', async () => {
    pushing(40)
    await expect.poll(() => redis.zcard(keys.workers), soon).toBe(1)
    const began = performance.now()
    await storeInLanes(redis, 61)
    await expect.poll(delivered, soon).toBe(61)
    expect(arrivals).toHaveLength(61)
    expect(arrivals.at(-1)! - began).toBeGreaterThanOrEqual(60 * 25 - ROUNDING_MS)
  })

  it('two workers share the rate in halves once they know of each other', async () => {
    const [one, other] = [pushing(40), pushing(40)]
    await expect.poll(() => redis.zcard(keys.workers), soon).toBe(2)
    await beaten(redis)
    const began = performance.now()
    await storeInLanes(redis, 101)
    await expect.poll(delivered, soon).toBe(101)
    expect(arrivals).toHaveLength(101)
    expect(arrivals.at(-1)! - began).toBeGreaterThanOrEqual(100 * 25 - ROUNDING_MS)
    for (const { requests } of [one, other]) expect(requests()).toBeGreaterThanOrEqual(32)
  })

  it('the rate is kept while a second worker joins', async () => {
    await storeInLanes(redis, 161)
    const began = performance.now()
    pushing(40)
    await expect.poll(() => arrivals.length, soon).toBeGreaterThanOrEqual(5)
    const other = pushing(40)
    await expect.poll(() => redis.zcard(keys.workers), soon).toBe(2)
    await beaten(redis)
    // The first worker uses the whole rate until it knows of the second.
    const early = other.requests()
    await expect.poll(delivered, soon).toBe(161)
    expect(arrivals.at(-1)! - began).toBeGreaterThanOrEqual((161 - early - 2) * 25)
  })
})

/** Returns the times of `count` turns that were requested at once, in order. */
function leaving(rate: { turn(): Promise<void> }, count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => rate.turn().then(() => performance.now())))
}

/** Resolves when every worker has given another sign of life, and so knows of the others. */
async function beaten(redis: Store): Promise<void> {
  const members = await redis.zrange(keys.workers, '0', '-1')
  const before = await redis.zmscore(keys.workers, ...members)
  await expect
    .poll(async () => {
      const now = await redis.zmscore(keys.workers, ...members)
      return now.every((score, i) => score !== before[i])
    }, soon)
    .toBe(true)
}

/** Stores one fix in each of this number of lanes, so that each is a request. */
async function storeInLanes(redis: Store, lanes: number): Promise<void> {
  const appender = new Appender(redis, UNFILTERED)
  const parts = Array.from({ length: lanes }, (_, i) => {
    const position = { timestamp: 1, latitude: 52.5, longitude: 13.4, accuracy: 5 }
    return { lane: `7/${i + 1}/1`, device: ID, records: packRecords([position], DEVICE, Date.now()) }
  })
  await appender.append({ parts, received: lanes, filtered: [] })
  await appender.close()
}

const logger = createLogger('test', { level: 'fatal', format: 'json' })
const ID = '356307042441013'
const DEVICE = packDevice(ID)
const soon = { timeout: 30_000, interval: 20 }
/** Tolerance for rounded sums; times start before the first turn, so a slow machine only makes them longer. */
const ROUNDING_MS = 0.001
