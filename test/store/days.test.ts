import { expect, it } from 'vitest'
import { DayBook } from '../../src/gateway/day-book.ts'
import { localDay } from '../../src/domain/times.ts'
import { addDayNotes, forgetDays, readDays, type Store } from '../../src/store/index.ts'
import { withRedis } from '../support/with-redis.ts'

/** A device of each of the three shards. */
const VANS = ['1', '3', '7']
const DAY = localDay(Date.now(), 'UTC').from

let redis: Store
withRedis((_, store) => void (redis = store), 3)

/** The number of the shard of each key that has a day. */
const shardsWithDays = async () => (await redis.keys('*:day:*')).map((key) => Number(/^\{wb(\d)\}/.exec(key)?.[1]))
const fixesOf = async (device: string) => (await readDays(redis, device, [DAY]))[0].fixes
const noted = (device: string, fixes: number) => ({ device, day: DAY, notes: [['fix', DAY]] as const, fixes, late: 1 })

/** Day notes of the vans. */
function book(): DayBook {
  return new DayBook(redis, {
    zone: 'UTC',
    capacity: { isScarce: false },
    heard: { presentSince: () => [].values() },
  })
}

/** Notes that a fix of each van came. */
function note(days: DayBook): void {
  for (const van of VANS) {
    const open = days.of(van)
    open.fixes++
    open.add('fix', Date.now())
  }
}

it('day notes are in the shard of their device, and those of gateways in the home shard', async () => {
  expect(VANS.map((van) => redis.shards.indexOf(redis.shardOf(van)))).toEqual([0, 1, 2])
  const days = book()
  note(days)
  await days.close()
  expect((await shardsWithDays()).toSorted((one, other) => one - other)).toEqual([0, 0, 1, 2])
  for (const van of VANS) expect(await redis.shardOf(van).exists(redis.shardOf(van).keyNames.day(DAY, van))).toBe(1)
  expect(await Promise.all(VANS.map(fixesOf))).toEqual([1, 1, 1])
  expect(await redis.exists(redis.keyNames.day(DAY, ''))).toBe(1)
})

it('day notes are written once, although one of the shards accepts nothing for a while', async () => {
  const days = book()
  const { keyNames } = redis.shards[1]
  await redis.lpush(keyNames.day(DAY, '3'), 'no string')
  note(days)
  await days.close()
  note(days)
  await days.close()
  await redis.del(keyNames.day(DAY, '3'))
  await days.close()
  expect(await Promise.all(VANS.map(fixesOf))).toEqual([2, 2, 2])
})

it('day notes from when the data had one shard are still read, and added up', async () => {
  await addDayNotes(redis, [noted('3', 5)])
  await addDayNotes(redis.shardOf('3'), [{ ...noted('3', 2), notes: [['connected', DAY + 60_000]] }])
  const [day] = await readDays(redis, '3', [DAY])
  expect(day).toMatchObject({ fixes: 7, late: 2 })
  expect([day.has('fix', 0), day.has('connected', 1), day.has('connected', 0)]).toEqual([true, true, false])
  await forgetDays(redis, ['3'], [DAY])
  expect(await shardsWithDays()).toEqual([])
})
