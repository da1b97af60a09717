import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogger } from '../../src/observe/log.ts'
import { type CompanyApi, startPushing } from '../../src/push/index.ts'
import {
  Appender,
  connect,
  custodyCounters,
  describeLanes,
  keyOf,
  keys,
  packDevice,
  packRecords,
  type Store,
} from '../../src/store/index.ts'
import { createTrackingClient, type TrackingClient } from '../../src/tracking/client.ts'
import { ok, type Respond, startApi, status, type TestApi } from '../rig/api.ts'
import { UNFILTERED } from '../support/appending.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })
const soon = { timeout: 60_000, interval: 20 }
const hang: Respond = () => {}

let server: TestRedis
let redis: Store
let apis: TestApi[]
let clients: TrackingClient[]
let stops: (() => Promise<void>)[]

withRedis((one, connection) => {
  server = one
  redis = connection
})
beforeEach(() => void ([apis, clients, stops] = [[], [], []]))
afterEach(async () => {
  for (const api of apis) api.cut()
  for (const stop of stops.toReversed()) await stop()
  await Promise.all([...clients.map((client) => client.close()), ...apis.map((api) => api.close())])
})

async function open(respond: Respond = ok): Promise<TestApi> {
  const api = await startApi(respond)
  apis.push(api)
  return api
}

function clientOf({ url }: TestApi, timeoutMs = 60_000): TrackingClient {
  const client = createTrackingClient({ baseUrl: url, timeoutMs, connections: 64 })
  clients.push(client)
  return client
}

/** Returns an API whose `id` is its URL, as configured. */
function ownApi(api: TestApi, { timeoutMs = 60_000, ...bounds }: Partial<CompanyApi> & { timeoutMs?: number } = {}) {
  return { id: api.url, client: clientOf(api, timeoutMs), concurrency: 4, max_requests_per_s: null, ...bounds }
}

/** Starts a worker; companies without their own API push to `usual`. */
function pushing(usual: TestApi, companyApis: Readonly<Record<string, CompanyApi>>, concurrency = 4) {
  const connection = connect(server.url, 'worker')
  const worker = startPushing({
    zone: 'UTC',
    redis: connection,
    client: clientOf(usual),
    companyApis: new Map(Object.entries(companyApis)),
    apikeys: new Map(['1', '2', '3', '4', '5'].map((id) => [id, [`key-${id}`]])),
    place: () => undefined,
    batch: { max_positions: 100, max_wait: 0 },
    keep: { delivered: 0, max_memory: 0.1 },
    push: { concurrency, max_requests_per_s: null, redeliver_share: 0.2, first_delay: 50, max_delay: 500 },
    logger,
  })
  stops.push(async () => {
    await worker.stop()
    connection.disconnect()
  })
  return worker
}

/** Stores a fix in each of this number of lanes of a company. */
async function store(company: string, lanes: number, { route = 1, timestamp = NOW } = {}): Promise<void> {
  const appender = new Appender(redis, UNFILTERED)
  const positions = [{ timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5 }]
  const parts = Array.from({ length: lanes }, (_, i) => {
    const records = packRecords(positions, packDevice(`${company}${i}`), Date.now())
    return { lane: `${company}/${1000 + i}/${route}`, device: `${company}${i}`, records }
  })
  await appender.append({ parts, received: lanes, filtered: [] })
  await appender.close()
}

const parked = async () =>
  (await describeLanes(redis, ['2/1000/1', '2/1001/1', '2/1002/1'])).map((lane) => lane.parked?.status)
const NOW = Math.floor(Date.now() / 1000)
const stateOf = async ({ url }: TestApi) => (await redis.hget(keyOf(keys.upstream, url), 'state')) ?? 'up'
const delivered = async () => (await custodyCounters(redis)).get('delivered') ?? 0
const positionsAt = (api: TestApi) => new Set(api.seen.map(({ lane }) => lane)).size

/** Stores a fix in 20 lanes of the company and waits for their delivery. Returns the duration in ms. */
async function deliveryMs(company: string, api: TestApi, route: number): Promise<number> {
  const began = performance.now()
  const before = positionsAt(api)
  await store(company, 20, { route })
  await expect.poll(() => positionsAt(api), soon).toBe(before + 20)
  return performance.now() - began
}

