import { array, assert, asyncProperty, boolean, integer, record } from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { metrics } from '../../src/observe/metrics.ts'
import { observations } from '../../src/observe/observations.ts'
import {
  Appender,
  custodyCounters,
  DuplicateFilter,
  keys,
  packDevice,
  packRecords,
  type Store,
  timestampOf,
} from '../../src/store/index.ts'
import { records } from '../support/records.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const HOLD = { maxFixesPerDevice: 100, maxFixesConfigured: 100, maxUnknownDevices: 10 }
const WINDOW_MS = 86_400_000
const LANE = '7/42/1'

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})

interface Place {
  readonly time: number
  readonly latitude?: number
}

/** Calls that stored something. */
let sends = 0
const appenders: Appender[] = []
afterEach(() => Promise.all(appenders.splice(0).map((appender) => appender.close())))

/** A gateway that has just started and knows no duplicates. */
function gateway({ maxFutureMs = 300_000, markBytes = Number.MAX_SAFE_INTEGER } = {}) {
  const duplicates = new DuplicateFilter(redis, { windowMs: WINDOW_MS, maxFutureMs })
  const appender = new Appender(redis, {
    maxWaitMs: 0,
    duplicates,
    shares: { markBytes, heldFixes: Number.MAX_SAFE_INTEGER, misunderstoodBytes: 0 },
    hold: HOLD,
  })
  appenders.push(appender)
  return async (device: string, ...fixes: Place[]) => {
    sends++
    const positions = fixes.map(({ time, latitude = 52.5 }) => ({
      timestamp: time,
      latitude,
      longitude: 13.4,
      accuracy: 5,
    }))
    const part = { lane: LANE, device, records: packRecords(positions, packDevice(device), Date.now()) }
    return (await appender.append({ parts: [part], received: fixes.length, filtered: [] })).duplicates
  }
}

const stored = async () => records(Buffer.concat(await redis.lrangeBuffer(keys.lane(LANE), 0, -1))).map(timestampOf)
const NOW = Math.floor(Date.now() / 1000)
const LATER = NOW + 400
const t = (...times: number[]): Place[] => times.map((time) => ({ time }))

it('stores a fix once when a gateway receives it twice', async () => {
  const send = gateway()
  expect(await send('1', ...t(LATER, LATER + 1))).toBe(0)
  expect(await send('1', ...t(LATER, LATER + 1))).toBe(2)
  expect(await stored()).toEqual([LATER, LATER + 1])
})

it('stores a fix once when a restarted gateway receives it again', async () => {
  await gateway()('1', ...t(NOW, NOW + 1))
  expect(await gateway()('1', ...t(NOW, NOW + 1))).toBe(2)
  expect(await stored()).toEqual([NOW, NOW + 1])
})

it('stores a fix once when a gateway receives it again whose clock was behind at its start', async () => {
  await gateway()('1', ...t(NOW))
  vi.useFakeTimers({ toFake: ['Date'], now: (NOW - 3600) * 1000 })
  const restarted = gateway()
  await restarted('2', ...t(NOW - 7200))
  await restarted('1', ...t(NOW - 7200))
  vi.useRealTimers()
  expect(await restarted('1', ...t(NOW))).toBe(1)
})

it('finds duplicates among new fixes, however many fixes came in between', async () => {
  const send = gateway()
  await send('1', ...t(NOW))
  for (let i = 1; i <= 50; i++) await send('1', ...t(LATER + i))
  expect(await send('1', ...t(NOW - 1, NOW, LATER + 25, LATER + 51))).toBe(2)
  expect((await stored()).slice(-2)).toEqual([NOW - 1, LATER + 51])
})

it('stores a fix once when two gateways receive it', async () => {
  const [a, b] = [gateway(), gateway()]
  await a('1', ...t(LATER, LATER + 1))
  expect(await b('1', ...t(LATER, LATER + 1, LATER + 2))).toBe(2)
  expect(await a('1', ...t(LATER + 2, LATER + 3))).toBe(1)
  expect(await stored()).toEqual([LATER, LATER + 1, LATER + 2, LATER + 3])
})

