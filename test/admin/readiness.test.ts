import { beforeEach, expect, it } from 'vitest'
import { redisReadiness } from '../../src/process/roles/readiness.ts'
import { type Store } from '../../src/store/index.ts'
import { durabilityProblems } from '../../src/redis/durability.ts'
import { connected } from '../support/admin.ts'
import { type TestRedis } from '../support/redis.ts'
import { inEnglish } from '../support/texts.ts'
import { withRedis } from '../support/with-redis.ts'

const LOST = 'what is acknowledged could be lost'
const UNVERIFIED =
  'Redis does not let its settings be read (CONFIG GET), so it cannot be verified that it keeps what is acknowledged: ' +
  'if it has appendonly yes, appendfsync always, no-appendfsync-on-rewrite no, maxmemory-policy noeviction, ' +
  'set redis.durability: relaxed'
const SAFE = {
  appendonly: 'yes',
  appendfsync: 'always',
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
}
const STRICT = { url: 'redis://somewhere', sentinels: [], cluster: [], durability: 'strict' } as const

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})
beforeEach(async () => {
  for (const [name, value] of Object.entries(SAFE)) await redis.config('SET', name, value)
})

it('the durability check finds no problem in the private Redis', async () => {
  expect(inEnglish(await durabilityProblems(redis.shards))).toEqual([])
})

it.each([
  ['appendonly', 'no', 'yes'],
  ['appendfsync', 'everysec', 'always'],
  ['no-appendfsync-on-rewrite', 'yes', 'no'],
  ['maxmemory-policy', 'allkeys-lru', 'noeviction'],
])('the durability check reports %s %s', async (name, value, needed) => {
  await redis.config('SET', name, value)
  expect(inEnglish(await durabilityProblems(redis.shards))).toEqual([
    `Redis has ${name} ${value}, needed is ${name} ${needed}: ${LOST}`,
  ])
})

it('the durability check names every problem', async () => {
  await redis.config('SET', 'appendfsync', 'no', 'maxmemory-policy', 'volatile-ttl')
  expect(inEnglish(await durabilityProblems(redis.shards))).toHaveLength(2)
})

it('the durability check says that it cannot check if CONFIG is forbidden', async () => {
  await redis.acl('SETUSER', 'managed', 'on', '>pw', '~*', '&*', '+@all', '-config')
  const managed = await connected(`${server.url}?username=managed&password=pw`)
  expect(inEnglish(await durabilityProblems(managed.shards))).toEqual([UNVERIFIED])
  managed.disconnect()
})

it('a role is ready if Redis is durable', async () => {
  expect(await redisReadiness(redis, STRICT)()).toEqual({ ok: true, problems: [] })
})

it('a role is not ready if Redis is not durable', async () => {
  await redis.config('SET', 'appendfsync', 'everysec')
  const problem = `Redis has appendfsync everysec, needed is appendfsync always: ${LOST}`
  expect(await redisReadiness(redis, STRICT)()).toEqual({ ok: false, problems: [problem] })
})

it.each([
  ['the private Redis', { ...STRICT, url: null }],
  ['durability: relaxed', { ...STRICT, durability: 'relaxed' }],
] as const)('readiness ignores the durability with %s', async (_, config) => {
  await redis.config('SET', 'appendfsync', 'everysec')
  expect(await redisReadiness(redis, config)()).toEqual({ ok: true, problems: [] })
})
