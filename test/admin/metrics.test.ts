import { AggregatorRegistry } from 'prom-client'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import { collectNodeMetrics, registry } from '../../src/observe/metrics.ts'
import type { Metrics } from '../../src/process/role-process.ts'
import { addCounters } from '../../src/process/role-process.ts'
import { keys, signOn } from '../../src/store/index.ts'
import { VERSION } from '../../src/version.ts'
import { adminFixture, hold, store, workerOf } from '../support/admin.ts'
import { keepFrame } from '../support/kept-frames.ts'
import { beatingHeardBook } from '../support/beat.ts'

const admin = adminFixture()
const OLDEST = Date.UTC(2026, 10, 20, 8, 14, 2, 250)
/** Report of a worker that pushes nothing. */
const PUSHES = {
  inFlight: 0,
  oldestMs: 0,
  slowestMs: 0,
  acceptedAt: {},
  acceptedBefore: {},
  refused: [],
  url: 'http://api',
}
const ofMemory = (bytes: number) => bytes / (256 * 1024 * 1024)
const OWN = ['fixes_waiting', 'fixes_parked', 'oldest_waiting_timestamp_seconds', 'custody_difference', 'devices']
const MEMORY = ['redis_memory_used_ratio', 'redis_memory_share_ratio']
const ALL = [...OWN, ...MEMORY, 'fixes_held', 'fixes_discarded_total', 'upstream_up']

/** Returns the samples with these names, as `devices{state="online"}` → value; older ones if Redis is slow. */
async function samples(names: readonly string[]): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).split('\n')
  const found = lines.flatMap((line) => /^waybridge_((\w+)(?:\{.*\})?) (\S+)$/.exec(line) ?? [])
  const triples = Array.from({ length: found.length / 4 }, (_, n) => found.slice(n * 4 + 1, n * 4 + 4))
  return Object.fromEntries(
    triples.filter(([, name]) => names.includes(name)).map(([key, , value]) => [key, Number(value)]),
  )
}

const waiting = async () => (await samples(['fixes_waiting'])).fixes_waiting
const firstValue = (metric?: { values: { value: number }[] }) => metric?.values[0].value ?? NaN

it('the metrics show the waiting and parked fixes, and that no fix is missing', async () => {
  await store(admin.redis, '7/42/1', { count: 3, receivedAt: OLDEST, filtered: ['zero'] })
  await store(admin.redis, '7/42/2', { count: 2, receivedAt: OLDEST + 1000 })
  await store(admin.redis, '7/42/3', { count: 1, receivedAt: OLDEST - 1000 })
  const { leases, lease } = workerOf(admin.redis)
  await leases.park(await lease('7/42/3'), { status: 403, message: 'no' })
  await expect
    .poll(() => samples(ALL.slice(0, 4)))
    .toEqual({
      fixes_waiting: 5,
      fixes_parked: 1,
      oldest_waiting_timestamp_seconds: OLDEST / 1000,
      custody_difference: 0,
    })
})

it('the metrics show the held and discarded fixes by reason', async () => {
  await hold(admin.redis, 'unknown', '1', { count: 2 })
  await hold(admin.redis, 'clock', '1')
  await admin.redis.hset(keys.custody, 'discarded:held_age', 4, 'discarded:deleted', 1)
  const held = {
    'fixes_held{reason="unknown"}': 2,
    'fixes_held{reason="no_route"}': 0,
    'fixes_held{reason="clock"}': 1,
    'fixes_held{reason="suspicious"}': 0,
  }
  const all = {
    ...held,
    'fixes_discarded_total{reason="held_age"}': 4,
    'fixes_discarded_total{reason="held_overflow"}': 0,
    'fixes_discarded_total{reason="other_protocol"}': 0,
    'fixes_discarded_total{reason="other_company"}': 0,
    'fixes_discarded_total{reason="deleted"}': 1,
  }
  await expect.poll(() => samples(['fixes_held', 'fixes_discarded_total'])).toEqual(all)
  expect(await samples(['fixes_held', 'fixes_discarded_total'])).toEqual(all)
})

