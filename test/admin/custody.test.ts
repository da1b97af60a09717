import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { CustodyCollector, takeAccount } from '../../src/admin/custody.ts'
import { keys, type Store } from '../../src/store/index.ts'
import { connected, store } from '../support/admin.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'

let server: TestRedis
let redis: Store

beforeAll(async () => {
  server = await startTestRedis()
  redis = await connected(server.url)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})
beforeEach(async () => void (await redis.flushall()))

/** A collector, and how often it has looked. `before` runs before each look. */
function collect(before: () => Promise<unknown> = async () => {}) {
  let looks = 0
  const account = async () => {
    await before()
    looks++
    return takeAccount(redis)
  }
  const collector = new CustodyCollector(account, { everyMs: 5 })
  onTestFinished(() => collector.close())
  return {
    difference: () => collector.difference,
    oldestAt: () => collector.backlog?.oldestAt,
    async moreLooks(count: number) {
      const from = looks
      await expect.poll(() => looks, { timeout: 30_000, interval: 5 }).toBeGreaterThan(from + count)
    },
  }
}

it('the custody collector finds no difference while every fix is accounted for', async () => {
  await store(redis, '7/42/1', { count: 3, filtered: ['zero'] })
  const { difference, moreLooks } = collect()
  await moreLooks(10)
  expect(difference()).toBe(0)
})

it('the custody collector counts what is lost, and what is there too often, until all is found', async () => {
  await store(redis, '7/42/1', { count: 3 })
  const lost = await redis.lpopBuffer(keys.lane('7/42/1'))
  const { difference, moreLooks } = collect()
  await moreLooks(10)
  expect(difference()).toBe(1)
  await redis.lpush(keys.lane('7/42/1'), lost ?? '', lost ?? '', lost ?? '')
  await moreLooks(10)
  expect(difference()).toBe(-2)
  await redis.ltrim(keys.lane('7/42/1'), 2, -1)
  await moreLooks(10)
  expect(difference()).toBe(0)
})

it('what was released a moment ago is no backlog, what still waits at the next look is one', async () => {
  const receivedAt = Date.now() - 120_000
  let looks = 0
  const steps: (number | undefined)[] = []
  const { moreLooks, oldestAt } = collect(async () => {
    steps.push(oldestAt())
    if (++looks === 3) await store(redis, '7/42/1', { receivedAt })
  })
  await moreLooks(6)
  expect(steps.slice(0, 6)).toEqual([undefined, undefined, undefined, undefined, receivedAt, receivedAt])
})

it('the custody collector ignores a difference while fixes move', async () => {
  await store(redis, '7/42/1', { count: 3 })
  await redis.lpop(keys.lane('7/42/1'))
  let moving = true
  const { difference, moreLooks } = collect(async () => {
    if (moving) await store(redis, '7/42/2')
  })
  await moreLooks(10)
  expect(difference()).toBe(0)
  moving = false
  await moreLooks(4)
  expect(difference()).toBe(1)
})

it('the custody collector continues after Redis was away', async () => {
  await store(redis, '7/42/1', { count: 3 })
  await redis.lpop(keys.lane('7/42/1'))
  let away = true
  const { difference, moreLooks } = collect(async () => {
    if (away) throw new Error('no Redis')
  })
  await new Promise(setImmediate)
  expect(difference()).toBe(0)
  away = false
  await moreLooks(4)
  expect(difference()).toBe(1)
})
