import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLogger } from '../../src/observe/log.ts'
import { startPushing } from '../../src/push/index.ts'
import {
  addCorrections,
  Appender,
  connect,
  type Correction,
  custodyCounters,
  describeLanes,
  forgetDevice,
  keptFigures,
  keptSince,
  NOT_CURRENT,
  openCorrections,
  type Place,
  type Position,
  packDevice,
  packRecords,
  readKept,
  type Store,
  timestampOf,
  trimKept,
} from '../../src/store/index.ts'
import { Shard } from '../../src/store/shards.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { ok, startApi, status } from '../rig/api.ts'
import { UNFILTERED } from '../support/appending.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })
const HOUR = 3_600_000
const KEEP = { delivered: 48 * HOUR, max_memory: 0.1 }
const ID = '356307042441013'
const [OLD, NEW] = ['7/42/1001', '7/42/1002']
/** Unix seconds: the start of the hour two hours ago. */
const T = Math.floor(Date.now() / HOUR - 2) * 3600
const ALL = { from: 0, until: Number.MAX_SAFE_INTEGER }

let server: TestRedis
let redis: Store
let api: Awaited<ReturnType<typeof startApi>>
let stops: (() => Promise<void>)[] = []
/** Lane to which the roster assigns every fix. */
let placed: (timestamp: number) => ReturnType<Place>
let isConfigured: boolean

withRedis((one, connection) => {
  server = one
  redis = connection
})
beforeEach(async () => {
  api = await startApi()
  placed = () => OLD
  isConfigured = true
})
afterEach(async () => {
  for (const stop of stops.toReversed()) await stop()
  stops = []
  await api.close()
})

function startWorker({ keep = KEEP, max_positions = 100, redeliver_share = 1 } = {}) {
  const client = createTrackingClient({ baseUrl: api.url, timeoutMs: 20_000, connections: 8 })
  const connection = connect(server.url, 'worker')
  const { stop } = startPushing({
    redis: connection,
    client,
    apikeys: new Map([
      ['7', ['key-7']],
      ['8', ['key-8']],
    ]),
    place: (record) => placed(timestampOf(record)),
    isConfigured: () => isConfigured,
    batch: { max_positions, max_wait: 0 },
    keep,
    zone: 'UTC',
    push: { concurrency: 8, max_requests_per_s: null, redeliver_share, first_delay: 20, max_delay: 100 },
    logger,
  })
  const end = async () => {
    stops = stops.filter((other) => other !== end)
    await stop()
    await client.close()
    connection.disconnect()
  }
  stops.push(end)
  return end
}

const fix = (timestamp: number): Position => ({ timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5 })
const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)

async function append(lane: string, positions: readonly Position[], device = ID): Promise<void> {
  const appender = new Appender(redis, UNFILTERED)
  const records = packRecords(positions, packDevice(device), Date.now())
  await appender.append({ parts: [{ lane, device, records }], received: positions.length, filtered: [] })
  await appender.close()
}

async function deliver(timestamps: readonly number[], lane = OLD): Promise<void> {
  const before = await counted('delivered')
  await append(lane, timestamps.map(fix))
  await expect.poll(() => counted('delivered'), SOON).toBe(before + timestamps.length)
}

async function correct(correction: Partial<Correction> = {}): Promise<void> {
  await addCorrections(redis, [
    { device: ID, from: T * 1000, until: (T + 7200) * 1000, lanes: [OLD], at: Date.now(), ...correction },
  ])
}

const SOON = { timeout: 30_000, interval: 20 }
const counted = async (name: string) => (await custodyCounters(redis)).get(name) ?? 0
const open = async () => (await openCorrections(redis)).size
const timesOf = (lane: string) => api.timestampsOf(lane.slice(2))
const corrected = () => expect.poll(open, SOON).toBe(0)