it('the metrics count a discarded fix once, however often the admin process was started', async () => {
  await admin.redis.hset(keys.custody, 'discarded:deleted', 3)
  let retired: Metrics = []
  for (let start = 0; start < 2; start++) retired = await addCounters(retired, await registry.getMetricsAsJSON())
  await admin.redis.hset(keys.custody, 'discarded:deleted', 5)
  const text = await AggregatorRegistry.aggregate([retired, await registry.getMetricsAsJSON()]).metrics()
  expect(text).toMatch(/^# TYPE waybridge_fixes_discarded_total counter$/m)
  expect(text).toMatch(/^waybridge_fixes_discarded_total\{reason="deleted"\} 5$/m)
})

it('the metrics show no oldest fix if none waits', async () => {
  await expect.poll(() => samples(['fixes_waiting', 'oldest_waiting_timestamp_seconds'])).toEqual({ fixes_waiting: 0 })
})

it('the metrics count missing fixes', async () => {
  await store(admin.redis, '7/42/1', { count: 3 })
  await admin.redis.ltrim(keys.lane('7/42/1'), 2, -1)
  await expect.poll(() => samples(['custody_difference'])).toEqual({ custody_difference: 2 })
})

it('the metrics count only configured devices, by state', async () => {
  const heard = beatingHeardBook(admin.redis)
  const connect = (device: string, transport: 'tcp' | 'udp') => {
    const session = Object.assign(new Conversation(transport, '10.1.2.3:1'), { device })
    heard.of(device).spoke(session, 'teltonika')
    return session
  }
  connect('0356307042441013', 'tcp')
  heard.gone(connect('356307042441014', 'tcp'))
  connect('1', 'tcp')
  await expect.poll(() => admin.redis.hlen(keys.devices), { timeout: 30_000 }).toBe(3)
  await expect
    .poll(() => samples(['devices']), { timeout: 30_000 })
    .toEqual({
      'devices{state="online"}': 1,
      'devices{state="offline"}': 1,
      'devices{state="never"}': 1,
    })
  await heard.close()
})

it.each([
  ['up', 1],
  ['limited', 1],
  ['down', 0],
])('the metrics show upstream_up for a tracking API that is %s as %i', async (state, value) => {
  await admin.redis.hset(keys.upstream, 'state', state, 'since', Date.now())
  await expect.poll(() => samples(['upstream_up'])).toEqual({ upstream_up: value })
})

it('the metrics show the share of memory that Redis uses', async () => {
  const info = await admin.redis.info('memory')
  const used = Number(/^used_memory:(\d+)/m.exec(info)?.[1])
  const { redis_memory_used_ratio } = await samples(['redis_memory_used_ratio'])
  expect(Math.abs(redis_memory_used_ratio - used / (256 * 1024 * 1024))).toBeLessThan(0.01)
})

it('the metrics estimate the memory share of marks, kept frames, and held, parked and waiting fixes', async () => {
  await store(admin.redis, '7/42/1', { count: 3 })
  await hold(admin.redis, 'no_route', '1', { count: 2 })
  await admin.redis.hset(keys.markBytes, '', 64 * 1024 * 1024)
  const sizes = { position: 16 * 1024 * 1024, 'unknown~': 16 * 1024 * 1024, 'position:1': 7 }
  await admin.redis.hset(keys.misunderstood('sizes'), sizes)
  await expect
    .poll(() => samples(['redis_memory_share_ratio']))
    .toEqual({
      'redis_memory_share_ratio{use="marks"}': 0.25,
      'redis_memory_share_ratio{use="misunderstood"}': 0.125,
      'redis_memory_share_ratio{use="held"}': ofMemory(200),
      'redis_memory_share_ratio{use="parked"}': 0,
      'redis_memory_share_ratio{use="waiting"}': ofMemory(120),
    })
})

it('the metrics show how many frames that were not understood are kept', async () => {
  for (const company of ['7', undefined]) await keepFrame(admin.redis, '1', { company })
  await keepFrame(admin.redis, '1', { kind: 'unknown' })
  await expect
    .poll(() => samples(['misunderstood_frames']))
    .toEqual({
      'misunderstood_frames{kind="guessed"}': 0,
      'misunderstood_frames{kind="position"}': 2,
      'misunderstood_frames{kind="unknown"}': 1,
    })
})

it('the metrics show the readiness, Redis, the running processes, and how often they were restarted', async () => {
  const up = ['ready', 'redis_up', 'process_up', 'process_restarts_total']
  const other = signOn(admin.redis, { role: 'worker', installation: admin.dir, slot: 1, restarts: 3 }, () => PUSHES)
  onTestFinished(() => other.stop())
  await expect
    .poll(() => samples(up))
    .toEqual({
      ready: 1,
      redis_up: 1,
      'process_up{role="gateway"}': 0,
      'process_up{role="worker"}': 1,
      'process_up{role="admin"}': 1,
      'process_restarts_total{role="gateway"}': 0,
      'process_restarts_total{role="worker"}': 3,
      'process_restarts_total{role="admin"}': 0,
    })
})

it('the metrics show the pushes in flight, the last delivery and the last fix', async () => {
  const names = ['push_in_flight', 'push_oldest_in_flight_seconds', 'last_delivery_timestamp_seconds']
  const pushes = {
    inFlight: 2,
    oldestMs: 1500,
    slowestMs: 1500,
    acceptedAt: { 7: OLDEST },
    acceptedBefore: {},
    refused: [],
  }
  const figures = { worker: { ...pushes, url: 'http://api.example' }, gateway: { connections: 1, lastFixAt: OLDEST } }
  for (const role of ['worker', 'gateway'] as const) {
    const process = signOn(admin.redis, { role, installation: admin.dir, slot: 2 }, () => figures[role])
    onTestFinished(() => process.stop())
  }
  await expect
    .poll(() => samples([...names, 'last_fix_timestamp_seconds']))
    .toEqual({
      push_in_flight: 2,
      push_oldest_in_flight_seconds: 1.5,
      last_delivery_timestamp_seconds: OLDEST / 1000,
      last_fix_timestamp_seconds: OLDEST / 1000,
    })
})

it('the metrics show how many roster lines hold now, later or no longer, and when the roster was written', async () => {
  const { roster_last_write_timestamp_seconds: writtenAt, ...lines } = await samples([
    'roster_lines',
    'roster_last_write_timestamp_seconds',
  ])
  expect(lines).toEqual({
    'roster_lines{state="current"}': 1,
    'roster_lines{state="future"}': 0,
    'roster_lines{state="past"}': 0,
  })
  expect(Math.abs(writtenAt - Date.now() / 1000)).toBeLessThan(60)
})

it('the metrics count everything from 0 with a fixed set of labels', async () => {
  const begun = await samples([
    'refused_total',
    'fixes_filtered_total',
    'not_stored_total',
    'slow_scripts_total',
    'push_requests_total',
  ])
  expect(begun).toMatchObject({
    'refused_total{reason="wrong_secret"}': 0,
    'fixes_filtered_total{reason="duplicate"}': 0,
    'not_stored_total{reason="redis"}': 0,
    'slow_scripts_total{script="append"}': expect.any(Number),
    'push_requests_total{code="500"}': 0,
  })
  const connections = await samples(['connections'])
  expect(Object.values(connections)).toEqual([0, 0, 0])
})

it('the metrics show the running version', async () => {
  expect(await samples(['build_info'])).toEqual({ [`build_info{version="${VERSION}"}`]: 1 })
})

it('the metrics include those of Node, added up over processes where a sum is meaningful', async () => {
  collectNodeMetrics()
  await registry.getMetricsAsJSON()
  const json = await registry.getMetricsAsJSON()
  const own = /^(?:process|nodejs)_/
  const ofOne = new Map(json.filter(({ name }) => own.test(name)).map((metric) => [metric.name, metric]))
  const sum = AggregatorRegistry.aggregate([json, json])
  const ofTwo = new Map((await sum.getMetricsAsJSON()).map((metric) => [metric.name, metric]))
  const ratio = (name: string) => firstValue(ofTwo.get(name)) / firstValue(ofOne.get(name))
  expect(ratio('process_resident_memory_bytes')).toBe(2)
  expect(ratio('process_cpu_seconds_total')).toBe(2)
  expect(ratio('nodejs_heap_size_used_bytes')).toBe(2)
  expect(ofTwo.has('process_start_time_seconds')).toBe(false)
  expect([...ofOne.keys()].filter((name) => /_p\d+_|_max_seconds$|_fds$|_active_/.test(name))).toEqual([])
})

it('the metrics are readable without a token in the format of Prometheus', async () => {
  const { status, headers, text } = await admin.ask('/metrics', { headers: {} })
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  expect(text).toMatch(/^# TYPE waybridge_fixes_waiting gauge\nwaybridge_fixes_waiting 0$/m)
  expect(text).toMatch(/^# TYPE waybridge_fixes_received_total counter$/m)
})

describe('an unreachable Redis', () => {
  afterEach(async () => {
    await admin.server.restart()
    await expect.poll(async () => (await admin.ask('/readyz')).status, { timeout: 30_000 }).toBe(200)
  })

  it('without Redis the gauges have no values, /readyz answers 503 and /healthz 200', async () => {
    await store(admin.redis, '7/42/1', { count: 3 })
    await expect.poll(waiting).toBe(3)
    await admin.server.kill('SIGKILL')
    await expect.poll(async () => (await admin.ask('/readyz')).status).toBe(503)
    expect((await admin.ask('/readyz')).json).toEqual({
      ok: false,
      problems: ['Redis does not answer: nothing is stored and nothing acknowledged until it does'],
    })
    expect(await samples([...ALL, 'process_up', 'roster_lines', 'redis_up', 'ready'])).toEqual({
      redis_up: 0,
      ready: 0,
    })
    const codes = async () => Object.keys(await samples(['findings']))
    await expect.poll(codes).toEqual(['findings{code="redis_down",severity="error"}'])
    expect((await admin.ask('/healthz')).json).toEqual({ ok: true })
    for (const path of ['/admin/lanes', '/admin/parked', '/admin/devices/356307042441014']) {
      const { status, json } = await admin.ask(path)
      expect([path, status, json]).toEqual([
        path,
        503,
        { message: 'Redis or its replicas do not answer: try again later' },
      ])
    }
  })

  it('the gauges keep their last values if Redis takes longer than two seconds', async () => {
    await store(admin.redis, '7/42/1', { count: 3 })
    await expect.poll(waiting).toBe(3)
    // Scripts wait, but pings are answered, so Redis does not count as down after two seconds.
    await admin.redis.client('PAUSE', 60_000, 'WRITE')
    expect(await waiting()).toBe(3)
    await admin.redis.client('UNPAUSE')
  })

  it('the gauges return with Redis', async () => {
    await store(admin.redis, '7/42/1', { count: 3 })
    await admin.server.kill('SIGKILL')
    await admin.server.restart()
    await expect
      .poll(async () => (await admin.ask('/admin/status')).json, { timeout: 30_000 })
      .toMatchObject({
        waiting: { fixes: 3, lanes: 1 },
        custody: { difference: 0 },
      })
    await expect.poll(waiting).toBe(3)
  })
})
