import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Company } from '../../src/config/schema.ts'
import { localDay } from '../../src/domain/times.ts'
import { metrics } from '../../src/observe/metrics.ts'
import { forgetDevice, keys, type Position, type Store, verifiedOf } from '../../src/store/index.ts'
import { createTrackingClient, type TrackingClient } from '../../src/tracking/client.ts'
import { ReadBack } from '../../src/verify/read-back.ts'
import { Verifier, type VerifySettings } from '../../src/verify/index.ts'
import { custody, deliverAll, startWorker as workerOn } from '../support/delivering.ts'
import type { TestRedis } from '../support/redis.ts'
import { answering, honest, type ReadBackApi, startReadBackApi } from '../support/tracking/read-back-api.ts'
import { withRedis } from '../support/with-redis.ts'

const HOUR = 3_600_000
const KEPT_MS = 48 * HOUR
const YEAR = 365 * 24 * HOUR
const BATCH = { max_positions: 500, max_wait: 0 }
const [VAN, OTHER] = ['356307042441013', '356307042441014']
const [LANE, ROUTE] = ['7/42/1003', '7/1003']
/** Unix seconds: the start of the hour three hours ago. */
const T = Math.floor(Date.now() / HOUR - 3) * 3600

let server: TestRedis
let redis: Store
let api: ReadBackApi
let verifiers: Verifier[] = []
let stops: (() => Promise<void>)[] = []
let isUp: boolean
let token: string | undefined
const company = (): Company => ({ company_id: '7', name: 'Seven', apikey: 'key-7', oauth_token: token })

withRedis((one, connection) => {
  server = one
  redis = connection
})
beforeEach(async () => {
  api = await startReadBackApi()
  ;[isUp, token] = [true, 'token-7']
})
afterEach(async () => {
  for (const each of verifiers) each.close()
  for (const stop of stops.toReversed()) await stop()
  ;[verifiers, stops] = [[], []]
  await api.close()
})

interface Opened extends Partial<VerifySettings> {
  readonly url?: () => string
  readonly zone?: string
  readonly mostRequests?: number
  readonly gapMs?: number
}

function open({ zone = 'UTC', mostRequests, gapMs = 0, url = () => api.url, ...settings }: Opened = {}): Verifier {
  const clients = new Map<string, TrackingClient>()
  const tracking = () => {
    const baseUrl = url()
    const known = clients.get(baseUrl) ?? createTrackingClient({ baseUrl, timeoutMs: 5000, connections: 4 })
    clients.set(baseUrl, known)
    return known
  }
  const verifier = new Verifier({
    redis,
    tracking,
    companies: () => [company()],
    settings: { share: 1, after: 120_000, repair: false, ...settings },
    keptMs: KEPT_MS,
    batch: BATCH,
    zone: () => zone,
    isUp: async () => () => isUp,
    answered: () => {},
    gapMs,
    pauseMs: 10,
    mostRequests,
  })
  verifiers.push(verifier)
  stops.push(async () => void (await Promise.all(Array.from(clients.values(), (client) => client.close()))))
  return verifier
}

/** Starts a worker that pushes waiting fixes and keeps delivered ones until the test ends. */
function startWorker(delivered = KEPT_MS): void {
  const apikeys = new Map([['7', ['key-7']]])
  stops.push(workerOn({ redisUrl: server.url, baseUrl: api.url, apikeys, delivered }))
}

const fix = (timestamp: number, latitude = 52.5): Position => ({
  timestamp,
  latitude: Math.round((latitude + (timestamp % 1000) / 1e5) * 1e7) / 1e7,
  longitude: 13.4123456,
  accuracy: 5,
})
const range = (from: number, count: number, step = 1) =>
  Array.from({ length: count }, (_, index) => from + index * step)
/** Returns the counts of the metric by result. */
async function results(): Promise<Record<string, number>> {
  const { values } = await metrics.verified.get()
  return Object.fromEntries(values.map(({ labels, value }) => [labels.result, value]))
}

