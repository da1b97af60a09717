import { afterAll, beforeAll, beforeEach } from 'vitest'
import { connect, type Store } from '../../src/store/index.ts'
import { startTestRedis, type TestRedis } from './redis.ts'

/** Gives the tests of a file a real Redis, empty before each of them, and a connection to it, which stands for so many shards. */
export function withRedis(given: (server: TestRedis, redis: Store) => void, shards = 1): void {
  let server: TestRedis
  let redis: Store

  beforeAll(async () => {
    server = await startTestRedis()
    redis = connect({ url: server.url, shards }, 'test')
    await Promise.all(redis.shards.map((shard) => new Promise((resolve) => shard.once('ready', resolve))))
    given(server, redis)
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })
  beforeEach(async () => void (await redis.flushall()))
}
