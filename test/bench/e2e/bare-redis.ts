import { openRedis } from '../../../src/store/index.ts'
import { startTestRedis } from '../../support/redis.ts'

/**
 * What bare Redis takes of the same bytes: records of 33 bytes appended to lists, `recordsPerCall` at a time as the
 * gateway's groups were, two calls away at once, each fsynced.
 */
export async function bareRedis(recordsPerCall: number, seconds: number): Promise<number> {
  const server = await startTestRedis({ maxMemory: 2 ** 32 })
  const redis = openRedis(server.url, {})
  const records = Array.from({ length: Math.max(1, Math.round(recordsPerCall)) }, (_, i) => Buffer.alloc(33, i))
  const until = performance.now() + seconds * 1000
  let stored = 0
  const one = async (list: number) => {
    for (let call = 0; performance.now() < until; call++) {
      await redis.rpush(`${list}:${call % 500}`, ...records)
      stored += records.length
    }
  }
  await Promise.all([one(1), one(2)])
  redis.disconnect()
  await server.stop()
  return Math.round(stored / seconds)
}
