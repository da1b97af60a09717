import { expect, it } from 'vitest'
import { Appender, joinWorkers, keys, Leases, packDevice, packRecords, type Store } from '../../src/store/index.ts'
import { UNFILTERED } from '../support/appending.ts'
import { withRedis } from '../support/with-redis.ts'

const HOUR_MS = 3_600_000
const LANE = '7/42/1'
const soon = { timeout: 30_000, interval: 20 }

let redis: Store
withRedis((_, connected) => (redis = connected))

const leases = () => new Leases(redis, { maxPositions: 10, maxWaitMs: 0 })
const claim = async () => (await leases().claim(10)).map(({ lane }) => lane)

async function append(lane: string, maxWaitMs = 0) {
  const appender = new Appender(redis, { ...UNFILTERED, maxWaitMs })
  const position = { timestamp: 1, latitude: 52.5, longitude: 13.4, accuracy: 5 }
  const records = packRecords([position], packDevice('1'), Date.now())
  await appender.append({ parts: [{ lane, device: '1', records }], received: 1, filtered: [] })
  await appender.close()
}

/** Runs one worker for a beat. Returns how many workers it has counted. */
async function beat(): Promise<number> {
  const counts: number[] = []
  const worker = joinWorkers(redis, (count) => counts.push(count))
  await expect.poll(() => redis.zcard(keys.workers), soon).toBeGreaterThan(0)
  await worker.stop()
  return counts.at(-1) ?? 1
}

/** Changes the stored times to those of a Redis whose clock was ahead by `ms` until now. */
async function setBackBy(ms: number) {
  await beat()
  await redis.hincrby(keys.clock, 'beat', ms)
  for (const lane of await redis.zrange(keys.schedule, '0', '-1')) await redis.zincrby(keys.schedule, ms, lane)
  const probe = await redis.hget(keys.upstream, 'probe')
  if (probe) await redis.hset(keys.upstream, 'probe', Number(probe) + ms)
}

it('makes waiting lanes due at once when the clock of Redis is set back by an hour', async () => {
  await append(LANE)
  await append('7/42/2', 60_000)
  await setBackBy(HOUR_MS)
  expect(await claim()).toEqual([])
  await beat()
  expect(new Set(await claim())).toEqual(new Set([LANE, '7/42/2']))
})

it('makes the probe of an API that is down due at once when the clock of Redis is set back', async () => {
  await append(LANE)
  await redis.hset(keys.upstream, { state: 'down', probe: Date.now() + 1000 })
  await setBackBy(HOUR_MS)
  expect(await claim()).toEqual([])
  await beat()
  expect(await claim()).toEqual([LANE])
})

it('a renewed lease holds when the clock of Redis is set back, and one that nobody renews ends', async () => {
  await append(LANE)
  await append('7/42/2')
  const own = leases()
  const claimed = await own.claim(10)
  const [renewed] = claimed.filter(({ lane }) => lane === LANE)
  // Their tokens have the time that was an hour ahead.
  await setBackBy(HOUR_MS)
  for (const lease of claimed) lease.token = (Number(lease.token) + HOUR_MS).toFixed(2)
  await beat()
  expect(await claim()).toEqual([])
  await own.renew([renewed])
  await redis.hset(keys.clock, 'look_at_leases', Date.now() - 1)
  await beat()
  expect(await claim()).toEqual(['7/42/2'])
  expect(await own.take(renewed)).toBeDefined()
  expect(await redis.hexists(keys.clock, 'look_at_leases')).toBe(0)
})

it('records that were delivered just before Redis was away are not handed out again', async () => {
  await append(LANE)
  await append('7/42/2')
  const own = leases()
  const [lease] = await own.claim(10)
  expect(await own.take(lease)).toBeDefined()
  // Redis, or every worker, is away for half a minute, or the clock is set forward by as much.
  await setBackBy(-30_000)
  lease.token = (Number(lease.token) - 30_000).toFixed(2)
  await append('7/42/3')
  expect(await claim()).toEqual(['7/42/3'])
  await own.done(lease, { count: 1, status: 200, wanted: 0, atOnce: false })
  expect(await redis.llen(keys.lane(lease.lane))).toBe(0)
  await redis.hincrby(keys.clock, 'renewed_at', -10_000)
  expect(await claim()).toEqual([LANE, '7/42/2'].filter((lane) => lane !== lease.lane))
})

it('a lane that is due does not wait for leases that have ended while Redis was away', async () => {
  const ended = Array.from({ length: 5 }, (_, n) => `7/42/${n}`)
  for (const lane of ended) await append(lane)
  expect(await claim()).toHaveLength(5)
  await setBackBy(-30_000)
  await append('7/42/9')
  expect((await leases().claim(2)).map(({ lane }) => lane)).toEqual(['7/42/9'])
})

it('a lane whose lease ended while Redis was away does not probe an API that is down', async () => {
  await append(LANE)
  const own = leases()
  const [lease] = await own.claim(10)
  expect(await own.take(lease)).toBeDefined()
  await redis.hset(keys.upstream, { state: 'down', probe: 0 })
  await setBackBy(-30_000)
  expect(await claim()).toEqual([])
})

it('does not count a dead worker as alive after the clock of Redis is set back', async () => {
  await redis.zadd(keys.workers, Date.now() + HOUR_MS, 'dead')
  expect(await beat()).toBe(1)
})

it('notes the clock of Redis with each scheduled lane, so that a step back shows without a worker', async () => {
  const before = Date.now()
  await append(LANE)
  const appendedAt = Number(await redis.hget(keys.clock, 'beat'))
  expect(appendedAt).toBeGreaterThanOrEqual(before)
  await redis.hdel(keys.clock, 'beat')
  expect(await claim()).toEqual([LANE])
  expect(Number(await redis.hget(keys.clock, 'beat'))).toBeGreaterThanOrEqual(appendedAt)
  // A lane that is scheduled after the step back does not hide it.
  await redis.hincrby(keys.clock, 'beat', HOUR_MS)
  await append('7/42/2')
  expect(await claim()).toEqual(['7/42/2'])
  expect(Number(await redis.hget(keys.clock, 'beat'))).toBeGreaterThan(Date.now() + HOUR_MS / 2)
})

it('ignores a clock of Redis that is set back by less than a second', async () => {
  await append(LANE, 60_000)
  await setBackBy(500)
  await beat()
  expect(await claim()).toEqual([])
})

it('a worker holds a lease no longer than its time although the clock was set back meanwhile', async () => {
  await append(LANE)
  const own = leases()
  const [lease] = await own.claim(10)
  await setBackBy(HOUR_MS)
  lease.token = (Number(lease.token) + HOUR_MS).toFixed(2)
  await own.take(lease)
  expect(lease.until).toBeLessThan(performance.now() + 16_000)
})