it('the kept fixes contain what was delivered, unchanged and in order of time', async () => {
  startWorker()
  const positions: Position[] = [
    {
      timestamp: T + 3599,
      latitude: 52.1234567,
      longitude: -13.7654321,
      accuracy: 16_383,
      heading: 359,
      speed: 163.82,
    },
    { timestamp: T + 3600, latitude: -90, longitude: 180, accuracy: 1, heading: 0, speed: 0 },
    { timestamp: T + 3601, latitude: 90, longitude: -180, accuracy: 7 },
    { timestamp: T, latitude: -0.0000001, longitude: 0.0000001, accuracy: 8, heading: undefined, speed: 13.37 },
  ]
  await append(OLD, positions)
  await expect.poll(() => counted('delivered'), SOON).toBe(4)
  const kept = await readKept(redis, ID, ALL)
  const expected = [positions[3], positions[0], positions[1], positions[2]]
  expect(kept).toEqual(expected.map((position) => ({ ...position, lane: OLD, isQueued: false })))
  expect(await readKept(redis, ID, { from: (T + 3600) * 1000, until: (T + 3601) * 1000 })).toHaveLength(1)
  expect(await readKept(redis, '356307042441014', ALL)).toEqual([])
})

it('the kept fixes leave out a speed and limit an accuracy that exceed their fields', async () => {
  startWorker()
  await append(OLD, [{ ...fix(T), accuracy: 60_000, speed: 300 }])
  await expect.poll(() => counted('delivered'), SOON).toBe(1)
  expect(await readKept(redis, ID, ALL)).toMatchObject([{ accuracy: 16_383, speed: undefined }])
})

it('the kept fixes name the lane of each delivery if a device changes its lane and returns', async () => {
  startWorker()
  await deliver([T, T + 1])
  await deliver([T + 2], NEW)
  await deliver([T + 3])
  await deliver([T + 4], NEW)
  expect((await readKept(redis, ID, ALL)).map(({ timestamp, lane }) => [timestamp - T, lane])).toEqual([
    [0, OLD],
    [1, OLD],
    [2, NEW],
    [3, OLD],
    [4, NEW],
  ])
})

it('the kept fixes separate several devices of one lane, also one with an id of text', async () => {
  startWorker()
  const ids = [ID, '356307042441014', 'van-ü', '007']
  for (const id of ids) await append(OLD, [fix(T), fix(T + 1)], id)
  await expect.poll(() => counted('delivered'), SOON).toBe(8)
  for (const id of [...ids, '7']) expect(await readKept(redis, id, ALL)).toHaveLength(2)
})

it('the kept fixes contain nothing older than the limit, and nothing if they are switched off', async () => {
  const end = startWorker()
  await deliver([T - 50 * 3600, T])
  expect(await keptFigures(redis)).toMatchObject({ fixes: 1, trimmed: 0 })
  await end()
  startWorker({ keep: { ...KEEP, delivered: 0 } })
  await expect.poll(async () => (await keptFigures(redis)).fixes, SOON).toBe(0)
  await deliver([T + 1])
  expect(await readKept(redis, ID, ALL)).toEqual([])
  expect(await redis.keys('*kept*')).toEqual([])
})

it('the kept fixes drop their oldest hours if they take too much memory, and report their start', async () => {
  startWorker()
  await deliver([T, T + 3600])
  await redis.config('SET', 'maxmemory', '100mb')
  await trimKept(redis, { ...KEEP, max_memory: 0.000_004 })
  await redis.config('SET', 'maxmemory', '0')
  expect((await readKept(redis, ID, ALL)).map(({ timestamp }) => timestamp)).toEqual([T + 3600])
  expect(await keptFigures(redis)).toEqual({ fixes: 1, trimmed: 1, since: (T + 3600) * 1000 })
  expect(await keptSince(redis, ID, KEEP.delivered)).toBe((T + 3600) * 1000)
  expect(await keptSince(redis, ID, 0)).toBeUndefined()
})

it('fixes are kept by the clock of Redis, whatever the clock of the worker is', async () => {
  startWorker()
  await deliver([T])
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 4 * KEEP.delivered })
  onTestFinished(() => void vi.useRealTimers())
  await trimKept(redis, KEEP)
  await deliver([T + 1])
  expect((await readKept(redis, ID, ALL)).map(({ timestamp }) => timestamp)).toEqual([T, T + 1])
})

