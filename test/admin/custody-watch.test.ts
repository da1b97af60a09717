import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { CustodyWatch, takeAccount } from '../../src/admin/custody.ts'
import { keys, type Redis } from '../../src/lanes/index.ts'
import { connected, store } from '../support/admin.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'

let server: TestRedis
let redis: Redis

beforeAll(async () => {
  server = await startTestRedis()
  redis = await connected(server.url)
})
afterAll(async () => {
  redis.disconnect()
  await server.stop()
})
beforeEach(async () => void (await redis.flushall()))

/** What the watch says, and how often it has looked. `before` runs before each look. */
function watch(before: () => Promise<unknown> = async () => {}) {
  const said: string[] = []
  const logger = pino(
    {},
    {
      write(line) {
        const { level, msg } = JSON.parse(line) as { level: number; msg: string }
        said.push(`${level} ${msg}`)
      },
    },
  )
  let looks = 0
  const account = async () => {
    await before()
    looks++
    return takeAccount(redis)
  }
  const watching = new CustodyWatch(account, logger, { everyMs: 5 })
  onTestFinished(() => watching.close())
  return {
    said,
    async moreLooks(count: number) {
      const from = looks
      await expect.poll(() => looks, { timeout: 10_000, interval: 5 }).toBeGreaterThan(from + count)
    },
  }
}

const LOST = '50 custody: 1 received fixes are missing'

it('the custody watch logs nothing while every fix is accounted for', async () => {
  await store(redis, '7/42/1', { count: 3, filtered: ['zero'] })
  const { said, moreLooks } = watch()
  await moreLooks(10)
  expect(said).toEqual([])
})

it('the custody watch logs a lost fix once, again when more are lost, and when all are found', async () => {
  await store(redis, '7/42/1', { count: 3 })
  const lost = await redis.lpopBuffer(keys.lane('7/42/1'))
  const { said, moreLooks } = watch()
  await moreLooks(10)
  expect(said).toEqual([LOST])
  await redis.lpush(keys.lane('7/42/1'), lost ?? '', lost ?? '', lost ?? '')
  await moreLooks(10)
  expect(said).toEqual([LOST, '50 custody: 2 more fixes are accounted for than were received'])
  await redis.ltrim(keys.lane('7/42/1'), 2, -1)
  await moreLooks(10)
  expect(said.slice(2)).toEqual(['30 custody: every fix is accounted for again'])
})

it('the custody watch ignores a difference while fixes move', async () => {
  await store(redis, '7/42/1', { count: 3 })
  await redis.lpop(keys.lane('7/42/1'))
  let moving = true
  const { said, moreLooks } = watch(async () => {
    if (moving) await store(redis, '7/42/2')
  })
  await moreLooks(10)
  expect(said).toEqual([])
  moving = false
  await moreLooks(4)
  expect(said).toEqual([LOST])
})

it('the custody watch continues after Redis was away', async () => {
  await store(redis, '7/42/1', { count: 3 })
  await redis.lpop(keys.lane('7/42/1'))
  let away = true
  const { said, moreLooks } = watch(async () => {
    if (away) throw new Error('no Redis')
  })
  await new Promise(setImmediate)
  expect(said).toEqual([])
  away = false
  await moreLooks(4)
  expect(said).toEqual([LOST])
})
