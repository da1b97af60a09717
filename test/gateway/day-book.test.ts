import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { DayBook } from '../../src/gateway/day-book.ts'
import { keys, NOTED, readAir, readDays, type Store } from '../../src/store/index.ts'
import { at, gateway, type IngestSetup, van } from '../support/ingest.ts'
import { withRedis } from '../support/with-redis.ts'

const MIN = 60_000
/** A zone where it is about noon, and its day. */
const AHEAD_H = 12 - new Date().getUTCHours()
const ZONE = `${AHEAD_H < 0 ? '-' : '+'}${String(Math.abs(AHEAD_H)).padStart(2, '0')}:00`
const DAY = Math.floor(Date.now() / (60 * MIN)) * 60 * MIN - 720 * MIN

let redis: Store
withRedis((_, connection) => void (redis = connection))

let days: DayBook | undefined
afterEach(() => days?.close())

/** A gateway that notes days, and a device that is connected since a time. */
async function noting(setup: IngestSetup = {}, connectedAt?: number) {
  const present = connectedAt === undefined ? [] : [{ device: van.id, from: connectedAt }]
  const capacity = { isScarce: false }
  const book = (days = new DayBook(redis, { zone: ZONE, capacity, heard: { presentSince: () => present.values() } }))
  return { capacity, book, ...(await gateway({ ...setup, days: book })) }
}

/** Returns the noted minutes of a kind, as minutes before `now`. */
async function minutesOf(kind: (typeof NOTED)[number], now: number, device = van.id): Promise<number[]> {
  const [day] = await readDays(redis, device, [DAY])
  return Array.from({ length: 1440 }, (_, minute) => minute)
    .filter((minute) => day.has(kind, minute))
    .map((minute) => Math.floor(now / MIN) - DAY / MIN - minute)
}

it('day notes hold fixes by their own time, and count those that came late', async () => {
  const { say, book } = await noting()
  const now = Date.now()
  await say({ device: van.id, fixes: [at(now - 20 * MIN), at(now - 10 * MIN), at(now - 10 * MIN), at(now)] })
  await say({ fixes: [at(now)] })
  await book.close()
  expect(await minutesOf('fix', now)).toEqual([20, 10, 0])
  expect((await readDays(redis, van.id, [DAY]))[0]).toMatchObject({ fixes: 5, late: 3 })
})

it('day notes tell fixes that are held, filtered, or cannot be stored', async () => {
  const held = await noting({ devices: [{ ...van, route_id: undefined }], hold: { no_route: true } })
  const now = Date.now()
  await held.say({ device: van.id, fixes: [at(now - 7 * MIN)] })
  await held.say({ fixes: [at(now - 30 * MIN, { valid: false })] })
  const filteredAt = held.session.now
  held.state.fails = true
  await held.say({ fixes: [at(now - 3 * MIN)] })
  await held.book.close()
  expect(await minutesOf('fix', now)).toEqual([])
  expect(await minutesOf('held', now)).toEqual([7])
  expect(await minutesOf('filtered', filteredAt)).toEqual([0])
  expect(await minutesOf('not_stored', held.session.now)).toEqual([0])
})

it('day notes tell when a device was connected, and when the gateway ran', async () => {
  const now = Date.now()
  const { book } = await noting({}, now - 3 * MIN)
  await book.close()
  expect(await minutesOf('connected', now)).toEqual(expect.arrayContaining([3, 2, 1, 0]))
  expect((await minutesOf('connected', now, '')).length).toBeGreaterThan(0)
})

it.each([-120, 120])(
  'day notes tell the minute after the clock was set by %i minutes, and none in between',
  async (step) => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: DAY + 720 * MIN })
    onTestFinished(() => void vi.useRealTimers())
    const { book } = await noting({}, DAY + 721 * MIN)
    const now = DAY + (721 + step) * MIN
    vi.advanceTimersByTime(MIN)
    vi.setSystemTime(now)
    await book.writeIfDue()
    expect(await minutesOf('connected', now, '')).toEqual([1, 0])
    expect(await minutesOf('connected', now)).toContain(0)
  },
)

it('day notes take half a kilobyte for a device and day, and expire', async () => {
  const { say, book } = await noting({}, Date.now() - MIN)
  await say({ device: van.id, fixes: [at(Date.now())] })
  await book.close()
  const key = keys.day(DAY, van.id)
  expect(await redis.strlen(key)).toBe(378)
  expect(await redis.memory('USAGE', key)).toBeLessThan(520)
  expect(await redis.ttl(key)).toBeGreaterThan(31 * 86_400)
})

it('day notes hold fixes that come after a write with the next write', async () => {
  const { say, book } = await noting()
  await say({ device: van.id, fixes: [at(Date.now())] })
  await book.close()
  await say({ fixes: [at(Date.now())] })
  await book.close()
  expect((await readDays(redis, van.id, [DAY]))[0].fixes).toBe(2)
})

it('day notes that Redis refused are written once Redis accepts them', async () => {
  const { say, book } = await noting()
  const key = keys.day(DAY, van.id)
  await say({ device: van.id, fixes: [at(Date.now())] })
  await redis.lpush(key, 'no string')
  await book.close()
  await redis.del(key)
  await book.close()
  expect((await readDays(redis, van.id, [DAY]))[0].fixes).toBe(1)
})

it('a write of day notes fails once it is due if a script cannot write, and is repeated later', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { say, book } = await noting()
  const key = keys.day(DAY, van.id)
  await say({ device: van.id, fixes: [at(Date.now())] })
  await redis.lpush(key, 'no string')
  await book.writeIfDue()
  vi.advanceTimersByTime(MIN)
  await expect(book.writeIfDue()).rejects.toThrow('WRONGTYPE')
  await redis.del(key)
  await book.close()
  expect((await readDays(redis, van.id, [DAY]))[0].fixes).toBe(1)
})

it('day notes tell the data volume of a device, over all gateways, for three days', async () => {
  const one = await noting()
  const other = new DayBook(redis, { zone: ZONE, capacity: one.capacity, heard: { presentSince: () => [].values() } })
  const since = Date.now()
  one.book.of(van.id).carried({ bytes: 1000, connections: 2, fixes: 3 })
  one.book.of(van.id).carried({ bytes: 100, connections: 0, fixes: 1 })
  await one.book.close()
  other.of(van.id).carried({ bytes: 5e9, connections: 1, fixes: 1 }, since - 5000)
  await other.close()
  const [air] = await readAir(redis, van.id, [DAY])
  expect(air).toEqual({
    bytes: 0xffff_ffff,
    connections: 3,
    fixes: 5,
    since: Math.floor((since - 5000) / 1000) * 1000,
  })
  expect(await redis.ttl(keys.air(DAY))).toBeGreaterThan(3 * 86_400 - 60)
})

it('day notes of the data volume are written once Redis accepts them', async () => {
  const { book } = await noting()
  book.of(van.id).carried({ bytes: 1000, connections: 2, fixes: 3 })
  await redis.lpush(keys.air(DAY), 'no hash')
  await book.close()
  await redis.del(keys.air(DAY))
  await book.close()
  expect(await readAir(redis, van.id, [DAY])).toMatchObject([{ bytes: 1000, connections: 2, fixes: 3 }])
})

it('day notes are not written while the memory of Redis is scarce', async () => {
  const { say, book, capacity } = await noting()
  await say({ device: van.id, fixes: [at(Date.now())] })
  capacity.isScarce = true
  await book.close()
  capacity.isScarce = false
  await book.close()
  expect((await readDays(redis, van.id, [DAY]))[0].fixes).toBe(0)
})