it('the kept fixes and the corrections of a device are deleted with it, and those of others stay', async () => {
  startWorker()
  await deliver([T, T + 3600])
  await append(OLD, [fix(T)], '356307042441014')
  await expect.poll(() => counted('delivered'), SOON).toBe(3)
  placed = () => NOT_CURRENT
  await correct()
  expect(await forgetDevice(redis, new Set([ID]))).toMatchObject({ kept: 2 })
  expect(await readKept(redis, ID, ALL)).toEqual([])
  expect(await open()).toBe(0)
  expect(await readKept(redis, '356307042441014', ALL)).toHaveLength(1)
  expect((await redis.keys('*kept*')).some((key) => key.includes(ID))).toBe(false)
})

it('a fix of a push in progress is kept when its device is deleted, and removed by a second deletion', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  api.respond((push, response) => void answered.then(() => ok(push, response)))
  startWorker()
  await append(OLD, [fix(T)])
  await expect.poll(() => api.seen.length, SOON).toBe(1)
  expect(await forgetDevice(redis, new Set([ID]))).toMatchObject({ waiting: 0, kept: 0, busy: 1 })
  answer()
  await expect.poll(() => counted('delivered'), SOON).toBe(1)
  expect(await forgetDevice(redis, new Set([ID]))).toMatchObject({ kept: 1, busy: 0 })
  expect(await readKept(redis, ID, ALL)).toEqual([])
})

