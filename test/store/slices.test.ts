import { expect, it } from 'vitest'
import type { Redis } from '../../src/store/index.ts'
import { fieldsOf, membersOf } from '../../src/store/slices.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Redis
withRedis((_, connection) => {
  redis = connection
})

const NAMES = Array.from({ length: 5000 }, (_, n) => `7/42/${n}`)

it('reads a large hash and a large sorted set whole, in slices of some hundred entries', async () => {
  await redis.hset('hash', Object.fromEntries(NAMES.map((name, n) => [name, n])))
  await redis.zadd('zset', ...NAMES.flatMap((name, n) => [n, name]))
  await redis.config('RESETSTAT')
  expect(await fieldsOf(redis, 'hash')).toEqual(new Map(NAMES.map((name, n) => [name, `${n}`])))
  expect((await membersOf(redis, 'zset')).toSorted()).toEqual(NAMES.toSorted())
  for (const command of ['hscan', 'zscan'])
    expect(
      Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await redis.info('commandstats'))?.[1]),
    ).toBeGreaterThan(15)
})
