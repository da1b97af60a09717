import { describe, expect, it } from 'vitest'
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

/** One worker lives for a beat. */
async function beat(): Promise<number> {
  const counts: number[] = []
  const worker = joinWorkers(redis, (count) => counts.push(count))
  await expect.poll(() => redis.zcard(keys.workers), soon).toBeGreaterThan(0)
  await worker.stop()
  return counts.at(-1) ?? 1
}

/** Leaves what a Redis holds whose clock was ahead by so much until now. */
async function setBackBy(ms: number) {
  await beat()
  await redis.hincrby(keys.clock, 'beat', ms)
  for (const lane of await redis.zrange(keys.schedule, '0', '-1')) await redis.zincrby(keys.schedule, ms, lane)
  const probe = await redis.hget(keys.upstream, 'probe')
  if (probe) await redis.hset(keys.upstream, 'probe', Number(probe) + ms)
}

describe('the clock of Redis is set back by an hour', () => {
  it('and lanes that wait for their time are due at once, not in an hour', async () => {
    await append(LANE)
    await append('7/42/2', 60_000)
    await setBackBy(HOUR_MS)
    expect(await claim()).toEqual([])
    await beat()
    expect(new Set(await claim())).toEqual(new Set([LANE, '7/42/2']))
  })

  it('and the next probe of an API that is down is due at once', async () => {
    await append(LANE)
    await redis.hset(keys.upstream, { state: 'down', probe: Date.now() + 1000 })
    await setBackBy(HOUR_MS)
    expect(await claim()).toEqual([])
    await beat()
    expect(await claim()).toEqual([LANE])
  })

  it('and a lease that its worker renews holds, while one that nobody renews ends after some seconds', async () => {
    await append(LANE)
    await append('7/42/2')
    const own = leases()
    const claimed = await own.claim(10)
    const [renewed] = claimed.filter(({ lane }) => lane === LANE)
    // Their tokens are of the time that was an hour ahead.
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

  it('and a worker that died before is no longer counted as living', async () => {
    await redis.zadd(keys.workers, Date.now() + HOUR_MS, 'dead')
    expect(await beat()).toBe(1)
  })

  it('and that is noticed though no worker has lived while it was ahead: what schedules a lane notes the clock', async () => {
    const before = Date.now()
    await append(LANE)
    const appendedAt = Number(await redis.hget(keys.clock, 'beat'))
    expect(appendedAt).toBeGreaterThanOrEqual(before)
    await redis.hdel(keys.clock, 'beat')
    expect(await claim()).toEqual([LANE])
    expect(Number(await redis.hget(keys.clock, 'beat'))).toBeGreaterThanOrEqual(appendedAt)
    // What is scheduled after the clock was set back does not hide that.
    await redis.hincrby(keys.clock, 'beat', HOUR_MS)
    await append('7/42/2')
    expect(await claim()).toEqual(['7/42/2'])
    expect(Number(await redis.hget(keys.clock, 'beat'))).toBeGreaterThan(Date.now() + HOUR_MS / 2)
  })

  it('changes nothing if it is less than a second', async () => {
    await append(LANE, 60_000)
    await setBackBy(500)
    await beat()
    expect(await claim()).toEqual([])
  })
})

it('a worker pushes no longer than its lease by a clock that was set back meanwhile', async () => {
  await append(LANE)
  const own = leases()
  const [lease] = await own.claim(10)
  await setBackBy(HOUR_MS)
  lease.token = (Number(lease.token) + HOUR_MS).toFixed(2)
  await own.take(lease)
  expect(lease.until).toBeLessThan(performance.now() + 16_000)
})
