import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogger } from '../../src/observe/log.ts'
import { startPushing } from '../../src/push/index.ts'
import { Appender, connect, custodyCounters, keys, packDevice, packRecords, type Store } from '../../src/store/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { ok, type Respond, startApi, status } from '../rig/api.ts'
import { UNFILTERED } from '../support/appending.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
let redis: Store
let api: Awaited<ReturnType<typeof startApi>>
let together: number
let most: number
let stops: (() => Promise<void>)[] = []

withRedis((one, connection) => {
  server = one
  redis = connection
})
beforeEach(async () => {
  together = 0
  most = 0
  api = await startApi(counted(ok))
})
afterEach(async () => {
  for (const stop of stops.toReversed()) await stop()
  stops = []
  await api.close()
})

describe('an outage with 2,000 lanes of 5 fixes', () => {
  it.each([
    ['answering 503', status(503)],
    ['cutting connections', (_, response) => void response.destroy()],
  ] as [string, Respond][])(
    'one request at a time probes an API %s, and when it recovers every fix arrives once and in order',
    async (_, failing) => {
      api.respond(counted(failing))
      // The first call also loads its script.
      await storeBacklog(redis, 1)
      await redis.flushall()
      const bytes = await memoryOf(() => storeBacklog(redis, LANES))
      expect(bytes).toBeLessThan(LANES * (FIXES * BYTES_PER_FIX + BYTES_PER_LANE))
      pushing()
      await expect.poll(state, soon).toBe('down')
      await probes()
      const lost = api.seen.length
      api.respond(counted(ok))
      await expect.poll(delivered, { timeout: 60_000, interval: 50 }).toBe(LANES * FIXES)
      const pushes = api.seen.slice(lost)
      arrivedInOrder(pushes)
      // Each lane has its first request before any lane has its second.
      expect(new Set(pushes.slice(0, LANES * 1.1).map(({ lane }) => lane)).size).toBe(LANES)
      expect(most).toBeLessThanOrEqual(CONCURRENCY)
      expect(await state()).toBe('up')
      expect(await redis.zcard(keys.schedule)).toBe(0)
    },
    120_000,
  )
})

it('a Redis that refuses writes is retried at a limited rate, and all is delivered when it accepts them', async () => {
  let isRefusing = false
  const refuse = (count: number) => redis.config('SET', 'min-replicas-to-write', count)
  // The first answer comes when Redis already refuses the result of the ticket.
  api.respond((push, response) => {
    const before = isRefusing ? Promise.resolve('OK') : refuse(1)
    isRefusing = true
    void before.then(() => ok(push, response))
  })
  await storeBacklog(redis, LANES)
  pushing()
  await expect.poll(() => isRefusing, soon).toBe(true)
  // Each leased lane sends one request at once.
  await expect.poll(refusedInTwoSeconds, { timeout: 30_000 }).toBeLessThan(200)
  await refuse(0)
  await expect.poll(delivered, { timeout: 60_000, interval: 50 }).toBe(LANES * FIXES)
}, 90_000)

async function refusedInTwoSeconds(): Promise<number> {
  const before = await refused()
  await sleep(2000)
  return (await refused()) - before
}

/** Returns how often Redis has refused a write because a replica is missing. */
async function refused(): Promise<number> {
  return Number(/errorstat_NOREPLICAS:count=(\d+)/.exec(await redis.info('errorstats'))?.[1] ?? 0)
}

/** Checks that only single probes are sent during the next seconds while the service is down. */
async function probes(): Promise<void> {
  let before = -1
  const isQuiet = () => before === (before = api.seen.length) && together === 0
  // Requests in flight at the failure of the service have ended.
  await expect.poll(isQuiet, { timeout: 30_000, interval: 400 }).toBe(true)
  // These were the requests in flight; the worker has released its other leases.
  expect(before).toBeLessThanOrEqual(2 * CONCURRENCY)
  most = 0
  const since = performance.now()
  await expect.poll(() => api.seen.length, { timeout: 30_000, interval: 5 }).toBeGreaterThanOrEqual(before + 2)
  // Between two probes there is a pause of at least half a second.
  expect(api.seen.length - before).toBeLessThanOrEqual(1 + (performance.now() - since) / LEAST_PAUSE_MS)
  expect(most).toBe(1)
}

/** Checks that each lane is delivered completely, once, oldest first, one request at a time. */
function arrivedInOrder(seen: typeof api.seen): void {
  const byLane = Map.groupBy(seen, ({ lane }) => lane)
  expect(byLane.size).toBe(LANES)
  for (const pushes of byLane.values()) expect(pushes.flatMap(({ timestamps }) => timestamps)).toEqual(TIMES)
  expect(seen.every(({ together: ofLane }) => ofLane === 1)).toBe(true)
}

/** Counts the requests in flight. Answers after a while, so that too many of them are noticed. */
function counted(respond: Respond): Respond {
  return (push, response: ServerResponse) => {
    most = Math.max(most, ++together)
    response.once('close', () => together--)
    setTimeout(() => respond(push, response), ANSWER_MS)
  }
}

function pushing(): void {
  const client = createTrackingClient({ baseUrl: api.url, timeoutMs: 60_000, connections: CONCURRENCY })
  const connection = connect(server.url, 'worker')
  const { stop } = startPushing({
    zone: 'UTC',
    redis: connection,
    client,
    apikeys: new Map([['7', ['key-7']]]),
    place: () => undefined,
    batch: { max_positions: 3, max_wait: 0 },
    keep: { delivered: 0, max_memory: 0.1 },
    push: {
      concurrency: CONCURRENCY,
      max_requests_per_s: null,
      redeliver_share: 0.2,
      first_delay: 1000,
      max_delay: 60_000,
    },
    logger,
  })
  stops.push(async () => {
    await stop()
    await client.close()
    connection.disconnect()
  })
}

/** Stores positions of the near future in all lanes at once, so that no lane becomes a minute late during the test. */
async function storeBacklog(to: Store, lanes: number): Promise<void> {
  const appender = new Appender(to, UNFILTERED)
  for (const timestamp of TIMES) {
    const position = { timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5, heading: 90, speed: 10 }
    const parts = Array.from({ length: lanes }, (_, i) => {
      const lane = `7/${i + 1}/${1001 + i}`
      return { lane, device: ID, records: packRecords([position], DEVICE, Date.now() + 600_000) }
    })
    await appender.append({ parts, received: lanes, filtered: [] })
  }
  await appender.close()
}

async function memoryOf(work: () => Promise<void>): Promise<number> {
  const before = await datasetBytes()
  await work()
  return (await datasetBytes()) - before
}

async function datasetBytes(): Promise<number> {
  return Number(/used_memory_dataset:(\d+)/.exec(await redis.info('memory'))?.[1])
}

const state = () => redis.hget(keys.upstream, 'state')
const delivered = async () => (await custodyCounters(redis)).get('delivered') ?? 0

const LANES = 2000
const FIXES = 5
const TIMES = [1, 2, 3, 4, 5]
const CONCURRENCY = 32
const ANSWER_MS = 10
const LEAST_PAUSE_MS = 500
const BYTES_PER_FIX = 40
/** Keys of a lane: its list, its name twice, its place in the schedule. */
const BYTES_PER_LANE = 400
const ID = '356307042441013'
const DEVICE = packDevice(ID)
const logger = createLogger('test', { level: 'fatal', format: 'json' })
const soon = { timeout: 20_000, interval: 20 }
