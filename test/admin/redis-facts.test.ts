import { afterEach, expect, it } from 'vitest'
import { RedisCollector } from '../../src/admin/redis-facts.ts'
import type { Store } from '../../src/store/index.ts'
import { unlimitedMemory } from '../../src/store/memory.ts'
import { inEnglish } from '../support/texts.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Store
withRedis((_, connection) => (redis = connection))
afterEach(() => redis.config('SET', 'maxmemory', '256mb'))

async function unlimitedNow() {
  const collector = new RedisCollector()
  await collector.look({ redis, isVerified: false, redisDir: null }, Date.now())
  return collector.facts.unlimited
}

it('without maxmemory the stop limit of Redis is a share of the memory of its machine', async () => {
  const machine = Number(/^total_system_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])
  await redis.config('SET', 'maxmemory', 0)
  expect(inEnglish(await unlimitedNow())).toEqual([
    `redis.stop_at counts as a share of the ${Math.round((machine / 2 ** 30) * 10) / 10} GiB of its machine`,
  ])
  await redis.config('SET', 'maxmemory', '64mb')
  expect(await unlimitedNow()).toEqual([])
})

it('a server that does not report its maxmemory does not count as unlimited', async () => {
  const infos = ['used_memory:1\r\n', 'maxmemory:100\r\ntotal_system_memory:1000\r\n']
  expect(unlimitedMemory(infos)).toEqual([])
})
