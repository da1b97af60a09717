import { expect, it } from 'vitest'
import { localDay } from '../../src/domain/times.ts'
import { DayFigures } from '../../src/push/day-figures.ts'
import { delayOf, type LaneDay, packDevice, packRecords, readLaneDays, type Store } from '../../src/store/index.ts'
import { withRedis } from '../support/with-redis.ts'

const LANE = '7/42/1001'
const ZONE = 'Europe/Berlin'
const DAY = localDay(Date.now(), ZONE).from
const MIN = 60_000

let redis: Store
withRedis((_, store) => void (redis = store), 3)

/** Returns records of fixes at these times, ms UTC, received this long afterwards. */
function records(times: readonly number[], { afterMs = 0, isRedelivered = false } = {}): Buffer {
  const all = times.map((time) => {
    const position = { timestamp: Math.floor(time / 1000), latitude: 52.5, longitude: 13.4, accuracy: 5 }
    const record = packRecords([position], packDevice('1'), time + afterMs)
    if (isRedelivered) record[1] |= 16
    return record
  })
  return Buffer.concat(all)
}

async function figuresOf(lane = LANE, day = DAY): Promise<LaneDay | undefined> {
  return (await readLaneDays(redis, day)).get(lane)
}

it('a worker counts deliveries by lane and local day of the fix, with late ones and delays', async () => {
  const days = new DayFigures(redis, ZONE)
  days.delivered(LANE, records([DAY - 1000]), DAY)
  days.delivered(LANE, records([DAY, DAY + MIN], { afterMs: 1000 }), DAY + MIN + 3000)
  days.delivered(LANE, records([DAY + 2 * MIN], { afterMs: 6 * MIN }), DAY + 8 * MIN + 2000)
  days.delivered('7/42/1002', records([DAY + 5 * MIN]), DAY + 5 * MIN)
  await days.close()
  const seconds = DAY / 1000
  expect(await figuresOf()).toMatchObject({ fixes: 3, late: 1, redelivered: 0, first: seconds, last: seconds + 120 })
  expect(await figuresOf(LANE, localDay(DAY - 1, ZONE).from)).toMatchObject({ fixes: 1, first: seconds - 1 })
  expect(await figuresOf('7/42/1002')).toMatchObject({ fixes: 1 })
  const p50 = delayOf((await figuresOf())?.delays ?? new Map(), 0.5) ?? NaN
  expect(Math.abs(p50 / 2000 - 1)).toBeLessThan(0.1)
})

it('a worker adds to the counts of other workers and of earlier writes', async () => {
  const [one, other] = [new DayFigures(redis, ZONE), new DayFigures(redis, ZONE)]
  one.delivered(LANE, records([DAY + MIN]), DAY + 2 * MIN)
  other.delivered(LANE, records([DAY, DAY + 3 * MIN]), DAY + 3 * MIN)
  await Promise.all([one.close(), other.close()])
  one.delivered(LANE, records([DAY + 4 * MIN], { isRedelivered: true }), DAY + 900 * MIN)
  await one.close()
  const figures = await figuresOf()
  expect(figures).toMatchObject({ fixes: 4, late: 0, redelivered: 1, first: DAY / 1000, last: DAY / 1000 + 240 })
  // A repeated delivery has no delay.
  expect(figures?.delays.values().reduce((sum, count) => sum + count, 0)).toBe(3)
})

it('a worker keeps counts that Redis does not accept, and the days for 33 days', async () => {
  const days = new DayFigures(redis, ZONE)
  days.delivered(LANE, records([DAY]), DAY)
  await redis.config('SET', 'maxmemory', '1')
  await days.close()
  expect(await figuresOf()).toBeUndefined()
  await redis.config('SET', 'maxmemory', '0')
  days.delivered(LANE, records([DAY + MIN]), DAY + MIN)
  await days.close()
  expect(await figuresOf()).toMatchObject({ fixes: 2 })
  const shard = redis.shardOf(LANE)
  expect(await shard.ttl(shard.keyNames.laneDays(DAY))).toBeGreaterThan(32 * 86_400)
})

it('a worker counts a delivery once while another shard takes no counts', async () => {
  const shard = redis.shardOf(LANE)
  const other = Array.from({ length: 20 }, (_, n) => `7/42/${n}`).find((lane) => redis.shardOf(lane) !== shard) ?? ''
  const days = new DayFigures(redis, ZONE)
  for (const lane of [LANE, other]) days.delivered(lane, records([DAY]), DAY)
  await shard.set(shard.keyNames.laneDays(DAY), 'damaged')
  await days.close()
  await shard.del(shard.keyNames.laneDays(DAY))
  await days.close()
  expect([await figuresOf(), await figuresOf(other)]).toMatchObject([{ fixes: 1 }, { fixes: 1 }])
})

it('a worker counts nothing for days that are no longer shown', async () => {
  const days = new DayFigures(redis, ZONE)
  days.delivered(LANE, records([DAY - 40 * 86_400_000]), DAY)
  await days.close()
  expect(await redis.keys('*lane-days*')).toEqual([])
})