const counted = (name: string) => custody(redis, name)

function deliver(timestamps: readonly number[], { lane = LANE, device = VAN, latitude = 52.5 } = {}): Promise<void> {
  return deliverAll(redis, [{ lane, device, positions: timestamps.map((timestamp) => fix(timestamp, latitude)) }])
}

/** Delivers a fix to each of these routes. */
function deliverToEach(routes: readonly number[]): Promise<void> {
  const deliveries = routes.map((route) => {
    return { lane: `7/42/${route}`, device: String(route), positions: [fix(T + route)] }
  })
  return deliverAll(redis, deliveries)
}

/** Runs the verifier once a second from `from` to `until`, unix seconds. @returns when a fix was first missing */
async function lookOn(verifier: Verifier, from: number, until: number, step = 1): Promise<number | undefined> {
  for (let second = from; second <= until; second += step) {
    await verifier.look(second * 1000)
    if (verifier.missing.length > 0) return second
  }
  return undefined
}

const lostAt = (timestamp: number) => api.lose(ROUTE, (position) => position.timestamp === timestamp)
const missingOf = (verifier: Verifier) =>
  verifier.missing.map(({ lane, window, missing }) => ({ lane, window, missing }))
const runOf = (verifier: Verifier, more: object = {}) => {
  const signal = new AbortController().signal
  return verifier.run({ isWanted: () => true, day: ALL_OF_DAY, repair: false, signal, ...more })
}
const ALL_OF_DAY = { from: (T - 3600) * 1000, until: (T + 7200) * 1000 }

it('a comparison sends the token of a company only to its present API', async () => {
  const next = await startReadBackApi()
  stops.push(() => next.close())
  const [first, second] = [api, next].map(({ url }) =>
    createTrackingClient({ baseUrl: url, timeoutMs: 5000, connections: 4 }),
  )
  stops.push(
    () => first.close(),
    () => second.close(),
  )
  let client = first
  const signal = AbortSignal.timeout(60_000)
  const readBack = new ReadBack({ tracking: () => client, companies: () => [company()], signal, gapMs: 300 })
  const read = (from: number) => readBack.read({ route: ROUTE, from, to: from + 10 })
  await read(T)
  const waiting = read(T + 100)
  await Promise.resolve()
  ;[client, token] = [second, 'token-8']
  expect(await waiting).toEqual([])
  // A refusal by the previous API says nothing about the token at the new one.
  next.respond((asked, response) => {
    ;[client, token] = [first, 'token-8']
    answering(401)(asked, response)
  })
  await read(T + 200)
  expect(api.reads.map(({ token: shown }) => shown)).toEqual(['OAuth token-7', 'OAuth token-8'])
  expect(next.reads.map(({ token: shown }) => shown)).toEqual(['OAuth token-8', 'OAuth token-8'])
})

