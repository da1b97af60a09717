import { expect, it } from 'vitest'
import { CustodyCollector, takeAccount } from '../../src/admin/custody.ts'
import { keys, type Store } from '../../src/store/index.ts'
import { store } from '../support/admin.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Store

withRedis((_, connection) => (redis = connection))

/** A collector. `before` runs before each look. */
function collect(before: () => Promise<unknown> = async () => {}) {
  const account = async () => {
    await before()
    return takeAccount(redis)
  }
  const collector = new CustodyCollector(account, { everyMs: 0 })
  return {
    difference: () => collector.difference,
    oldestAt: () => collector.backlog?.oldestAt,
    async moreLooks(count: number) {
      for (let looks = 0; looks < count; looks++) await collector.look()
    },
  }
}

it('the custody collector finds no difference while every fix is accounted for', async () => {
  await store(redis, '7/42/1', { count: 3, filtered: ['zero'] })
  const { difference, moreLooks } = collect()
  await moreLooks(10)
  expect(difference()).toBe(0)
})

it('the custody collector counts lost fixes and fixes stored twice until the difference is gone', async () => {
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

it('a released fix counts as waiting since its release, and a live fix since its reception', async () => {
  const hourAgo = Date.now() - 3_600_000
  const before = Date.now()
  const { moreLooks, oldestAt } = collect()
  await moreLooks(3)
  expect(oldestAt()).toBeUndefined()
  await store(redis, '7/42/1', { count: 3, receivedAt: hourAgo })
  await moreLooks(3)
  const releasedAt = oldestAt()
  expect(releasedAt).toBeGreaterThan(before)
  // The next fixes are a little newer, and wait as long.
  await redis.lpop(keys.lane('7/42/1'))
  await moreLooks(3)
  expect(oldestAt()).toBe(releasedAt)
  const receivedAt = Date.now() + 1000
  await store(redis, '7/42/2', { receivedAt })
  await redis.del(keys.lane('7/42/1'))
  await moreLooks(3)
  expect(oldestAt()).toBe(receivedAt)
})

it('a released fix does not make the earlier fixes of its lane look older', async () => {
  const { moreLooks, oldestAt } = collect()
  await moreLooks(2)
  await store(redis, '7/42/1', { receivedAt: Date.now() + 1000 })
  await moreLooks(2)
  const waitsSince = Number(oldestAt())
  await redis.del(keys.lane('7/42/1'))
  await store(redis, '7/42/1', { receivedAt: Date.now() - 3_600_000 })
  await moreLooks(3)
  expect(oldestAt()).toBeGreaterThan(waitsSince - 1000)
})

it('the custody collector ignores a difference while fixes are moved', async () => {
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

it('the custody collector continues after Redis was down', async () => {
  await store(redis, '7/42/1', { count: 3 })
  await redis.lpop(keys.lane('7/42/1'))
  let away = true
  const { difference, moreLooks } = collect(async () => {
    if (away) throw new Error('no Redis')
  })
  await expect(moreLooks(1)).rejects.toThrow('no Redis')
  expect(difference()).toBe(0)
  away = false
  await moreLooks(4)
  expect(difference()).toBe(1)
})
