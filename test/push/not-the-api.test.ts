import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { diagnose } from '../../src/diagnose/diagnose.ts'
import { createLogger } from '../../src/observe/log.ts'
import { startPushing } from '../../src/push/index.ts'
import {
  Appender,
  connect,
  custodyCounters,
  describeLanes,
  keys,
  packDevice,
  packRecords,
  type Store,
} from '../../src/store/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { ok, type Respond, startApi, status } from '../rig/api.ts'
import { UNFILTERED } from '../support/appending.ts'
import type { TestRedis } from '../support/redis.ts'
import { inEnglish } from '../support/texts.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
let redis: Store
let api: Awaited<ReturnType<typeof startApi>>
let stops: (() => Promise<void>)[] = []

withRedis((one, connection) => {
  server = one
  redis = connection
})
beforeEach(async () => {
  api = await startApi()
})
afterEach(async () => {
  for (const stop of stops.toReversed()) await stop()
  stops = []
  await api.close()
})

const page: Respond = status(200, '<html>hello nginx', { 'content-type': 'text/html' })
const portal: Respond = ({ apikey }, response) =>
  void response.writeHead(302, { location: `http://login.example/?from=push%3Fapikey%3D${apikey}` }).end()

describe('something else that answers in place of the API', () => {
  it.each<[string, Respond]>([
    ['a page by its type', page],
    ['a page by its first byte', status(200, ' <!doctype html>')],
    ['a redirect 301', status(301, '', { location: 'http://login.example/' })],
    ['a redirect 302', portal],
    ['a redirect 307', status(307, '', { location: 'http://login.example/' })],
    ['a redirect 308', status(308, '', { location: 'http://login.example/' })],
  ])('%s delivers nothing, and when the API answers, every fix arrives once and in order', async (_, respond) => {
    api.respond(respond)
    for (const courier of LANES) await store(`7/${courier}/1`, ...TIMES)
    pushing()
    await expect.poll(state, soon).toBe('down')
    await expect
      .poll(async () => (await lane('7/1/1'))?.lastPush?.status ?? (await lane('7/2/1'))?.lastPush?.status, soon)
      .toBe('not_the_api')
    expect(await delivered()).toBe(0)
    expect(await redis.hlen(keys.parked)).toBe(0)
    const lost = api.seen.length
    api.respond(ok)
    await expect.poll(delivered, soon).toBe(LANES.length * TIMES.length)
    const pushes = api.seen.slice(lost)
    for (const courier of LANES)
      expect(pushes.filter(({ lane: of }) => of === `${courier}/1`).flatMap(({ timestamps }) => timestamps)).toEqual(
        TIMES,
      )
    expect([await state(), await redis.zcard(keys.schedule)]).toEqual(['up', 0])
  })

  it('only one lane at a time tries the API while something else answers', async () => {
    api.respond(page)
    for (const courier of LANES) await store(`7/${courier}/1`, 1)
    pushing()
    await expect.poll(state, soon).toBe('down')
    const since = performance.now()
    // Each lane may have been in flight once; later requests are probes.
    await expect.poll(() => api.seen.length, soon).toBeGreaterThanOrEqual(LANES.length + 3)
    expect(performance.now() - since).toBeGreaterThan(1800)
  })

  it('a portal between the requests of two lanes neither loses nor repeats a fix', async () => {
    const accepted = new Map<string, number[]>()
    let pushes = 0
    api.respond((push, response) => {
      // From the third push on, for four.
      if (++pushes > 2 && pushes < 7) return (pushes % 2 === 0 ? portal : page)(push, response)
      accepted.set(push.lane, [...(accepted.get(push.lane) ?? []), ...push.timestamps])
      ok(push, response)
    })
    pushing()
    for (const time of TIMES) for (const courier of [1, 2]) await store(`7/${courier}/1`, time)
    await expect.poll(delivered, soon).toBe(2 * TIMES.length)
    expect(pushes).toBeGreaterThan(6)
    expect([accepted.get('1/1'), accepted.get('2/1')]).toEqual([TIMES, TIMES])
  })

  it('an apikey that changes while something else answers is used when the API answers', async () => {
    api.respond(page)
    for (const courier of LANES) await store(`7/${courier}/1`, ...TIMES)
    const pushes = pushing()
    await expect.poll(state, soon).toBe('down')
    pushes.setApikeys(new Map([['7', ['next']]]))
    const before = api.seen.length
    await expect.poll(() => api.seen.slice(before).some(({ apikey }) => apikey === 'next'), soon).toBe(true)
    expect(await state()).toBe('down')
    api.respond((push, response) => (push.apikey === 'next' ? ok : status(403))(push, response))
    await expect.poll(delivered, soon).toBe(LANES.length * TIMES.length)
    expect(await redis.hlen(keys.parked)).toBe(0)
  })

  it('no other apikey of the company is tried while something else answers', async () => {
    api.respond(page)
    await store('7/1/1', 1)
    pushing(['one', 'two'])
    await expect.poll(() => api.seen.length, soon).toBeGreaterThanOrEqual(2)
    expect(new Set(api.seen.map(({ apikey }) => apikey))).toEqual(new Set(['one']))
  })

  it('the figures show the foreign answer without the apikey, and no accepted push', async () => {
    api.respond(portal)
    await store('7/1/1', 1)
    const pushes = pushing(['canary-apikey'])
    await expect.poll(() => pushes.figures().lastError?.code, soon).toBe('not_the_api')
    const { lastError, acceptedAt } = pushes.figures()
    expect(acceptedAt).toEqual({})
    expect(lastError).toMatchObject({ status: 302, location: 'http://login.example/?from=push%3Fapikey%3D***' })
    const upstream = {
      state: 'down',
      since: Date.now(),
      url: api.url,
      ...pushes.figures(),
      refused: [],
      tokensRefused: [],
    } as const
    const facts = {
      now: Date.now(),
      observations: [],
      upstream: { ...upstream, lastError: { ...lastError!, operation: 'pushPositions' } },
    }
    const [finding] = inEnglish(diagnose(facts))
    expect(finding).toMatchObject({
      code: 'not_the_api',
      message: `what answers at ${api.url} is not the tracking API`,
    })
    expect(finding.evidence).toContain('it redirects to: http://login.example/?from=push%3Fapikey%3D***')
  })

  it('the clock of a foreign answer is not taken as that of the API', async () => {
    api.respond(status(200, '<html>', { date: 'Thu, 01 Jan 2015 00:00:00 GMT' }))
    await store('7/1/1', 1)
    pushing()
    await expect.poll(() => api.seen.length, soon).toBeGreaterThanOrEqual(2)
    expect(await redis.exists(keys.apiClock)).toBe(0)
  })
})