describe('a comparison of a share of the delivered fixes', () => {
  it('closing the verifier while a request waits is no fault', async () => {
    startWorker()
    await deliver(range(T, 1000))
    const verifier = open({ gapMs: 60_000 })
    for (let second = T + 300; api.reads.length === 0; second++) await verifier.look(second * 1000)
    const looks = [700, 701].map((second) => verifier.look((T + second) * 1000))
    verifier.close()
    await expect(Promise.all(looks)).resolves.toHaveLength(2)
  })

  it('a fix that the API lost after its 200 is found within `after` and three minutes', async () => {
    startWorker()
    await deliver(range(T, 1000))
    lostAt(T + 480)
    const before = await results()
    const found = await lookOn(open(), T + 300, T + 480 + 120 + 180)
    expect(found).toBeGreaterThanOrEqual(T + 500 + 120)
    expect(found).toBeLessThanOrEqual(T + 480 + 120 + 180)
    expect(missingOf(verifiers[0])).toEqual([{ lane: LANE, window: (T + 400) * 1000, missing: 1 }])
    expect(verifiers[0].missing[0]).toMatchObject({ firstAt: (T + 480) * 1000, lastAt: (T + 480) * 1000, checked: 100 })
    const after = await results()
    expect([after.missing - before.missing, after.unknown - before.unknown]).toEqual([1, 0])
  })

  it('an honest API is not accused: late fixes, two vans and couriers on a route, clocks 10 s apart', async () => {
    startWorker()
    await deliver(range(T, 600))
    await deliver(range(T - 10, 600), { device: OTHER, latitude: 52.6 })
    await deliver(range(T + 10, 300, 2), { device: '77', lane: '7/43/1003', latitude: 52.9 })
    const verifier = open()
    expect(await lookOn(verifier, T - 5, T + 400, 5)).toBeUndefined()
    await deliver(range(T + 30, 100, 3), { latitude: 53.5 })
    expect(await lookOn(verifier, T + 401, T + 1000, 5)).toBeUndefined()
    // Late fixes are compared an hour after the end of their hour.
    expect(await lookOn(verifier, T + 7199, T + 7400, 1)).toBeUndefined()
    const verified = await verifiedOf(redis, localDay(T * 1000, 'UTC').from)
    expect(Object.fromEntries(verified)).toEqual({
      [LANE]: { checked: 1300, missing: 0 },
      '7/43/1003': { checked: 300, missing: 0 },
    })
  })

  it('a late fix that the API lost is found an hour after its hour', async () => {
    startWorker()
    await deliver(range(T, 100))
    const verifier = open()
    expect(await lookOn(verifier, T - 5, T + 500, 5)).toBeUndefined()
    await deliver([T + 60], { latitude: 53 })
    api.lose(ROUTE, ({ lat }) => lat > 52.9)
    expect(await lookOn(verifier, T + 7150, T + 7400, 5)).toBeGreaterThan(T + 7200)
    expect(missingOf(verifier)).toEqual([{ lane: LANE, window: T * 1000, missing: 1 }])
  })

  it('a fix that the API shows only at the second read is not missing', async () => {
    startWorker()
    await deliver(range(T, 100))
    const seen = new Set<number>()
    api.respond((asked, response) => {
      const isFirst = !seen.has(asked.from)
      seen.add(asked.from)
      return honest({ ...asked, positions: isFirst ? asked.positions.slice(0, 50) : asked.positions }, response)
    })
    expect(await lookOn(open(), T - 5, T + 600, 5)).toBeUndefined()
    expect(await verifiedOf(redis, localDay(T * 1000, 'UTC').from)).toEqual(
      new Map([[LANE, { checked: 100, missing: 0 }]]),
    )
  })

  it('the finding of a missing fix ends when a later read finds the fix', async () => {
    startWorker()
    await deliver(range(T, 100))
    lostAt(T + 50)
    const verifier = open()
    const found = await lookOn(verifier, T - 5, T + 500, 5)
    api.add(ROUTE, [{ timestamp: T + 50, lat: fix(T + 50).latitude, lon: 13.4123456 }])
    // The times of findings follow the clock, so the fix is read again after five minutes of it.
    const now = Math.floor(Date.now() / 1000)
    expect(found).toBeDefined()
    for (let second = now + 301; second < now + 340; second++) await verifier.look(second * 1000)
    expect(verifier.missing).toEqual([])
    expect(await verifiedOf(redis, localDay(T * 1000, 'UTC').from)).toEqual(
      new Map([[LANE, { checked: 100, missing: 0 }]]),
    )
  })

  it('a missing fix is found although the clock was a day fast before', async () => {
    startWorker()
    const verifier = open()
    await deliver(range(T, 100))
    await verifier.look((T + 24 * 3600) * 1000)
    lostAt(T + 50)
    expect(await lookOn(verifier, T - 5, T + 500, 5)).toBeDefined()
    const now = Math.floor(Date.now() / 1000)
    await verifier.look((now + 24 * 3600 - 60) * 1000)
    api.add(ROUTE, [{ timestamp: T + 50, lat: fix(T + 50).latitude, lon: 13.4123456 }])
    for (let second = now + 301; second < now + 340; second++) await verifier.look(second * 1000)
    expect(verifier.missing).toEqual([])
  })

  it('the finding of a missing fix ends after 24 hours', async () => {
    startWorker()
    await deliver(range(T, 100))
    lostAt(T + 50)
    const verifier = open()
    await lookOn(verifier, T - 5, T + 500, 5)
    expect(verifier.missing).toHaveLength(1)
    isUp = false
    for (let look = 0; look < 5; look++) await verifier.look(Date.now() + 24 * HOUR)
    expect(verifier.missing).toEqual([])
  })

  it('the finding of a missing fix ends when the company gets another API', async () => {
    startWorker()
    const next = await startReadBackApi()
    stops.push(() => next.close())
    await deliver(range(T, 100))
    lostAt(T + 50)
    let { url } = api
    const verifier = open({ url: () => url })
    expect(await lookOn(verifier, T - 5, T + 500, 5)).toBeDefined()
    ;({ url } = next)
    const now = Math.floor(Date.now() / 1000)
    for (let second = now + 301; second < now + 320; second++) await verifier.look(second * 1000)
    expect(verifier.missing).toEqual([])
  })

  it.each(['takes effect at once', 'needs a restart'])(
    'a missing fix is not searched at another API if the change of the API %s',
    async (how) => {
      startWorker()
      const next = await startReadBackApi()
      stops.push(() => next.close())
      await deliver(range(T, 100))
      let { url } = api
      const verifier = open({ url: () => url })
      await lookOn(verifier, T - 5, T + 200, 5)
      ;({ url } = next)
      const later = how === 'needs a restart' ? open({ url: () => url }) : verifier
      if (later !== verifier) await redis.del(keys.verifying)
      expect(await lookOn(later, T + 201, T + 500, 5)).toBeUndefined()
      await deliver(range(T + 600, 100))
      expect(await lookOn(later, T + 600, T + 1000, 5)).toBeGreaterThan(T + 800)
    },
  )

  it('nothing is read while the API is down, and nothing is missing afterwards', async () => {
    startWorker()
    await deliver(range(T, 100))
    isUp = false
    const verifier = open()
    expect(await lookOn(verifier, T - 5, T + 600, 5)).toBeUndefined()
    expect(api.reads).toEqual([])
    isUp = true
    expect(await lookOn(verifier, T + 601, T + 700, 5)).toBeUndefined()
    expect(api.reads).toHaveLength(1)
  })

  it('only one of two processes reads', async () => {
    startWorker()
    await deliver(range(T, 200))
    const [one, other] = [open(), open()]
    for (let second = T - 5; second < T + 600; second += 5)
      await Promise.all([one.look(second * 1000), other.look(second * 1000)])
    expect(api.reads).toHaveLength(2)
  })

  it('a missing fix of a device that was deleted meanwhile is not reported', async () => {
    startWorker()
    await deliver(range(T, 100))
    lostAt(T + 50)
    await forgetDevice(redis, new Set([VAN]))
    expect(await lookOn(open(), T - 5, T + 600, 5)).toBeUndefined()
  })
})

