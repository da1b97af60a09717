import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { StatusJson } from '../../src/admin/schemas/status.ts'
import { drainedAt } from '../../src/admin/status.ts'
import { LINKS } from '../../src/diagnose/codes.ts'
import { PushStatistics } from '../../src/push/figures.ts'
import { discard, keys, release, signOn } from '../../src/store/index.ts'
import { adminFixture, hold, refuse, store, workerOf } from '../support/admin.ts'

const admin = adminFixture()
const OLDEST = Date.UTC(2026, 10, 20, 8, 14, 2)

type Status = Required<StatusJson>

async function statusNow(): Promise<Status> {
  const { status, json } = await admin.ask('/admin/status')
  expect(status).toBe(200)
  return json as Status
}

it('GET /admin/status shows zeros if nothing was received', async () => {
  // Neither a gateway nor a worker runs in this test.
  const { rates, upstream, links, processes, verdict, plain_verdict, vans, findings: _, ...rest } = await statusNow()
  expect(Object.keys(vans)).toEqual(['moving', 'standing', 'parked', 'silent', 'gps_old', 'no_route', 'held', 'never'])
  expect(rest).toEqual({
    apis: [
      {
        api: '127.0.0.1:1',
        state: 'up',
        since_at: expect.any(String),
        companies: ['7'],
        in_flight: 0,
        slowest_ms: 0,
      },
    ],
    companies: [{ company_id: '7' }],
    waiting: { fixes: 0, lanes: 0 },
    parked: { fixes: 0, lanes: 0 },
    held: { fixes: 0, devices: 0 },
    custody: {
      received: 0,
      filtered: 0,
      delivered: 0,
      redelivered: 0,
      waiting: 0,
      parked: 0,
      held: 0,
      discarded: 0,
      difference: 0,
    },
    time_zone: 'UTC',
  })
  expect(Object.keys(rates)).toEqual(['received_per_s', 'delivered_per_s'])
  expect(upstream).toEqual({
    state: 'up',
    since_at: expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]{12}Z$/),
    token_refused: [],
    in_flight: 0,
    slowest_ms: 0,
  })
  expect(links.map(({ link }) => link)).toEqual(LINKS)
  expect(verdict).toMatch(/^[A-Z].*\.$/)
  expect(plain_verdict).toMatch(/^[A-Z].*\.$/)
  await vi.waitFor(async () => {
    const [own] = (await statusNow()).processes
    expect(own).toMatchObject({ role: 'admin', pid: process.pid, restarts: 0 })
  }, SOON)
  expect(processes.length).toBeLessThanOrEqual(1)
})

it('GET /admin/status accounts for every fix', async () => {
  await store(admin.redis, '7/42/1', { count: 3, receivedAt: OLDEST + 5000, filtered: ['zero', 'invalid'] })
  await store(admin.redis, '7/42/2', { count: 5, receivedAt: OLDEST })
  await store(admin.redis, '7/43/3', { count: 4, receivedAt: OLDEST - 1000 })
  await store(admin.redis, '7/44/4', { count: 6, receivedAt: OLDEST - 1000, filtered: ['zero'] })
  const { leases, lease } = workerOf(admin.redis)
  await leases.done(await lease('7/42/2'), { count: 2, status: 200, wanted: 0, atOnce: false })
  await leases.park(await lease('7/43/3'), { status: 404, message: 'no such route' })
  await refuse(admin.redis, '7/44/4', 6, { status: 422, message: 'no' })
  await hold(admin.redis, 'unknown', '1', { count: 2 })
  await hold(admin.redis, 'no_route', '2', { count: 3 })
  await hold(admin.redis, 'clock', '2')
  await store(admin.redis, '7/45/5', { count: 7 })
  await leases.park(await lease('7/45/5'), { status: 404, message: 'no such route' })
  await discard(admin.redis, ['7/45/5'])

  expect(await statusNow()).toMatchObject({
    waiting: { fixes: 6, lanes: 2, oldest_at: '2026-11-20T08:14:02.000Z' },
    parked: { fixes: 10, lanes: 2 },
    held: { fixes: 6, devices: 2 },
    custody: {
      received: 34,
      filtered: 3,
      delivered: 2,
      waiting: 6,
      parked: 10,
      held: 6,
      discarded: 7,
      difference: 0,
    },
  })
})

it('GET /admin/status counts a parked lane with refused records once', async () => {
  await store(admin.redis, '7/42/1', { count: 3 })
  const { leases, lease } = workerOf(admin.redis)
  await refuse(admin.redis, '7/42/1', 1, { status: 422, message: 'no' })
  await leases.park(await lease('7/42/1'), { status: 403, message: 'no' })
  expect(await statusNow()).toMatchObject({ waiting: { fixes: 0, lanes: 0 }, parked: { fixes: 3, lanes: 1 } })
})

it('GET /admin/status counts refused records that are being retried as waiting', async () => {
  await store(admin.redis, '7/42/1', { count: 2 })
  await refuse(admin.redis, '7/42/1', 2, { status: 422, message: 'no' })
  await release(admin.redis, ['7/42/1'], () => undefined)
  const { custody } = await statusNow()
  expect([custody.waiting, custody.parked, custody.difference]).toEqual([2, 0, 0])
})