describe('a correction', () => {
  it('a correction delivers again what belongs to another lane, once and in order, and counts it separately', async () => {
    startWorker({ max_positions: 3 })
    await deliver([T + 3600, T + 3601, ...range(T, 7)])
    placed = () => NEW
    await correct()
    await corrected()
    await expect.poll(() => counted('redelivered'), SOON).toBe(9)
    expect(timesOf(NEW)).toEqual([...range(T, 7), T + 3600, T + 3601])
    expect(timesOf(OLD)).toHaveLength(9)
    expect(await counted('delivered')).toBe(9)
    expect(await counted('requeued')).toBe(9)
    const kept = await readKept(redis, ID, ALL)
    expect(kept.filter(({ lane, isQueued }) => lane === NEW && !isQueued)).toHaveLength(9)
  })

  it('a correction ignores fixes outside its times, without a lane, or for another company', async () => {
    startWorker()
    await deliver([T - 1, T, T + 1, T + 2, T + 7200])
    placed = (timestamp) => (timestamp === T ? '8/42/1002' : timestamp === T + 1 ? undefined : NEW)
    await correct()
    await corrected()
    await expect.poll(() => counted('redelivered'), SOON).toBe(1)
    expect(timesOf(NEW)).toEqual([T + 2])
    expect(api.seen.map(({ lane }) => lane)).not.toContain('8/42/1002')
  })

  it('a correction ends although some of its hours are deleted meanwhile, and delivers nothing twice', async () => {
    startWorker({ max_positions: 2, redeliver_share: 0.125 })
    await deliver([...range(T, 20), T + 3600, T + 3601])
    placed = () => NEW
    await correct()
    await expect.poll(() => timesOf(NEW).length, SOON).toBeGreaterThan(2)
    await redis.config('SET', 'maxmemory', '100mb')
    await trimKept(redis, { ...KEEP, max_memory: 0.000_004 })
    await redis.config('SET', 'maxmemory', '0')
    await corrected()
    await expect.poll(async () => (await counted('requeued')) - (await counted('redelivered')), SOON).toBe(0)
    const times = timesOf(NEW)
    expect(new Set(times).size).toBe(times.length)
    expect(times.slice(-2)).toEqual([T + 3600, T + 3601])
    expect(times.length).toBeLessThan(22)
  })

  it('a correction never delivers to a lane that has had the fix, even after an undo', async () => {
    startWorker()
    await deliver(range(T, 5))
    placed = () => NEW
    await correct()
    await corrected()
    await expect.poll(() => counted('redelivered'), SOON).toBe(5)
    placed = () => OLD
    await correct({ lanes: [NEW] })
    await corrected()
    placed = () => NEW
    await correct()
    await corrected()
    expect(await counted('redelivered')).toBe(5)
    expect(timesOf(OLD)).toHaveLength(5)
    expect(timesOf(NEW)).toHaveLength(5)
  })

  it('a correction that is undone before it begins delivers nothing', async () => {
    const end = startWorker()
    await deliver(range(T, 5))
    await end()
    placed = () => NEW
    await correct()
    placed = () => OLD
    startWorker()
    await corrected()
    expect(await counted('requeued')).toBe(0)
    expect(timesOf(NEW)).toEqual([])
  })

  it('a correction delivers nothing by the roster that it replaces, which a worker may use for a moment', async () => {
    startWorker()
    await deliver(range(T, 3))
    const replaced = '7/42/1003'
    const usedUntil = performance.now() + 2500
    placed = () => (performance.now() < usedUntil ? replaced : NEW)
    await correct()
    await expect.poll(() => timesOf(NEW), SOON).toEqual(range(T, 3))
    await corrected()
    expect(timesOf(replaced)).toEqual([])
  })

  it('a correction waits while its device is not configured, as long as its fixes are kept', async () => {
    startWorker()
    await deliver(range(T, 2))
    isConfigured = false
    placed = () => undefined
    await correct()
    await correct({ at: Date.now() - KEEP.delivered })
    await expect.poll(open, SOON).toBe(1)
    isConfigured = true
    placed = () => NEW
    await corrected()
    await expect.poll(() => timesOf(NEW), SOON).toEqual(range(T, 2))
  })

  it('a correction waits until the roster is known', async () => {
    startWorker()
    await deliver([T])
    placed = () => NOT_CURRENT
    await correct()
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect(await open()).toBe(1)
    placed = () => NEW
    await corrected()
    await expect.poll(() => timesOf(NEW), SOON).toEqual([T])
  })

  it.each([HOUR, -HOUR])(
    'a correction noted by a clock that was %i ms fast ends soon, and includes waiting fixes',
    async (aheadMs) => {
      startWorker()
      await deliver([T])
      const answers: (() => void)[] = []
      api.respond((push, response) => {
        if (push.lane === OLD.slice(2)) answers.push(() => ok(push, response))
        else ok(push, response)
      })
      await append(OLD, [fix(T + 1)])
      await expect.poll(() => answers.length, SOON).toBe(1)
      placed = () => NEW
      await correct({ at: Date.now() + aheadMs })
      await expect.poll(() => timesOf(NEW), SOON).toEqual([T])
      expect(await open()).toBe(1)
      answers.forEach((answer) => answer())
      await expect.poll(() => timesOf(NEW), SOON).toEqual([T, T + 1])
      await corrected()
    },
  )

  it('a correction includes fixes that waited in the old lane when the roster was replaced', async () => {
    startWorker()
    await deliver([T])
    let isDown = true
    api.respond((push, response) =>
      isDown && push.lane === OLD.slice(2) ? status(503)(push, response) : ok(push, response),
    )
    await append(OLD, [fix(T + 1), fix(T + 2)])
    placed = () => NEW
    await correct()
    await expect.poll(() => timesOf(NEW), SOON).toEqual([T])
    expect(await open()).toBe(1)
    isDown = false
    await expect.poll(() => timesOf(NEW), SOON).toEqual([T, T + 1, T + 2])
    await corrected()
    expect(timesOf(OLD).filter((time) => time > T)).toEqual(expect.arrayContaining([T + 1, T + 2]))
  })

  it('a correction includes what a parked old lane delivers after a probe during the replacement of the roster', async () => {
    const answers: (() => void)[] = []
    let isParking = true
    api.respond((push, response) => {
      if (push.lane !== OLD.slice(2)) ok(push, response)
      else if (isParking) status(404)(push, response)
      else answers.push(() => ok(push, response))
    })
    startWorker()
    await append(OLD, range(T, 3).map(fix))
    const parked = async () => (await describeLanes(redis, [OLD]))[0].parked?.fixes
    await expect.poll(parked, SOON).toBe(3)
    isParking = false
    await redis.zadd(redis.keyNames.schedule, 'XX', 0, OLD)
    await expect.poll(() => answers.length, SOON).toBe(1)
    placed = () => NEW
    await correct()
    await new Promise((resolve) => setTimeout(resolve, 6000))
    expect(await open()).toBe(1)
    api.respond(ok)
    answers.forEach((answer) => answer())
    await expect.poll(() => timesOf(NEW).toSorted((one, other) => one - other), SOON).toEqual(range(T, 3))
    await corrected()
  })

  it('a correction includes what the old lane delivers between two reads', async () => {
    const answers: (() => void)[] = []
    api.respond((push, response) => {
      if (push.lane === OLD.slice(2)) answers.push(() => ok(push, response))
      else ok(push, response)
    })
    startWorker()
    await append(OLD, [fix(T)])
    await expect.poll(() => answers.length, SOON).toBe(1)
    placed = () => NEW
    // The API answers at the moment when a worker reads the old lane.
    const { run } = Shard.prototype
    const look = vi.spyOn(Shard.prototype, 'run').mockImplementation(async function (this: Shard, ...call) {
      if (call[0] !== 'survey') return run.apply(this, call)
      look.mockRestore()
      answers.forEach((answer) => answer())
      await expect.poll(() => counted('delivered'), SOON).toBe(1)
      return run.apply(this, call)
    })
    await correct()
    await corrected()
    await expect.poll(() => timesOf(NEW), SOON).toEqual([T])
  })

  it('a correction continues although a missing worker took its turn while the clock of Redis was fast', async () => {
    await redis.set(redis.keyNames.correcting, 'gone', 'PX', HOUR)
    startWorker()
    await deliver([T])
    placed = () => NEW
    await correct()
    await expect.poll(() => timesOf(NEW), SOON).toEqual([T])
  })

  it('a correction is carried out once by several workers that start and stop', async () => {
    const end = startWorker({ max_positions: 10 })
    startWorker({ max_positions: 10 })
    await deliver(range(T, 100))
    placed = () => NEW
    await correct()
    await correct()
    await expect.poll(() => timesOf(NEW).length, SOON).toBeGreaterThan(0)
    await end()
    startWorker({ max_positions: 10 })
    await corrected()
    await expect.poll(() => counted('redelivered'), SOON).toBe(100)
    expect(timesOf(NEW)).toEqual(range(T, 100))
  })

  it('a correction waits for the waiting fixes of its lane, and is slow', async () => {
    const end = startWorker()
    await deliver(range(T, 60))
    await end()
    placed = () => NEW
    startWorker({ max_positions: 10, redeliver_share: 0.125 })
    await correct()
    const began = Date.now()
    await corrected()
    // One request with ten positions per second.
    expect(Date.now() - began).toBeGreaterThan(3500)
    await expect.poll(() => timesOf(NEW), SOON).toEqual(range(T, 60))
  })

  it('a correction discards parked fixes of the new lane if the device returns to its old one', async () => {
    startWorker()
    await deliver(range(T, 3))
    api.respond((push, response) => (push.lane === NEW.slice(2) ? status(403)(push, response) : ok(push, response)))
    placed = () => NEW
    await correct()
    const parked = async () => (await describeLanes(redis, [NEW]))[0].parked?.fixes
    await expect.poll(parked, SOON).toBe(3)
    placed = () => OLD
    await redis.zadd(redis.keyNames.schedule, 'XX', 0, NEW)
    await expect.poll(parked, { ...SOON, timeout: 40_000 }).toBeUndefined()
    expect(await counted('withdrawn')).toBe(3)
    expect(timesOf(OLD)).toHaveLength(3)
  })

  it('a correction delivers again to a lane from which it was withdrawn before the delivery', async () => {
    startWorker()
    await deliver(range(T, 3))
    api.respond((push, response) => (push.lane === NEW.slice(2) ? status(404) : ok)(push, response))
    placed = () => NEW
    await correct()
    const parked = async () => (await describeLanes(redis, [NEW]))[0].parked?.fixes
    await expect.poll(parked, SOON).toBe(3)
    await corrected()
    placed = () => OLD
    await redis.zadd(redis.keyNames.schedule, 'XX', 0, NEW)
    await expect.poll(() => counted('withdrawn'), SOON).toBe(3)
    api.respond(ok)
    const before = api.seen.length
    placed = () => NEW
    await correct()
    await expect.poll(() => counted('redelivered'), SOON).toBe(3)
    expect(api.seen.slice(before).flatMap(({ timestamps }) => timestamps)).toEqual(range(T, 3))
    await corrected()
    await correct()
    await corrected()
    expect(await counted('requeued')).toBe(6)
  })
})