it('stores a fix once although its gateway was stopped while another one learned newer times', async () => {
  const [stopped, other] = [gateway(), gateway()]
  await stopped('1', ...t(NOW))
  for (let i = 1; i <= 3; i++) await other('1', ...t(LATER + i))
  await stopped('1', ...t(LATER + 9000))
  expect(await other('1', ...t(LATER + 9000))).toBe(1)
  expect(await stored()).toEqual([NOW, LATER + 1, LATER + 2, LATER + 3, LATER + 9000])
})

it('stores a fix once when two calls are under way as another gateway begins to store', async () => {
  const [a, b] = [gateway({ maxFutureMs: 20_000_000 }), gateway({ maxFutureMs: 20_000_000 })]
  for (let i = 0; i < 3; i++) await a('1', ...t(LATER + i))
  await b('1', ...t(LATER + 9000, LATER + 9001, LATER + 9002))
  const both = [a('1', ...t(LATER + 9000)), new Promise(setImmediate).then(() => a('1', ...t(LATER + 9001)))]
  expect(await Promise.all(both)).toEqual([1, 1])
  expect(await a('1', ...t(LATER + 9002))).toBe(1)
})

it('stores a backlog of days once', async () => {
  const old = t(NOW - 9 * 86_400, NOW - 9 * 86_400 + 60, NOW - 8 * 86_400)
  expect(await gateway()('1', ...old)).toBe(0)
  expect(await gateway()('1', ...old)).toBe(3)
})

it('stores a fix once that a frame has twice', async () => {
  const send = gateway()
  expect(await send('1', ...t(LATER, LATER, LATER + 1))).toBe(1)
  expect(await stored()).toEqual([LATER, LATER + 1])
})

it('stores fixes that differ in place, device or second', async () => {
  const send = gateway()
  await send('1', { time: NOW, latitude: 52.5 })
  expect(await send('1', { time: NOW, latitude: 52.5000001 })).toBe(0)
  expect(await send('2', { time: NOW, latitude: 52.5 })).toBe(0)
  expect(await send('1', { time: NOW + 1, latitude: 52.5 })).toBe(0)
})

it('counts a duplicate as received and filtered', async () => {
  const send = gateway()
  await send('1', ...t(NOW, NOW))
  await send('1', ...t(NOW))
  expect(await custodyCounters(redis)).toEqual(
    new Map([
      ['received', 3],
      ['filtered:duplicate', 2],
    ]),
  )
})

/** Spreads times over many spans of 2,048 s, so that newer ones need no lookup. */
const STEP_S = 700
const start = () => gateway({ maxFutureMs: 6 * STEP_S * 1000 })

it('stores each fix once in any order of frames, over two gateways and their restarts', async () => {
  const frame = record({
    gateway: integer({ min: 0, max: 1 }),
    restart: boolean(),
    times: array(integer({ min: -6, max: 6 }), { minLength: 1, maxLength: 8 }),
  })
  await assert(
    asyncProperty(array(frame, { maxLength: 25 }), boolean(), async (frames, single) => {
      await redis.flushall()
      const gateways = [start(), start()]
      const sent: number[] = []
      for (const { gateway: number, restart, times } of frames) {
        const own = single ? 0 : number
        if (restart) gateways[own] = start()
        sent.push(...times)
        await gateways[own]('1', ...t(...times.map((time) => NOW + time * STEP_S)))
      }
      const once = [...new Set(sent)].map((time) => NOW + time * STEP_S)
      expect(await stored()).toEqual(once)
    }),
    { numRuns: 100 },
  )
})

const used = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])

/** How often marks were read; the turn is read with each call. */
async function reads(): Promise<number> {
  return (await called('get')) - sends
}

/** How many calls have stored something. */
async function appends(): Promise<number> {
  return (await metrics.appends.get()).values[0]?.value ?? 0
}