describe('repair', () => {
  it('a missing fix is pushed again to its lane, and the account adds up', async () => {
    startWorker()
    await deliver(range(T, 200))
    api.lose(ROUTE, ({ timestamp }) => timestamp === T + 50 || timestamp === T + 51)
    const verifier = open({ repair: true })
    await lookOn(verifier, T - 5, T + 500, 5)
    await expect.poll(() => counted('redelivered'), { interval: 20 }).toBe(2)
    const [received, delivered, requeued] = await Promise.all(['received', 'delivered', 'requeued'].map(counted))
    expect({ received, delivered, requeued }).toEqual({ received: 200, delivered: 200, requeued: 2 })
    const now = Math.floor(Date.now() / 1000)
    for (let second = now + 301; second < now + 340; second++) await verifier.look(second * 1000)
    expect(verifier.missing).toEqual([])
    expect(await counted('requeued')).toBe(2)
  })

  it('a fix that the API loses again is pushed again only on request', async () => {
    startWorker()
    await deliver(range(T, 20))
    lostAt(T + 5)
    const verifier = open({ after: 1 })
    expect(await runOf(verifier, { repair: true })).toMatchObject({ checked: 20, repaired: 1 })
    await expect.poll(() => counted('redelivered'), { interval: 20 }).toBe(1)
    lostAt(T + 5)
    const repairing = open({ repair: true, after: 1 })
    await lookOn(repairing, T - 5, T + 300, 5)
    const now = Math.floor(Date.now() / 1000)
    for (let second = now + 301; second < now + 340; second++) await repairing.look(second * 1000)
    expect(repairing.missing).toMatchObject([{ missing: 1, repaired: 1 }])
    expect(await counted('requeued')).toBe(1)
    expect(await runOf(verifier, { repair: true })).toMatchObject({ repaired: 1 })
    await expect.poll(() => counted('redelivered'), { interval: 20 }).toBe(2)
  })
})

