import { afterEach, expect, it } from 'vitest'
import { connect, custodyCounters, keys, Appender, packDevice, packRecords, type Store } from '../../src/store/index.ts'
import { shardProblem } from '../../src/store/shard-count.ts'
import { UNFILTERED } from '../support/appending.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
const open: Store[] = []

withRedis((one) => {
  server = one
})
afterEach(() => open.splice(0).forEach((redis) => redis.disconnect()))

async function withShards(shards: number): Promise<Store> {
  const redis = connect({ url: server.url, shards }, 'test')
  open.push(redis)
  await expect.poll(() => redis.shards.every(({ status }) => status === 'ready'), { timeout: 30_000 }).toBe(true)
  return redis
}

async function store(redis: Store, device = '1'): Promise<void> {
  const appender = new Appender(redis, UNFILTERED)
  const position = { timestamp: 1, latitude: 52.5, longitude: 13.4, accuracy: 5 }
  const part = { lane: '7/42/1', device, records: packRecords([position], packDevice(device), Date.now()) }
  await appender.append({ parts: [part], received: 1, filtered: [] })
  await appender.close()
}

it('empty data take any number of shards, and keep it', async () => {
  const three = await withShards(3)
  expect(await shardProblem(three)).toBeUndefined()
  expect(await shardProblem(await withShards(3))).toBeUndefined()
  expect(await three.get(keys.shards)).toBe('3')
  expect(await shardProblem(await withShards(1))).toBe(
    'The data in Redis are in 3 shards, and redis.shards is 1. They cannot become fewer: set redis.shards: 3.',
  )
})

it('data in one shard store no number of shards', async () => {
  const one = await withShards(1)
  expect(await shardProblem(one)).toBeUndefined()
  await store(one)
  expect(await shardProblem(one)).toBeUndefined()
  expect(await one.get(keys.shards)).toBeNull()
})

it('older data in one shard refuse more shards while something waits, and accept them afterwards', async () => {
  const one = await withShards(1)
  await store(one)
  expect(await shardProblem(one)).toBeUndefined()
  const three = await withShards(3)
  expect(await shardProblem(three)).toBe(
    'The data in Redis are in 1 shard, and redis.shards is 3. To have 3: start with redis.shards: 1, wait until the status says ' +
      'that nothing waits, is held or parked, stop every process, then start with redis.shards: 3.',
  )
  await one.del('{wb0}:schedule', '{wb0}:lane:7/42/1')
  expect(await shardProblem(three)).toBeUndefined()
  expect((await custodyCounters(three)).get('received')).toBe(1)
  expect(await three.get(keys.shards)).toBe('3')
  expect(await shardProblem(one)).toContain('cannot become fewer')
})
