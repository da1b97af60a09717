import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  connect,
  createAppender,
  custodyCounters,
  keys,
  packDevice,
  packRecords,
  type Redis,
  release,
  surveyLanes,
  surveyRefused,
} from '../../src/lanes/index.ts'
import { createLogger } from '../../src/observe/log.ts'
import { startPushing } from '../../src/push/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { startTestRedis, type TestRedis } from '../redis.ts'
import { ok, startApi, status } from './api.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })
const DEVICE = packDevice('356307042441013')
const PUSH = { concurrency: 64, max_requests_per_s: null, first_delay: 20, max_delay: 100 }

let server: TestRedis
let redis: Redis
let api: Awaited<ReturnType<typeof startApi>>
let stops: (() => Promise<void>)[] = []

beforeAll(async () => {
  server = await startTestRedis()
  redis = connect(server.url, 'test')
  await new Promise((resolve) => redis.once('ready', resolve))
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})
beforeEach(async () => {
  await redis.flushall()
  api = await startApi()
})
afterEach(async () => {
  for (const stop of stops.toReversed()) await stop()
  stops = []
  await api.close()
})

function pushing({ push = PUSH, max_positions = 3, apikeys = new Map([['7', 'key-7']]) } = {}) {
  const client = createTrackingClient({ baseUrl: api.url, timeoutMs: 2000, connections: push.concurrency })
  const connection = connect(server.url, 'worker')
  const { stop } = startPushing({
    redis: connection,
    redisUrl: server.url,
    client,
    apikeyOf: (company) => apikeys.get(company),
    batch: { max_positions, max_wait: 0 },
    push,
    logger,
  })
  const end = async () => {
    await stop()
    await client.close()
    connection.disconnect()
  }
  stops.push(end)
  return end
}