describe('unknown fixes', () => {
  const cut = JSON.stringify(range(T, 50).map((timestamp) => ({ timestamp, lat: 1, lon: 1 })))
  it.each<[string, string, Parameters<ReadBackApi['respond']>[0]]>([
    ['an API without the operation (404)', 'no_operation', answering(404)],
    ['an API without the operation (405)', 'no_operation', answering(405)],
    ['an API without the operation (501)', 'no_operation', answering(501)],
    ['a token that is refused', 'refused', answering(401)],
    ['an object without access', 'refused', answering(403)],
    ['an error of the API', 'no_answer', answering(500)],
    ['a limit', 'no_answer', answering(429)],
    ['half of a list', 'not_readable', answering(200, cut.slice(0, -20))],
    ['a list with something else in it', 'not_readable', answering(200, '[{"lat":1}]')],
    ['an object', 'not_readable', answering(200, '{"positions":[]}')],
    ['a page of another server', 'not_readable', answering(200, '<html>Log in')],
    [
      'a connection that ends amid the answer',
      'no_answer',
      (_, response) => {
        response.writeHead(200, { 'content-length': 1000 }).write('[')
        response.destroy()
      },
    ],
    [
      'positions of other times',
      'not_readable',
      answering(200, JSON.stringify([{ timestamp: T - 9000, lat: 1, lon: 1 }])),
    ],
  ])('a fix is unknown, not missing, with %s', async (_, reason, answer) => {
    startWorker()
    await deliver(range(T, 30))
    api.respond(answer)
    const verifier = open({ after: 1 })
    expect(await lookOn(verifier, T - 5, T + 300, 5)).toBeUndefined()
    expect(await runOf(verifier)).toMatchObject({
      checked: 0,
      missing: [],
      unknown: [{ company: '7', reason, fixes: 30 }],
    })
    expect(await verifiedOf(redis, localDay(T * 1000, 'UTC').from)).toEqual(new Map())
    expect(verifier.missing).toEqual([])
  })

  it('a fix of a company without a token is unknown, and no request is made', async () => {
    startWorker()
    await deliver(range(T, 30))
    token = undefined
    expect(await runOf(open({ after: 1 }))).toMatchObject({ missing: [], unknown: [{ reason: 'no_token', fixes: 30 }] })
    expect(api.reads).toEqual([])
  })

  it('a fix that went to an earlier API of the company is unknown, and no request is made', async () => {
    startWorker()
    await deliver(range(T, 30))
    let { url } = api
    const verifier = open({ after: 1, url: () => url })
    expect(await runOf(verifier)).toMatchObject({ checked: 30, missing: [], unknown: [] })
    const next = await startReadBackApi()
    stops.push(() => next.close())
    ;({ url } = next)
    expect(await runOf(verifier)).toMatchObject({
      checked: 0,
      missing: [],
      unknown: [{ reason: 'other_api', fixes: 30 }],
    })
    expect(next.reads).toEqual([])
  })

  it('fixes are unknown, not missing, if the company gets another API between the two reads', async () => {
    startWorker()
    await deliver(range(T, 30))
    lostAt(T + 5)
    const next = await startReadBackApi()
    stops.push(() => next.close())
    let { url } = api
    api.respond((asked, response) => {
      honest(asked, response)
      response.once('finish', () => setImmediate(() => ({ url } = next)))
    })
    const { missing, repaired, unknown } = await runOf(open({ after: 1, url: () => url }), { repair: true })
    expect({ missing, repaired }).toEqual({ missing: [], repaired: 0 })
    expect(unknown).toMatchObject([{ reason: 'other_api', fixes: 30 }])
  })

  it('a fix is unknown, not missing, after an error of the second read', async () => {
    startWorker()
    await deliver(range(T, 30))
    lostAt(T + 5)
    api.respond((asked, response) => (api.reads.length > 1 ? answering(404) : honest)(asked, response))
    expect(await runOf(open({ after: 1 }))).toMatchObject({
      checked: 0,
      missing: [],
      unknown: [{ reason: 'no_operation', fixes: 30 }],
    })
  })

  it('all fixes of a courier that are absent are unknown if another courier of the route is there', async () => {
    startWorker()
    await deliver(range(T, 30))
    await deliver(range(T, 30), { lane: '7/43/1003', device: OTHER, latitude: 53 })
    api.lose(ROUTE, ({ lat }) => lat > 52.9)
    expect(await runOf(open({ after: 1 }))).toMatchObject({
      checked: 30,
      missing: [],
      unknown: [{ reason: 'couriers', fixes: 30 }],
    })
    expect(await verifiedOf(redis, localDay(T * 1000, 'UTC').from)).toEqual(
      new Map([[LANE, { checked: 30, missing: 0 }]]),
    )
  })
})