describe('one of several APIs', () => {
  it.each([
    ['hangs', hang, 2000, undefined],
    ['refuses connections', 'closed', 2000, 'down'],
    ['answers 503', status(503), 2000, 'down'],
    ['limits us', status(429), 2000, 'limited'],
  ] as const)(
    'an API that %s with 2,000 waiting lanes does not delay other APIs, and gets all fixes when it recovers',
    async (_, respond, lanes, state) => {
      const usual = await open()
      const bad = await open(respond === 'closed' ? ok : respond)
      if (respond === 'closed') await bad.close()
      pushing(usual, { 2: ownApi(bad) })
      const calm = await deliveryMs('1', usual, 1)
      await store('2', lanes)
      if (state) await expect.poll(() => stateOf(bad), soon).toBe(state)
      // The lanes of the failing API have been tried once.
      if (state) await expect.poll(() => redis.zcard(keyOf(keys.aside, bad.url)), soon).toBeGreaterThan(0)
      else await expect.poll(() => bad.seen.length, soon).toBe(4)
      const times = []
      for (let route = 2; route < 12; route++) times.push(await deliveryMs('1', usual, route))
      expect(Math.max(...times)).toBeLessThan(Math.max(1500, 3 * calm))
      expect(await stateOf({ url: '' } as TestApi)).toBe('up')
      expect(usual.seen.every(({ apikey }) => apikey === 'key-1')).toBe(true)
      if (respond === 'closed') await bad.open()
      bad.respond(ok)
      bad.cut()
      await expect.poll(delivered, soon).toBe(11 * 20 + lanes)
      expect(positionsAt(bad)).toBe(lanes)
      expect(bad.seen.every(({ apikey, together }) => apikey === 'key-2' && together === 1)).toBe(true)
      expect(await stateOf(bad)).toBe('up')
      expect(await redis.zcard(keys.schedule)).toBe(0)
    },
    120_000,
  )

  it('of five APIs, one that works delivers as if it were alone beside four that fail', async () => {
    const [usual, hanging, gone, limited, failing] = [
      await open(),
      await open(hang),
      await open(),
      await open(status(429)),
      await open(status(503)),
    ]
    await gone.close()
    pushing(usual, { 2: ownApi(hanging), 3: ownApi(gone), 4: ownApi(limited), 5: ownApi(failing) })
    const calm = await deliveryMs('1', usual, 1)
    for (const company of ['2', '3', '4', '5']) await store(company, 500)
    await expect
      .poll(() => Promise.all([gone, limited, failing].map(stateOf)), soon)
      .toEqual(['down', 'limited', 'down'])
    const times = []
    for (let route = 2; route < 12; route++) times.push(await deliveryMs('1', usual, route))
    expect(Math.max(...times)).toBeLessThan(Math.max(1500, 3 * calm))
    await gone.open()
    for (const api of [hanging, limited, failing]) api.respond(ok)
    hanging.cut()
    await expect.poll(delivered, soon).toBe(11 * 20 + 4 * 500)
    for (const api of [hanging, gone, limited, failing]) expect(positionsAt(api)).toBe(500)
  })

  it('an API with a single lane is down after five failures, even if other lanes wait for other APIs', async () => {
    const [usual, failing] = [await open(hang), await open(status(500))]
    pushing(usual, { 2: ownApi(failing) })
    await store('1', 10)
    await store('2', 1)
    await expect.poll(() => stateOf(failing), soon).toBe('down')
    expect(await redis.hget(keys.upstream, 'state')).toBeNull()
    failing.respond(ok)
    await expect.poll(delivered, soon).toBe(1)
  })
})

describe('the bounds of each API', () => {
  it('each API has its own number of concurrent requests', async () => {
    const [usual, own] = [await open(hang), await open(hang)]
    pushing(usual, { 2: ownApi(own, { concurrency: 2 }) }, 3)
    await store('1', 20)
    await store('2', 20)
    await expect.poll(() => [usual.seen.length, own.seen.length], soon).toEqual([3, 2])
  })

  it('each API has its own rate', async () => {
    const arrivals: number[] = []
    const usual = await open()
    const own = await open((push, response) => {
      arrivals.push(performance.now())
      ok(push, response)
    })
    pushing(usual, { 2: ownApi(own, { max_requests_per_s: 20 }) })
    await store('2', 21)
    await store('1', 200)
    await expect.poll(delivered, soon).toBe(221)
    expect(arrivals.at(-1)! - arrivals[0]).toBeGreaterThanOrEqual(20 * 50 - 110)
  })

  it('companies with the same URL share the bounds of an API', async () => {
    const [usual, own] = [await open(), await open(hang)]
    const api = ownApi(own, { concurrency: 2 })
    pushing(usual, { 2: api, 3: { ...api } })
    await store('2', 10)
    await store('3', 10)
    await expect.poll(() => own.seen.length, soon).toBe(2)
    await store('1', 20)
    await expect.poll(delivered, soon).toBe(20)
    expect(own.seen).toHaveLength(2)
  })
})

