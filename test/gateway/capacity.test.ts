import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { Capacity } from '../../src/gateway/acceptance.ts'
import { observations } from '../../src/observe/observations.ts'
import { keys, type Part, type Store } from '../../src/store/index.ts'
import { memoryProblems } from '../../src/store/memory.ts'
import { beating } from '../support/beat.ts'
import { inEnglish } from '../support/texts.ts'
import { withRedis } from '../support/with-redis.ts'

const FULL = 'Redis has more than 85 % of its memory in use: nothing is acknowledged'
const soon = { timeout: 30_000 }

let redis: Store

withRedis((_, connection) => {
  redis = connection
})

function watch(maxParked: number): Capacity {
  const shares = { markBytes: 0, heldFixes: 0, misunderstoodBytes: 0 }
  return beating(new Capacity(redis, { stopAt: 0.85, maxParked, shares }), (each) => each.look())
}

const observed = () => inEnglish(observations.current()).map(({ code, evidence }) => [code, ...evidence])
const toLane = (lane: string): Part[] => [{ lane, device: '1', records: Buffer.alloc(0) }]
const shortages = (capacity: Capacity) => ['7/1/1', '7/1/2', '7/1/3'].map((lane) => capacity.shortageFor(toLane(lane)))

/** Lane 7/1/1 is parked whole with 3 positions; of 7/1/2 two were refused and 5 wait; of 7/1/3 four wait. */
async function park(): Promise<void> {
  for (const [key, count] of [
    [keys.lane('7/1/1'), 3],
    [keys.refused('7/1/2'), 2],
    [keys.lane('7/1/2'), 5],
    [keys.lane('7/1/3'), 4],
  ] as const)
    await redis.rpush(key, ...Array<string>(count).fill('x'))
  await redis.hset(keys.parked, '7/1/1', '{}')
  await redis.zadd(keys.refusedLanes, 1, '7/1/2')
}

it('stops lanes with parked positions above parked.max_positions', async () => {
  await park()
  const capacity = watch(4)
  await expect.poll(() => shortages(capacity), soon).toEqual(['parked', 'parked', undefined])
  expect(observed()).toContainEqual(['parked_full', '5 positions'])
  await redis.del(keys.refused('7/1/2'), keys.refusedLanes)
  await expect.poll(() => shortages(capacity), soon).toEqual([undefined, undefined, undefined])
})

it('does not count positions that wait behind refused ones as parked', async () => {
  await park()
  const [within, above] = [watch(5), watch(4)]
  await expect.poll(() => shortages(above), soon).toEqual(['parked', 'parked', undefined])
  expect(shortages(within)).toEqual([undefined, undefined, undefined])
})

describe('the memory of Redis', () => {
  afterEach(() => redis.config('SET', 'maxmemory', '256mb'))

  it('stops all storing while too much memory of Redis is used', async () => {
    const capacity = watch(10)
    await redis.config('SET', 'maxmemory', '1mb')
    await expect.poll(() => capacity.problems, soon).toEqual([FULL])
    expect([capacity.shortageFor(toLane('7/1/1')), capacity.shortageFor([])]).toEqual(['memory', undefined])
    expect(memoryProblems(await redis.info('memory'), 0.85)).toEqual([FULL])
    await redis.config('SET', 'maxmemory', '256mb')
    await expect.poll(() => capacity.problems, soon).toEqual([])
    expect(capacity.shortageFor(toLane('7/1/1'))).toBe(undefined)
  })

  it.each([
    ['used_memory:85\r\nmaxmemory:100\r\n', []],
    ['used_memory:86\r\nmaxmemory:100\r\n', [FULL]],
    ['used_memory:86\r\nmaxmemory:0\r\n', []],
    ['used_memory:86\r\nmem_not_counted_for_evict:2\r\nmaxmemory:100\r\n', []],
    ['used_memory:86\r\nmaxmemory:0\r\ntotal_system_memory:100\r\n', [FULL]],
  ])('derives from the memory info %j the problems %j', (info, problems) =>
    expect(memoryProblems(info, 0.85)).toEqual(problems),
  )
})

it.each([64_000_001, 64_000_011])(
  'gives held fixes a whole number as their share of %i bytes of Redis memory',
  async (bytes) => {
    await redis.config('SET', 'maxmemory', bytes)
    const shares = { markBytes: 0, heldFixes: 0, misunderstoodBytes: 0 }
    beating(new Capacity(redis, { stopAt: 0.85, maxParked: 1, shares }), (each) => each.look())
    onTestFinished(async () => void (await redis.config('SET', 'maxmemory', 0)))
    await expect.poll(() => shares.heldFixes, soon).toBeGreaterThan(0)
    expect(shares.heldFixes % 1).toBe(0)
  },
)