describe('a run of a comparison', () => {
  it('a run names missing fixes, compares one day, and counts nothing twice', async () => {
    startWorker()
    await deliver(range(T - 1800, 1000, 5))
    await deliver(range(T, 50), { lane: '7/42/1004', device: OTHER })
    api.lose(ROUTE, ({ timestamp }) => timestamp === T || timestamp === T + 2500)
    const verifier = open({ after: 1 })
    for (let again = 0; again < 2; again++) {
      const { checked, missing, unknown, next } = await runOf(verifier)
      expect({ checked, unknown, next }).toEqual({ checked: 1050, unknown: [], next: undefined })
      expect(missing.map(({ lane, timestamp }) => [lane, timestamp])).toEqual([
        [LANE, T],
        [LANE, T + 2500],
      ])
    }
    const days = [T - 1800, T].map((at) => localDay(at * 1000, 'UTC').from)
    const verified = await Promise.all([...new Set(days)].map((day) => verifiedOf(redis, day)))
    const sum = verified.map((each) => each.get(LANE)?.checked ?? 0).reduce((one, other) => one + other, 0)
    expect(sum).toBe(1000)
  })

  it('a run compares only the requested routes', async () => {
    startWorker()
    await deliver(range(T, 50))
    await deliver(range(T, 50), { lane: '7/42/1004', device: OTHER })
    expect(await runOf(open({ after: 1 }), { isWanted: (route: string) => route === '7/1004' })).toMatchObject({
      checked: 50,
    })
    expect(api.reads.map(({ route }) => route)).toEqual(['7/1004'])
  })

  it('a run continues after it has stopped at its limit of requests', async () => {
    startWorker()
    await deliverToEach(range(100, 5))
    const verifier = open({ after: 1, mostRequests: 2 })
    let from: string | undefined
    for (const checked of [2, 2, 1]) {
      const result = await runOf(verifier, { from })
      expect(result.checked).toBe(checked)
      from = result.next
    }
    expect(from).toBeUndefined()
    expect(api.reads.map(({ route }) => route)).toEqual(range(100, 5).map((route) => `7/${route}`))
  })

  it('a run stops if the API does not answer, and says so', async () => {
    startWorker()
    await deliverToEach([100, 101, 102])
    api.respond((asked, response) => (asked.route === '7/101' ? answering(500) : honest)(asked, response))
    expect(await runOf(open({ after: 1 }))).toMatchObject({
      checked: 1,
      stopped: { reason: 'no_answer' },
      next: undefined,
    })
  })

  it('a run continues with the new token if it changes during a read', async () => {
    startWorker()
    await deliver(range(T, 30))
    api.respond((asked, response) => {
      token = 'token-new'
      return (asked.token === 'OAuth token-new' ? honest : answering(401))(asked, response)
    })
    expect(await runOf(open({ after: 1 }))).toMatchObject({ checked: 30, missing: [], unknown: [] })
    expect(api.reads.map((asked) => asked.token)).toEqual(['OAuth token-7', 'OAuth token-new'])
  })

  it('a run finds the rest of a list that the API has cut without saying so', async () => {
    startWorker()
    await deliver(range(T, 1500, 2))
    api.respond((asked, response) => honest({ ...asked, positions: asked.positions.slice(0, 1000) }, response))
    expect(await runOf(open({ after: 1 }))).toMatchObject({ checked: 1500, missing: [] })
  })

  it('a run leaves out fixes that are younger than `after`', async () => {
    startWorker()
    const now = Math.floor(Date.now() / 1000)
    await deliver(range(now - 60, 60))
    const { checked, until } = await runOf(open(), { day: { from: (now - 3600) * 1000, until: (now + 60) * 1000 } })
    expect({ checked, isBefore: until < (now - 100) * 1000 }).toEqual({ checked: 0, isBefore: true })
  })

  it('a run says from when it leaves out a window that is too young', async () => {
    startWorker()
    const now = Math.floor(Date.now() / 1000)
    const window = now - (now % 100) - 100
    await deliver(range(window - 100, 200))
    const day = { from: (now - 3600) * 1000, until: (now + 3600) * 1000 }
    const after = (now - window - 90) * 1000
    expect(await runOf(open({ after }), { day })).toMatchObject({ checked: 100, until: window * 1000 })
  })
})