describe('a company whose API changes', () => {
  it('if the API of a company hangs and changes, waiting fixes go to the new one, and sent ones only after a failure', async () => {
    const [usual, old, next] = [await open(), await open(hang), await open()]
    const worker = pushing(usual, { 2: ownApi(old) })
    await store('2', 300)
    await expect.poll(() => old.seen.length, soon).toBe(4)
    worker.setApis(new Map([['2', ownApi(next)]]))
    await expect.poll(delivered, soon).toBe(296)
    expect(usual.seen).toEqual([])
    old.cut()
    await expect.poll(delivered, soon).toBe(300)
    expect(positionsAt(next)).toBe(300)
    expect(old.seen).toHaveLength(4)
  })

  it('fixes set aside while the API of a company is down go to its new API', async () => {
    const [usual, old, next, other] = [await open(), await open(status(503)), await open(), await open()]
    const [api, third] = [ownApi(old), ownApi(other)]
    const worker = pushing(usual, { 2: api, 3: third, 4: api })
    await store('2', 300)
    await expect.poll(() => stateOf(old), soon).toBe('down')
    await expect.poll(() => redis.zcard(keyOf(keys.aside, old.url)), soon).toBeGreaterThan(200)
    await store('4', 10)
    const changedAt = performance.now()
    worker.setApis(
      new Map([
        ['2', ownApi(next)],
        ['3', third],
        ['4', api],
      ]),
    )
    await expect.poll(() => positionsAt(next), soon).toBe(300)
    expect(performance.now() - changedAt).toBeLessThan(10_000)
    old.respond(ok)
    await expect.poll(delivered, soon).toBe(310)
    expect(usual.seen).toEqual([])
  })

  it('after a change of API and apikey no request shows the new key to the old API, or the old key to the new one', async () => {
    const [usual, next] = [await open(), await open()]
    const asked: (() => void)[] = []
    const old = await open((_, response) => void asked.push(() => response.writeHead(403).end()))
    const worker = pushing(usual, { 2: ownApi(old, { max_requests_per_s: 1 }) })
    await store('2', 4)
    await expect.poll(() => asked.length, soon).toBe(1)
    // The other requests wait for the rate limit.
    worker.setApis(new Map([['2', ownApi(next)]]))
    worker.setApikeys(new Map([['2', ['next-key']]]))
    for (const answer of asked) answer()
    await expect.poll(delivered, soon).toBe(4)
    expect(old.seen.map(({ apikey }) => apikey)).toEqual(['key-2'])
    expect(new Set(next.seen.map(({ apikey }) => apikey))).toEqual(new Set(['next-key']))
    expect(usual.seen).toEqual([])
  })

  it.each([404, 422])('a late answer %d of the old API does not affect a company with a new API', async (code) => {
    const [usual, next] = [await open(), await open()]
    const asked: (() => void)[] = []
    const old = await open((_, response) => void asked.push(() => response.writeHead(code).end('{}')))
    const worker = pushing(usual, { 2: ownApi(old) })
    await store('2', 3)
    await expect.poll(() => asked.length, soon).toBe(3)
    worker.setApis(new Map([['2', ownApi(next)]]))
    // By then, everything that the change makes due has been tried.
    await sleep(500)
    for (const answer of asked) answer()
    // Shorter than the time until parked lanes are tried again.
    await expect.poll(delivered, { ...soon, timeout: 8000 }).toBe(3)
    expect(positionsAt(next)).toBe(3)
    expect(await parked()).toEqual([undefined, undefined, undefined])
  })

  it('a company that returns to the common API has its parked lanes tried there', async () => {
    const [usual, old] = [await open(), await open(status(404, 'no such courier'))]
    const worker = pushing(usual, { 2: ownApi(old) })
    await store('2', 3)
    await expect.poll(parked, soon).toEqual([404, 404, 404])
    worker.setApis(new Map())
    await expect.poll(delivered, soon).toBe(3)
    expect(positionsAt(usual)).toBe(3)
  })
})

it('two workers share each API, and an API that hangs blocks neither of them', async () => {
  const [usual, hanging] = [await open(), await open(hang)]
  const api = ownApi(hanging)
  pushing(usual, { 2: api })
  pushing(usual, { 2: api })
  await expect.poll(() => redis.zcard(keys.workers), soon).toBe(2)
  await store('2', 5000)
  await expect.poll(() => hanging.seen.length, soon).toBeGreaterThanOrEqual(4)
  const times = []
  for (let route = 1; route < 9; route++) times.push(await deliveryMs('1', usual, route))
  expect(Math.max(...times)).toBeLessThan(2000)
  expect(hanging.seen.length).toBeLessThanOrEqual(8)
})