it('GET /admin/status shows lost fixes as the difference', async () => {
  await store(admin.redis, '7/42/1', { count: 3 })
  await admin.redis.lpop(keys.lane('7/42/1'))
  expect((await statusNow()).custody.difference).toBe(1)
})

it('GET /admin/status counts more lanes and refused entries than one slice has', async () => {
  for (let lane = 0; lane < 1200; lane += 100)
    await Promise.all(Array.from({ length: 100 }, (_, at) => store(admin.redis, `7/42/${lane + at}`)))
  const { leases } = workerOf(admin.redis)
  const claimed = await leases.claim(130)
  await Promise.all(claimed.map((lease) => leases.refuse(lease, { status: 422, message: 'no' }, 0)))
  expect(await statusNow()).toMatchObject({
    waiting: { fixes: 1070, lanes: 1070 },
    parked: { fixes: 130, lanes: 130 },
    custody: { difference: 0 },
  })
})

it('GET /admin/status shows the state of the tracking API that the workers noted', async () => {
  await admin.redis.hset(keys.upstream, 'state', 'down', 'since', OLDEST)
  expect((await statusNow()).upstream).toMatchObject({ state: 'down', since_at: '2026-11-20T08:14:02.000Z' })
})

async function statesNow(): Promise<string[]> {
  const { apis, findings, upstream } = await statusNow()
  return [...findings.flatMap(({ code }) => (code === 'upstream_hanging' ? code : [])), upstream.state, apis[0].state]
}

it('GET /admin/status does not call a tracking API up that does not answer', async () => {
  await store(admin.redis, '7/42/1001')
  const [at, ms] = [Date.now(), 60_000]
  const unanswered = { count: 1, newestMs: ms, named: [{ lane: '7/42/1001', ms, at }] }
  const lanes = { unanswered, answered: [], slow: { count: 0, newestMs: 0, leastMs: 0 }, quick: [] }
  const worker = signOn(admin.redis, { role: 'worker', installation: admin.dir }, () => ({
    ...new PushStatistics().figures(),
    oldestMs: ms,
    lanes,
    url: 'http://api',
  }))
  onTestFinished(() => worker.stop())
  await expect.poll(statesNow, { timeout: 30_000 }).toEqual(['upstream_hanging', 'down', 'down'])
})

it('GET /admin/status shows the rates of received and delivered fixes', async () => {
  const { redis } = admin
  let received = 0
  const ratesAfterMore = async () => {
    received += 1000
    await redis.multi().hincrby(keys.custody, 'received', 1000).hincrby(keys.custody, 'delivered', 500).exec()
    return (await statusNow()).rates
  }
  await vi.waitFor(
    async () => {
      const { received_per_s, delivered_per_s } = await ratesAfterMore()
      expect(received_per_s).toBeGreaterThan(0)
      expect(received_per_s).toBeLessThanOrEqual(received * 1.2)
      expect(Math.abs(received_per_s - 2 * delivered_per_s)).toBeLessThanOrEqual(0.2)
    },
    { timeout: 30_000, interval: 200 },
  )
})

it('GET /admin/status shows when a backlog will be delivered at the present rate', async () => {
  await store(admin.redis, '7/42/1', { count: 300, receivedAt: Date.now() - 61_000 })
  await vi.waitFor(
    async () => {
      await admin.redis.hincrby(keys.custody, 'delivered', 10)
      const { upstream } = await statusNow()
      expect(Date.parse(upstream.drained_at ?? '')).toBeGreaterThan(Date.now())
    },
    { timeout: 30_000, interval: 300 },
  )
})

it('GET /admin/status counts held fixes as identified but not as placed, in totals and in rates', async () => {
  await statusNow()
  await vi.waitFor(
    async () => {
      await hold(admin.redis, 'no_route', '356307042441014', { count: 5 })
      const { links } = await statusNow()
      const [identified, placed] = ['identified', 'placed'].map((name) => links.find(({ link }) => link === name))
      expect(identified?.per_s).toBeGreaterThan(0)
      expect(placed).toMatchObject({ count: 0, per_s: 0 })
    },
    { timeout: 30_000, interval: 300 },
  )
})

describe('a backlog', () => {
  const now = OLDEST
  const draining = {
    waiting: { fixes: 600, lanes: 3, oldestAt: now - 60_001 },
    upstream: { state: 'up', since: now },
    rates: { received: 10, placed: 10, delivered: 40 },
    now,
  } as const

  it('the end of a backlog is estimated from the rate by which it shrinks', () => {
    expect(drainedAt(draining)).toBe(now + 20_000)
  })

  it.each([
    ['nothing has waited for over a minute', { waiting: { ...draining.waiting, oldestAt: now - 60_000 } }],
    ['nothing waits', { waiting: { fixes: 0, lanes: 0, oldestAt: undefined } }],
    ['the service is down', { upstream: { state: 'down', since: now } }],
    ['the service limits requests', { upstream: { state: 'limited', since: now } }],
    ['as many fixes are received as delivered', { rates: { ...draining.rates, received: 40 } }],
    ['it grows', { rates: { ...draining.rates, received: 41 } }],
  ] as const)('the end of a backlog is unknown while %s', (_, changes) => {
    expect(drainedAt({ ...draining, ...changes })).toBeUndefined()
  })
})

const SOON = { timeout: 30_000 }
