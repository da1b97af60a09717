import { afterAll, beforeAll, beforeEach } from 'vitest'
import { connect, type Redis } from '../../src/lanes/index.ts'
import { startTestRedis, type TestRedis } from './redis.ts'

/** Gives the tests of a file a real Redis, empty before each of them, and a connection to it. */
export function withRedis(given: (server: TestRedis, redis: Redis) => void): void {
  let server: TestRedis
  let redis: Redis

  beforeAll(async () => {
    server = await startTestRedis()
    redis = connect(server.url, 'test')
    await new Promise((resolve) => redis.once('ready', resolve))
    given(server, redis)
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })
  beforeEach(async () => void (await redis.flushall()))
}