it.each([
  ['at midnight', 'Europe/Berlin', Date.UTC(2026, 10, 19, 23)],
  ['at the end of summer time', 'Europe/Berlin', Date.UTC(2026, 9, 25, 1)],
  ['at the beginning of summer time', 'Europe/Berlin', Date.UTC(2026, 2, 29, 1)],
  ['at midnight of a zone with a quarter of an hour', 'Asia/Kathmandu', Date.UTC(2026, 10, 19, 18, 15)],
])('the day of a run follows the time zone: %s', async (_, zone, at) => {
  startWorker(YEAR)
  const day = localDay(at, zone)
  const [from, until] = [day.from / 1000, day.until / 1000]
  await deliver([...range(from - 100, 200), ...range(at / 1000 + 200, 50), ...range(until - 70, 140)])
  lostAt(from - 1)
  lostAt(from)
  lostAt(until - 1)
  const verifier = open({ after: 1, zone })
  const { checked, missing } = await runOf(verifier, { day })
  expect({ checked, missing: missing.map(({ timestamp }) => timestamp) }).toEqual({
    checked: 100 + 50 + 70,
    missing: [from, until - 1],
  })
  const before = localDay(day.from - 1, zone)
  expect((await runOf(verifier, { day: before })).missing.map(({ timestamp }) => timestamp)).toEqual([from - 1])
  expect((await verifiedOf(redis, day.from)).get(LANE)).toEqual({ checked: 220, missing: 2 })
  expect((await verifiedOf(redis, before.from)).get(LANE)).toEqual({ checked: 100, missing: 1 })
  expect(await verifiedOf(redis, day.until)).toEqual(new Map())
})