/** How often a command was called. */
async function called(command: string): Promise<number> {
  const statistics = await redis.info('commandstats')
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(statistics)?.[1] ?? 0)
}

/** The name of the only string of marks, as it is among the expiries. */
async function onlyName(): Promise<string> {
  const names = await redis.zrange(keys.markExpiries, '0', '-1')
  expect(names).toHaveLength(1)
  return names[0]
}

it('marks take less than 16 bytes of Redis memory a fix, for vans that send every 10 s for 24 hours', async () => {
  const send = gateway()
  const before = await used()
  for (let device = 1; device <= 20; device++)
    for (let from = 0; from < 8640; from += 480)
      await send(String(device), ...t(...Array.from({ length: 480 }, (_, i) => NOW - 86_400 + (from + i) * 10)))
  await redis.del(keys.lane(LANE), keys.schedule)
  // Valkey frees what is deleted a moment later.
  await expect.poll(async () => ((await used()) - before) / (20 * 8640)).toBeLessThan(16)
})

it('keeps marks for the whole window after the last late fix, and then forgets them', async () => {
  // In one span of marks with the second before.
  const late = Math.floor((NOW - 7200) / 2048) * 2048 + 1
  await gateway()('1', ...t(late))
  const name = await onlyName()
  await redis.zadd(keys.markExpiries, Date.now() + 60_000, name)
  const send = gateway()
  await send('1', ...t(late - 1))
  expect(Number(await redis.zscore(keys.markExpiries, name))).toBeGreaterThan(Date.now() + WINDOW_MS + 3_600_000)
  await redis.zadd(keys.markExpiries, 1, name)
  await appenders[0].tidy()
  expect(await redis.exists(keys.marksPrefix + name)).toBe(0)
  expect(await redis.hgetall(keys.markBytes)).toEqual({ '': '0' })
  expect(await send('1', ...t(late))).toBe(0)
})

it.each([
  ['of Redis', Date.now() - 3 * WINDOW_MS],
  ['of the gateway, which is in doubt,', 0],
])('keeps marks if the clock %s was set forward', async (_, now) => {
  const send = gateway()
  await send('1', ...t(NOW))
  // By the clock of Redis, the window has passed.
  await redis.zincrby(keys.markExpiries, -3 * WINDOW_MS, await onlyName())
  await appenders[0].tidy(now)
  expect(await gateway()('1', ...t(NOW))).toBe(1)
})

it('stores marks with the next call when one has failed', async () => {
  const send = gateway()
  await server.kill('SIGKILL')
  await expect(send('1', ...t(LATER))).rejects.toThrow()
  await server.restart()
  await expect.poll(() => redis.status, { timeout: 30_000 }).toBe('ready')
  await send('1', ...t(LATER))
  expect(Number(await redis.zscore(keys.markExpiries, await onlyName()))).toBeGreaterThan(Date.now() + WINDOW_MS)
  expect(await redis.hget(keys.latestSpans, '1')).toBe(String(LATER >>> 11))
})

it('skips the lookup of marks for fixes newer than the latest span of their device', async () => {
  const OLD = 1_700_000_000
  await gateway()('1', ...t(OLD))
  const send = gateway()
  // This call begins a turn of the gateway.
  await send('1', ...t(OLD + 1))
  await send('2', ...t(OLD))
  const before = await reads()
  await send('1', ...t(OLD + 4096))
  await send('1', ...t(OLD + 4097))
  await send('2', ...t(OLD + 1))
  expect(await reads()).toBe(before)
  expect(await send('1', ...t(OLD, OLD + 4096, OLD + 1))).toBe(3)
})

it('skips the lookup of marks for a fix newer than all others of its device', async () => {
  const send = gateway()
  await send('1', ...t(LATER))
  const before = await reads()
  for (let i = 1; i <= 20; i++) await send('1', ...t(LATER + i))
  expect(await reads()).toBe(before)
  await send('1', ...t(LATER + 20))
  expect(await reads()).toBe(before + 1)
})