async function store(lane: string, ...timestamps: number[]): Promise<void> {
  const appender = createAppender(redis, 0)
  const positions = timestamps.map((timestamp) => ({ timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5 }))
  const records = packRecords(positions, DEVICE, Date.now())
  await appender.append({ parts: [{ lane, records }], received: timestamps.length, filtered: [] })
  await appender.close()
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
const soon = { timeout: 10_000, interval: 20 }
const delivered = async () => (await custodyCounters(redis)).get('delivered') ?? 0
const laneState = async (lane: string) =>
  (await Array.fromAsync(surveyLanes(redis))).find((state) => state.lane === lane)

describe('what waits', () => {
  it('is pushed in order, in whole batches, one request of a lane at a time, under its company’s key', async () => {
    await store('7/42/1001', ...range(1, 10))
    pushing()
    await expect.poll(delivered, soon).toBe(10)
    expect(api.seen.map(({ timestamps }) => timestamps)).toEqual([range(1, 3), range(4, 6), range(7, 9), [10]])
    expect(
      api.seen.every(({ apikey, together, lane }) => apikey === 'key-7' && together === 1 && lane === '42/1001'),
    ).toBe(true)
    expect(await redis.zcard(keys.schedule)).toBe(0)
  })

  it('of many lanes is pushed side by side, and each lane in its order', async () => {
    for (const courier of range(1, 200)) await store(`7/${courier}/1`, ...range(1, 7))
    api.respond((push, response) => void setTimeout(() => ok(push, response), 20))
    pushing()
    pushing()
    await expect.poll(delivered, soon).toBe(1400)
    for (const courier of range(1, 200)) expect(api.timestampsOf(`${courier}/1`)).toEqual(range(1, 7))
    expect(api.seen.every(({ together }) => together === 1)).toBe(true)
  })

  it('is pushed by at most so many requests at once', async () => {
    for (const courier of range(1, 20)) await store(`7/${courier}/1`, 1)
    let together = 0
    let most = 0
    api.respond((push, response) => {
      most = Math.max(most, ++together)
      setTimeout(() => {
        together--
        ok(push, response)
      }, 20)
    })
    pushing({ push: { ...PUSH, concurrency: 3 } })
    await expect.poll(delivered, soon).toBe(20)
    expect(most).toBe(3)
  })

  it('does not starve other lanes behind a lane with a long backlog', async () => {
    await store('7/1/1', ...range(1, 300))
    await store('7/2/1', 1)
    pushing({ push: { ...PUSH, concurrency: 1 } })
    await expect.poll(delivered, soon).toBe(301)
    expect(api.seen.findIndex(({ lane }) => lane === '2/1')).toBeLessThan(20)
    expect(api.timestampsOf('1/1')).toEqual(range(1, 300))
  })
})

describe('a failure that may pass', () => {
  it.each([500, 503, 429, 408])('such as %i keeps all in order until it has passed', async (code) => {
    let failures = 3
    api.respond((push, response) => (failures-- > 0 ? status(code) : ok)(push, response))
    await store('7/42/1', ...range(1, 5))
    pushing()
    await expect.poll(delivered, soon).toBe(5)
    expect(api.seen.map(({ timestamps }) => timestamps)).toEqual([
      ...Array(3).fill(range(1, 3)),
      range(1, 3),
      range(4, 5),
    ])
  })

  it('such as a connection that breaks in the middle keeps all', async () => {
    let failures = 2
    api.respond((push, response) => (failures-- > 0 ? response.destroy() : ok(push, response)))
    await store('7/42/1', 1, 2)
    pushing()
    await expect.poll(delivered, soon).toBe(2)
    expect(api.timestampsOf('42/1')).toEqual([1, 2, 1, 2, 1, 2])
  })

  it('is tried again no sooner than the service asked', async () => {
    await store('7/42/1', 1)
    api.respond(status(503, '', { 'retry-after': '30' }))
    pushing()
    await expect.poll(async () => (await laneState('7/42/1'))?.lastPush?.status, soon).toBe('503')
    expect(Number(await redis.zscore(keys.schedule, '7/42/1'))).toBeGreaterThan(Date.now() + 25_000)
  })

  it('of one lane does not hold up another', async () => {
    api.respond((push, response) => (push.lane === '1/1' ? status(500) : ok)(push, response))
    await store('7/1/1', 1)
    await store('7/2/1', 1)
    pushing()
    await expect.poll(delivered, soon).toBe(1)
    expect((await laneState('7/1/1'))?.waiting).toBe(1)
  })

  it('over two lanes is told as the service being down, until it is up again', async () => {
    api.respond(status(500))
    await store('7/1/1', 1)
    await store('7/2/1', 1)
    pushing()
    await expect.poll(() => redis.hget(keys.upstream, 'state'), soon).toBe('down')
    api.respond(ok)
    await expect.poll(() => redis.hget(keys.upstream, 'state'), soon).toBe('up')
  })
})

describe('a refusal', () => {
  it.each([401, 403, 404, 301, 400])(
    'such as %i parks the lane whole, with what was said; others go on',
    async (code) => {
      api.respond((push, response) =>
        (push.lane === '1/1' ? status(code, '{"message":"no access"}') : ok)(push, response),
      )
      await store('7/1/1', ...range(1, 5))
      await store('7/2/1', 1)
      pushing()
      await expect
        .poll(async () => (await laneState('7/1/1'))?.parked, soon)
        .toMatchObject({ status: code, message: 'no access' })
      expect(await laneState('7/1/1')).toMatchObject({ waiting: 5 })
      await expect.poll(delivered, soon).toBe(1)
    },
  )

  it('that was mended is found by one position, then all are delivered in order', async () => {
    api.respond(status(404))
    await store('7/42/1', ...range(1, 5))
    pushing()
    await expect.poll(async () => (await laneState('7/42/1'))?.parked?.status, soon).toBe(404)
    api.respond(ok)
    expect(await release(redis, '7/42/1')).toBe(5)
    await expect.poll(delivered, soon).toBe(5)
    expect(api.seen.slice(1).map(({ timestamps }) => timestamps)).toEqual([[1], [2, 3, 4], [5]])
    expect(await redis.hlen(keys.parked)).toBe(0)
  })

  it.each([422, 413])('such as %i parks the batch with the answer, and the rest is delivered', async (code) => {
    api.respond((push, response) => (push.timestamps.includes(2) ? status(code, 'too odd') : ok)(push, response))
    await store('7/42/1', ...range(1, 5))
    pushing()
    await expect.poll(delivered, soon).toBe(2)
    expect(await Array.fromAsync(surveyRefused(redis))).toMatchObject([
      { lane: '7/42/1', refused: [{ status: code, message: 'too odd', count: 3 }] },
    ])
    expect(api.timestampsOf('42/1')).toEqual([1, 2, 3, 4, 5])
  })

  it('for want of an apikey is made by ourselves', async () => {
    await store('8/42/1', 1)
    pushing()
    await expect
      .poll(async () => (await laneState('8/42/1'))?.parked, soon)
      .toMatchObject({ status: 0, message: /no apikey/ })
    expect(api.seen).toEqual([])
  })
})

describe('Redis', () => {
  it('that is gone and comes back is all that pushing needs to go on', async () => {
    pushing()
    await store('7/42/1', 1)
    await expect.poll(delivered, soon).toBe(1)
    await server.kill('SIGKILL')
    await server.restart()
    await expect.poll(() => redis.status, soon).toBe('ready')
    await store('7/42/1', 2, 3)
    await expect.poll(delivered, { timeout: 25_000, interval: 50 }).toBe(3)
    expect(api.timestampsOf('42/1')).toEqual([1, 2, 3])
  })
})

describe('stopping', () => {
  it('ends what is on its way first, and leaves the rest for the next worker', async () => {
    api.respond((push, response) => void setTimeout(() => ok(push, response), 200))
    await store('7/42/1', ...range(1, 9))
    const end = pushing()
    await expect.poll(() => api.seen.length, soon).toBe(1)
    await end()
    stops = []
    expect(await delivered()).toBe(3)
    expect(await redis.llen(keys.lane('7/42/1'))).toBe(6)
    pushing()
    await expect.poll(delivered, soon).toBe(9)
    expect(api.timestampsOf('42/1')).toEqual(range(1, 9))
  })
})