it.each<[string, Respond]>([
  ['text', status(200, 'ok', { 'content-type': 'text/plain' })],
  ['JSON', status(201, '{}', { 'content-type': 'application/json' })],
  ['no content', status(204)],
  ['nothing', status(200)],
])('an answer 2xx with %s counts as delivered', async (_, respond) => {
  api.respond(respond)
  await store('7/1/1', ...TIMES)
  pushing()
  await expect.poll(delivered, soon).toBe(TIMES.length)
  expect(api.timestampsOf('1/1')).toEqual(TIMES)
})

function pushing(own: readonly string[] = ['key-7']) {
  const client = createTrackingClient({ baseUrl: api.url, timeoutMs: 20_000, connections: 8 })
  const connection = connect(server.url, 'worker')
  const pushes = startPushing({
    zone: 'UTC',
    redis: connection,
    client,
    apikeys: new Map([['7', own]]),
    place: () => undefined,
    batch: { max_positions: 3, max_wait: 0 },
    keep: { delivered: 0, max_memory: 0.1 },
    push: { concurrency: 8, max_requests_per_s: null, redeliver_share: 0.2, first_delay: 20, max_delay: 100 },
    logger,
  })
  stops.push(async () => {
    await pushes.stop()
    await client.close()
    connection.disconnect()
  })
  return pushes
}

async function store(to: string, ...timestamps: number[]): Promise<void> {
  const appender = new Appender(redis, UNFILTERED)
  const positions = timestamps.map((timestamp) => ({ timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5 }))
  const records = packRecords(positions, packDevice(ID), Date.now())
  await appender.append({ parts: [{ lane: to, device: ID, records }], received: timestamps.length, filtered: [] })
  await appender.close()
}

const state = () => redis.hget(keys.upstream, 'state')
const delivered = async () => (await custodyCounters(redis)).get('delivered') ?? 0
const lane = async (name: string) => (await describeLanes(redis, [name]))[0]
const ID = '356307042441013'
const LANES = [1, 2, 3, 4, 5, 6]
const TIMES = [1, 2, 3, 4, 5]
const soon = { timeout: 60_000, interval: 20 }
const logger = createLogger('test', { level: 'fatal', format: 'json' })
