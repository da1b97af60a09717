import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { connect, FORMAT, keys, type Store, readFormat, readProcesses, signOn } from '../../src/store/index.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Store
let server: TestRedis
withRedis((...given) => ([server, redis] = given))

/** A process of this version; resolves once it has given its first sign. */
async function processOfThisVersion() {
  const signs = signOn(redis, { role: 'worker', installation: '/here', slot: 0 })
  onTestFinished(() => signs.stop())
  await expect.poll(roles).toContain('worker')
}

/** Stores the sign of a process of an older version; without `format` it knows no format. */
async function signOfOlder(format?: number) {
  const sign = { role: 'gateway', pid: 1, host: 'other', sinceAt: 0, observations: [], format }
  await redis.set(keys.process('older'), JSON.stringify(sign), 'PX', 600_000)
  await redis.sadd(keys.processIds, 'older')
}

const roles = async () => (await readProcesses(redis)).processes.map(({ role }) => role)
const format = () => readFormat(redis)

it('the data format is missing in older data, and rises once every process knows a higher one', async () => {
  expect(await format()).toBe(0)
  await processOfThisVersion()
  await expect.poll(format).toBe(FORMAT)
})

it.each([undefined, FORMAT - 1])(
  'the data format does not rise while a process lives that knows %s, and rises once it is gone',
  async (known) => {
    await signOfOlder(known)
    await processOfThisVersion()
    // Its second sign would raise it, too.
    const first = await redis.pexpiretime(keys.process('older'))
    await expect.poll(() => secondSign(first)).toBe(true)
    expect(await format()).toBe(0)
    await redis.del(keys.process('older'))
    await expect.poll(format).toBe(FORMAT)
  },
)

it('a store that finds newer data is unusable, and no other store of the process', async () => {
  await redis.set(keys.format, FORMAT + 1)
  // It has too few shards, too, which is found out at the same time.
  await redis.set(keys.shards, 5)
  const late = connect({ url: server.url, shards: 3 }, 'test')
  onTestFinished(() => late.disconnect())
  expect(await late.unusable).toContain('newer waybridge')
  expect(await Promise.race([redis.unusable, setImmediate('usable')])).toBe('usable')
})

it('the data format never falls, and a process that does not know it is not noted', async () => {
  await redis.set(keys.format, FORMAT + 1)
  const signs = signOn(redis, { role: 'worker', installation: '/here', slot: 0 })
  await signs.stop()
  expect(await format()).toBe(FORMAT + 1)
  expect(await roles()).toEqual([])
})

/** Whether a process has given a sign later than 900 ms after that of the older one. */
async function secondSign(first: number): Promise<boolean> {
  const ids = await redis.smembers(keys.processIds)
  const times = await Promise.all(ids.map((id) => redis.pexpiretime(keys.process(id))))
  return Math.max(...times) > first + 900
}