it('marks cannot be computed without the secret of the installation', async () => {
  await gateway()('1', ...t(LATER))
  const marks = await redis.getBuffer(keys.marksPrefix + (await onlyName()))
  await redis.flushall()
  await gateway()('1', ...t(LATER))
  expect(await redis.getBuffer(keys.marksPrefix + (await onlyName()))).not.toEqual(marks)
})

it('bounds the marks of one span, stores further fixes without a mark, and finds marked duplicates', async () => {
  const send = gateway()
  const span = (NOW >>> 11) * 2048 - 4096
  const places = Array.from({ length: 900 }, (_, i) => ({ time: span, latitude: i / 100 }))
  for (let shift = 0; shift < 6; shift++)
    await send('1', ...places.map(({ time, latitude }) => ({ time: time + shift, latitude })))
  expect(await redis.strlen(keys.marksPrefix + (await onlyName()))).toBeLessThanOrEqual(4096 * 6)
  expect(await stored()).toHaveLength(5400)
  expect(await send('1', ...places)).toBe(900)
  expect(observations.current()).toContainEqual(
    expect.objectContaining({ code: 'marks_full', subject: { device: '1' } }),
  )
})

it.each([
  ['a full span', 4096, {}],
  ['a share of memory that is used up', 128, { markBytes: 500 }],
])('does not write the marks of %s again with each further fix', async (_, full, limits) => {
  const send = gateway(limits)
  const time = (NOW >>> 11) * 2048 - 4096
  const places = (count: number) => Array.from({ length: count }, () => ({ time, latitude: Math.random() * 80 }))
  for (let sent = 0; sent < full; sent += 512) await send('1', ...places(Math.min(512, full - sent)))
  const marks = keys.marksPrefix + (await onlyName())
  const before = await Promise.all([called('append'), called('set'), redis.strlen(marks)])
  for (let fix = 0; fix < 40; fix++) await send('1', ...places(1))
  expect(await Promise.all([called('append'), called('set'), redis.strlen(marks)])).toEqual(before)
})

it('bounds the marks of one device, however many different times it sends', async () => {
  const send = gateway({ maxFutureMs: 2 ** 50 })
  const before = await used()
  for (let i = 0; i < 40; i++) await send('1', ...t(...Array.from({ length: 500 }, (_, k) => (i * 500 + k) * 2048)))
  await redis.del(keys.lane(LANE), keys.schedule)
  expect(Number(await redis.hget(keys.markBytes, '1'))).toBeLessThan(4.2e6)
  await expect.poll(async () => (await used()) - before).toBeLessThan(4.2e6)
})

it('bounds the marks of all devices together', async () => {
  const send = gateway({ markBytes: 100_000 })
  for (let device = 1; device <= 40; device++)
    await send(String(device), ...t(...Array.from({ length: 20 }, (_, k) => NOW - k * 2048)))
  expect(Number(await redis.hget(keys.markBytes, ''))).toBeLessThan(101_000)
})

it('looks up the marks of hostile input in many small calls, not in one that blocks Redis', async () => {
  const send = gateway()
  const spans = t(...Array.from({ length: 255 }, (_, n) => NOW - n * 2048))
  await send('1', ...t(NOW))
  const before = await called('evalsha')
  await Promise.all(Array.from({ length: 40 }, (_, device) => send(String(device + 10), ...spans)))
  // 10,200 runs, of which a call has at most 255.
  expect((await called('evalsha')) - before).toBeGreaterThanOrEqual(30)
})

it('stores fixes of many new devices in smaller calls, since each costs Redis more', async () => {
  const send = gateway()
  await send('1', ...t(NOW))
  const callsOf = async (time: number) => {
    const before = await appends()
    await Promise.all(Array.from({ length: 2000 }, (_, device) => send(String(device + 10), ...t(time))))
    return (await appends()) - before
  }
  // One string of marks covers 2,048 s.
  const first = Math.floor(NOW / 2048) * 2048
  expect(await callsOf(first)).toBeGreaterThanOrEqual(7)
  expect(await callsOf(first + 1)).toBeLessThanOrEqual(5)
})
