import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  Appender,
  countLanes,
  countRecords,
  custodyCounters,
  describeLanes,
  discard,
  keys,
  Leases,
  NOT_CURRENT,
  type Position,
  packDevice,
  packRecords,
  positionsJson,
  type Store,
  receivedAt,
  release,
  relocate,
  stillHolds,
  surveyRefused,
} from '../../src/store/index.ts'
import { deviceOf, timestampOf } from '../../src/store/record.ts'
import { UNFILTERED } from '../support/appending.ts'
import { records } from '../support/records.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const RECEIVED = Date.UTC(2026, 10, 20, 8, 14, 2)
const ID = '356307042441013'
const IMEI = packDevice(ID)
const STAY = () => undefined
const ONLY_2 = (record: Buffer) => (timestampOf(record) === 2 ? '7/43/1' : NOT_CURRENT)

const refusedOf = (lane: string) => Array.fromAsync(surveyRefused(redis, lane))

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})

const position = (timestamp: number): Position => ({ timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5 })
const packed = (...timestamps: number[]) => packRecords(timestamps.map(position), IMEI, Date.now())
const timestamps = (bytes: Buffer) => records(bytes).map(timestampOf)

async function append(lane: string, ...times: number[]): Promise<void> {
  const appender = new Appender(redis, UNFILTERED)
  await appender.append({
    parts: [{ lane, device: ID, records: packed(...times) }],
    received: times.length,
    filtered: [],
  })
  await appender.close()
}

function leases({ maxPositions = 3, maxWaitMs = 0, leaseMs = 15_000 } = {}) {
  return new Leases(redis, { maxPositions, maxWaitMs, leaseMs })
}

const lastPush = async (lane: string) => (await describeLanes(redis, [lane]))[0].lastPush

const waitingIn = async (lane: string) => timestamps(Buffer.concat(await redis.lrangeBuffer(keys.lane(lane), 0, -1)))

async function claimOne(from = leases()) {
  const [lease] = await from.claim(10)
  return lease
}

/** Checks that a lane is in the schedule exactly when its list is not empty. */
async function expectInvariant(): Promise<void> {
  const lists = (await redis.keys(keys.lane('*'))).map((key) => key.slice(keys.lane('').length))
  expect((await redis.zrange(keys.schedule, '0', '-1')).toSorted()).toEqual(lists.toSorted())
}

it('packed records keep every field of a position', () => {
  const whole = {
    timestamp: 1_763_626_442,
    latitude: -33.8567844,
    longitude: 151.2152967,
    accuracy: 7,
    heading: 359,
    speed: 13.89,
  }
  const bytes = packRecords([whole], IMEI, RECEIVED)
  expect(JSON.parse(positionsJson(bytes))).toEqual({
    positions: [
      {
        timestamp: 1_763_626_442,
        point: { lat: -33.8567844, lon: 151.2152967 },
        accuracy: 7,
        heading: 359,
        speed: 13.89,
      },
    ],
  })
  expect(receivedAt(bytes)).toBe(RECEIVED)
  expect(deviceOf(bytes)).toBe('356307042441013')
})

it('a pushed position leaves out unknown fields', () => {
  expect(JSON.parse(positionsJson(packed(5)))).toEqual({
    positions: [{ timestamp: 5, point: { lat: 52.5, lon: 13.4 }, accuracy: 5 }],
  })
})

it.each(['0356307042441013', 'van 12', '999999999999999999', '9999999999999999999', '../../x', 'é'])(
  'a packed record keeps the device id %s',
  (id) => {
    const [record] = records(packRecords([position(1)], packDevice(id), RECEIVED))
    expect(deviceOf(record)).toBe(id)
  },
)

it('packing refuses a device id that is too long', () => {
  expect(() => packDevice('x'.repeat(201))).toThrow(RangeError)
})

it('packed records are counted and read one by one', () => {
  const bytes = packed(1, 2, 3)
  expect(countRecords(bytes)).toEqual({ count: 3, redelivered: 0 })
  expect(timestamps(bytes)).toEqual([1, 2, 3])
})

it('the appender stores records in order and schedules their lane once', async () => {
  await append('7/42/1001', 1, 2)
  await append('7/42/1001', 3)
  expect(timestamps(Buffer.concat(await redis.lrangeBuffer(keys.lane('7/42/1001'), 0, -1)))).toEqual([1, 2, 3])
  expect(await redis.zcard(keys.schedule)).toBe(1)
  await expectInvariant()
})

it('the appender stores frames that arrive together in few calls', async () => {
  const appender = new Appender(redis, UNFILTERED)
  const before = Number(
    /calls=(\d+)/.exec((await redis.info('commandstats')).split('cmdstat_evalsha')[1] ?? '')?.[1] ?? 0,
  )
  const items = Array.from({ length: 5000 }, (_, i) => ({
    parts: [{ lane: `7/${i % 1500}/1`, device: ID, records: packed(i) }],
    received: 1,
    filtered: [],
  }))
  await Promise.all(items.map((item) => appender.append(item)))
  const after = Number(/calls=(\d+)/.exec((await redis.info('commandstats')).split('cmdstat_evalsha')[1])?.[1])
  expect(after - before).toBeLessThan(10)
  expect(await redis.zcard(keys.schedule)).toBe(1500)
  expect(await redis.llen(keys.lane('7/0/1'))).toBe(4)
  expect(await custodyCounters(redis)).toEqual(new Map([['received', 5000]]))
  await expectInvariant()
})

it('the appender stores a frame with more fixes than Lua can hand over at once', async () => {
  await append('7/42/1', ...Array.from({ length: 2500 }, (_, i) => i))
  expect(await redis.llen(keys.lane('7/42/1'))).toBe(2500)
})

it('the appender counts filtered fixes, with and without stored ones', async () => {
  const appender = new Appender(redis, UNFILTERED)
  appender.count(['zero', 'zero'])
  await appender.append({
    parts: [{ lane: '7/42/1', device: ID, records: packed(1) }],
    received: 2,
    filtered: ['past'],
  })
  appender.count(['invalid'])
  await appender.close()
  expect(await custodyCounters(redis)).toEqual(
    new Map([
      ['received', 5],
      ['filtered:zero', 2],
      ['filtered:past', 1],
      ['filtered:invalid', 1],
    ]),
  )
})

it('the appender counts fixes that are filtered while it writes the counts', async () => {
  const appender = new Appender(redis, UNFILTERED)
  appender.count(['zero'])
  const tidied = appender.tidy()
  appender.count(['zero', 'past'])
  await Promise.all([tidied, appender.close()])
  expect(await custodyCounters(redis)).toEqual(
    new Map([
      ['received', 3],
      ['filtered:zero', 2],
      ['filtered:past', 1],
    ]),
  )
})

it('the appender rejects and counts nothing while Redis is away, and stores again when it is back', async () => {
  const appender = new Appender(redis, UNFILTERED)
  await server.kill('SIGKILL')
  const item = { parts: [{ lane: '7/42/1', device: ID, records: packed(1) }], received: 1, filtered: [] }
  await expect(appender.append(item)).rejects.toThrow()
  await server.restart()
  await expect.poll(() => redis.status, { timeout: 30_000 }).toBe('ready')
  await appender.append(item)
  expect(await custodyCounters(redis)).toEqual(new Map([['received', 1]]))
})

it('only due lanes are leased, each once', async () => {
  await append('7/42/1', 1)
  const appender = new Appender(redis, { ...UNFILTERED, maxWaitMs: 60_000 })
  await appender.append({ parts: [{ lane: '7/43/1', device: ID, records: packed(1) }], received: 1, filtered: [] })
  expect((await leases().claim(10)).map(({ lane }) => lane)).toEqual(['7/42/1'])
  expect(await leases().claim(10)).toEqual([])
})

it('a lane is due one look of the workers before its longest wait is over', async () => {
  const appender = new Appender(redis, { ...UNFILTERED, maxWaitMs: 60_000 })
  const before = Date.now()
  await appender.append({ parts: [{ lane: '7/43/1', device: ID, records: packed(1) }], received: 1, filtered: [] })
  const due = Number(await redis.zscore(keys.schedule, '7/43/1'))
  expect(due - before).toBeGreaterThanOrEqual(59_800)
  expect(due - Date.now()).toBeLessThanOrEqual(59_800)
})

it('a claim leases no lane while eight tickets wait for a worker', async () => {
  await append('7/42/1', 1)
  await redis.rpush(keys.waitingTickets, ...Array.from({ length: 8 }, String))
  expect(await leases().claim(10)).toEqual([])
  await redis.rpop(keys.waitingTickets)
  expect(await leases().claim(10)).toMatchObject([{ lane: '7/42/1' }])
})

it('a lease hands out whole batches until its lane is empty', async () => {
  await append('7/42/1', 1, 2, 3, 4, 5, 6)
  const worker = leases()
  const lease = await claimOne(worker)
  const first = await worker.take(lease)
  expect(timestamps(first?.records as Buffer)).toEqual([1, 2, 3])
  const second = await worker.done(lease, { count: 3, status: 200, wanted: 3, atOnce: false })
  expect(timestamps(second?.records as Buffer)).toEqual([4, 5, 6])
  expect(await worker.done(lease, { count: 3, status: 200, wanted: 3, atOnce: false })).toBeUndefined()
  expect(await redis.exists(keys.lane('7/42/1'))).toBe(0)
  expect((await custodyCounters(redis)).get('delivered')).toBe(6)
  await expectInvariant()
})

it('a lane with less than a batch is given back, due after the wait', async () => {
  await append('7/42/1', 1, 2)
  const worker = leases({ maxWaitMs: 60_000 })
  const lease = await claimOne(worker)
  await worker.take(lease)
  await append('7/42/1', 3)
  expect(await worker.done(lease, { count: 2, status: 200, wanted: 3, atOnce: false })).toBeUndefined()
  expect(Number(await redis.zscore(keys.schedule, '7/42/1'))).toBeGreaterThan(Date.now() + 50_000)
  expect(timestamps(Buffer.concat(await redis.lrangeBuffer(keys.lane('7/42/1'), 0, -1)))).toEqual([3])
})

it('a lane with a whole batch is given back, due at once, when the worker wants no more', async () => {
  await append('7/42/1', 1, 2, 3, 4, 5, 6)
  const worker = leases({ maxWaitMs: 60_000 })
  const lease = await claimOne(worker)
  expect(await worker.done(lease, { count: 3, status: 200, wanted: 0, atOnce: false })).toBeUndefined()
  expect((await worker.claim(1)).length).toBe(1)
})

it('a worker changes nothing once its lease has ended and another holds the lane', async () => {
  await append('7/42/1', 1, 2)
  const slow = leases({ leaseMs: 1 })
  const lost = await claimOne(slow)
  await slow.take(lost)
  await sleep(5)
  const owner = leases()
  const lease = await claimOne(owner)
  expect(await slow.take(lost)).toBeUndefined()
  expect(await slow.done(lost, { count: 2, status: 200, wanted: 3, atOnce: false })).toBeUndefined()
  expect(await slow.retry(lost, 500, { firstMs: 1, maxMs: 1, leastMs: 0 })).toBeUndefined()
  expect(await slow.park(lost, { status: 404, message: '' })).toBe(false)
  expect(await slow.refuse(lost, { status: 422, message: '' }, 0)).toBeUndefined()
  expect(timestamps((await owner.take(lease))?.records as Buffer)).toEqual([1, 2])
  expect((await custodyCounters(redis)).get('delivered')).toBeUndefined()
})

it('a lease is renewed while a push ends', async () => {
  await append('7/42/1', 1)
  const worker = leases()
  const lease = await claimOne(worker)
  const before = lease.token
  await sleep(5)
  const renewing = worker.renew([lease])
  const ending = worker.done(lease, { count: 1, status: 200, wanted: 3, atOnce: false })
  await Promise.all([renewing, ending])
  expect(lease.token).not.toBe(before)
  expect(await redis.zcard(keys.schedule)).toBe(0)
})

it('a renewal reports that a lease is lost', async () => {
  await append('7/42/1', 1)
  const worker = leases()
  const lease = await claimOne(worker)
  await redis.zadd(keys.schedule, 1, '7/42/1')
  await worker.renew([lease])
  expect(lease.token).toBe('')
})

it('each failure in a row doubles the delay of a lane, up to the longest, with jitter', async () => {
  await append('7/42/1', 1)
  const worker = leases()
  const delays: number[] = []
  for (let i = 0; i < 5; i++) {
    await redis.zadd(keys.schedule, 1, '7/42/1')
    delays.push((await worker.retry(await claimOne(worker), 500, { firstMs: 1000, maxMs: 4000, leastMs: 0 })) as number)
  }
  for (const [i, longest] of [1000, 2000, 4000, 4000, 4000].entries()) {
    expect(delays[i]).toBeGreaterThanOrEqual(longest / 2)
    expect(delays[i]).toBeLessThanOrEqual(longest)
  }
  expect(await lastPush('7/42/1')).toMatchObject({ status: '500', failures: 5 })
})

it('failures of the day before count as in a row', async () => {
  await append('7/42/1', 1)
  const worker = leases()
  const day = Math.floor(Date.now() / 86_400_000)
  await redis.hset(`${keys.pushesPrefix}${day - 1}`, '7/42/1', `${Date.now() - 60_000}:500:4`)
  expect(await lastPush('7/42/1')).toMatchObject({ status: '500', failures: 4 })
  await worker.retry(await claimOne(worker), 500, { firstMs: 1000, maxMs: 4000, leastMs: 0 })
  expect(await lastPush('7/42/1')).toMatchObject({ status: '500', failures: 5 })
  expect(await redis.ttl(`${keys.pushesPrefix}${day}`)).toBeGreaterThan(86_400)
})

it('a failed lane waits as long as the tracking API asked for', async () => {
  await append('7/42/1', 1)
  const worker = leases()
  expect(await worker.retry(await claimOne(worker), 503, { firstMs: 10, maxMs: 20, leastMs: 90_000 })).toBe(90_000)
})

it('the delay of a lane starts again from the first after a success', async () => {
  await append('7/42/1', 1, 2)
  const worker = leases({ maxPositions: 1 })
  await worker.retry(await claimOne(worker), 500, { firstMs: 1, maxMs: 1, leastMs: 0 })
  await expect.poll(() => redis.zscore(keys.schedule, '7/42/1').then((due) => Number(due) < Date.now())).toBe(true)
  await worker.done(await claimOne(worker), { count: 1, status: 200, wanted: 0, atOnce: false })
  expect(await lastPush('7/42/1')).toMatchObject({ status: '200', failures: 0 })
})

it('a parked lane keeps its records and is probed after 15 s, 30 s, 60 s, then every 5 min', async () => {
  await append('7/42/1', 1, 2)
  const worker = leases()
  for (const seconds of [15, 30, 60, 300, 300]) {
    await redis.zadd(keys.schedule, 1, '7/42/1')
    const lease = await claimOne(worker)
    const before = Date.now()
    expect(await worker.park(lease, { status: 404, message: 'no such route "1"' })).toBe(true)
    const due = Number(await redis.zscore(keys.schedule, '7/42/1'))
    expect(due).toBeGreaterThanOrEqual(before + seconds * 1000)
    expect(due).toBeLessThanOrEqual(Date.now() + seconds * 1000)
  }
  const [state] = await describeLanes(redis, ['7/42/1'])
  expect(state).toMatchObject({
    lane: '7/42/1',
    waiting: 2,
    parked: { status: 404, message: 'no such route "1"', tries: 5 },
  })
  await redis.zadd(keys.schedule, 1, '7/42/1')
  const probe = await worker.take(await claimOne(worker))
  expect([timestamps(probe?.records as Buffer), probe?.parked?.status]).toEqual([[1], 404])
})

it('a parked lane goes on at once when its probe is delivered', async () => {
  await append('7/42/1', 1, 2)
  const worker = leases({ maxWaitMs: 60_000 })
  await worker.park(await claimOne(worker), { status: 403, message: '' })
  expect(await release(redis, ['7/42/1'], STAY)).toBe(2)
  const lease = await claimOne(worker)
  const next = await worker.done(lease, { count: 1, status: 200, wanted: 3, atOnce: false })
  expect([timestamps(next?.records as Buffer), next?.parked]).toEqual([[2], undefined])
  expect(await redis.hlen(keys.parked)).toBe(0)
})

const refusal = { status: 422, message: 'positions.0.point.lat: …' }

it('a refused record is stored with the answer, and the next records are handed out at once', async () => {
  await append('7/42/1', 1, 2, 3)
  const worker = leases({ maxWaitMs: 60_000 })
  const lease = await claimOne(worker)
  await worker.take(lease)
  const answer = await worker.refuse(lease, refusal, 3)
  expect([answer?.row, timestamps(answer?.next?.records as Buffer)]).toEqual([1, [2, 3]])
  expect(await refusedOf('7/42/1')).toMatchObject([{ ...refusal, count: 1 }])
  expect((await worker.refuse(lease, refusal, 3))?.row).toBe(2)
  await expectInvariant()
})

it('a lane whose only record is refused leaves the schedule', async () => {
  await append('7/42/1', 1)
  const worker = leases()
  const lease = await claimOne(worker)
  expect(await worker.refuse(lease, refusal, 3)).toEqual({ row: 1, next: undefined })
  await expectInvariant()
})

it('a released record goes to the end of the lane where it belongs by now', async () => {
  await append('7/42/1', 1, 2, 3)
  const worker = leases()
  const lease = await claimOne(worker)
  await worker.refuse(lease, refusal, 3)
  await worker.refuse(lease, refusal, 3)
  expect(await release(redis, ['7/42/1'], (record) => (timestampOf(record) === 1 ? '7/43/1' : undefined))).toBe(2)
  expect(await waitingIn('7/42/1')).toEqual([3, 2])
  expect(await waitingIn('7/43/1')).toEqual([1])
  expect(await refusedOf('7/42/1')).toEqual([])
  await expectInvariant()
})

it('release changes nothing while the roster is not current', async () => {
  await append('7/42/1', 1, 2)
  const worker = leases()
  const lease = await claimOne(worker)
  await worker.refuse(lease, refusal, 3)
  await worker.park(lease, { status: 404, message: '' })
  expect(await release(redis, ['7/42/1'], () => NOT_CURRENT)).toBe(NOT_CURRENT)
  expect(await worker.claim(1)).toEqual([])
  expect(await release(redis, ['7/42/1'], ONLY_2)).toBe(NOT_CURRENT)
  expect(await refusedOf('7/42/1')).toHaveLength(1)
  expect([await waitingIn('7/42/1'), await waitingIn('7/43/1')]).toEqual([[2], []])
})

it('release does not end a lease', async () => {
  await append('7/42/1', 1, 2)
  const worker = leases({ maxPositions: 1 })
  const lease = await claimOne(worker)
  await worker.take(lease)
  await worker.refuse(lease, refusal, 1)
  await release(redis, ['7/42/1'], STAY)
  const next = await worker.done(lease, { count: 1, status: 200, wanted: 1, atOnce: false })
  expect(timestamps(next?.records as Buffer)).toEqual([1])
})

it('discard deletes and counts parked and refused records', async () => {
  await append('7/42/1', 1, 2)
  const worker = leases()
  const lease = await claimOne(worker)
  await worker.refuse(lease, refusal, 3)
  await worker.park(lease, { status: 404, message: '' })
  expect(await discard(redis, ['7/42/1'])).toBe(2)
  expect((await custodyCounters(redis)).get('discarded:deleted')).toBe(2)
  expect([await redis.exists(keys.lane('7/42/1')), await redis.hlen(keys.parked)]).toEqual([0, 0])
  await expectInvariant()
})

const delivered = { count: 3, status: 200, wanted: 3, atOnce: false }

it('a repeated call of done drops the delivered records once', async () => {
  await append('7/42/1', 1, 2, 3, 4, 5, 6, 7, 8, 9)
  const worker = leases()
  const lease = await claimOne(worker)
  await worker.take(lease)
  const again = { ...lease }
  expect(timestamps((await worker.done(lease, delivered))?.records as Buffer)).toEqual([4, 5, 6])
  expect(await worker.done(again, delivered)).toBeUndefined()
  expect(timestamps((await worker.done(lease, delivered))?.records as Buffer)).toEqual([7, 8, 9])
  expect((await custodyCounters(redis)).get('delivered')).toBe(6)
})

it('a lane that comes twice in one call is done once, beside others', async () => {
  await append('7/42/1', 1, 2, 3, 4)
  await append('7/43/1', 1)
  const worker = leases()
  const [one, other] = await worker.claim(10)
  await Promise.all([worker.take(one), worker.take(other)])
  const given = { status: 200, wanted: 0, atOnce: false }
  await Promise.all([
    worker.done({ ...one }, { ...given, count: 1 }),
    worker.done(other, { ...given, count: 1 }),
    worker.done({ ...one }, { ...given, count: 2 }),
  ])
  expect([await waitingIn('7/42/1'), await waitingIn('7/43/1')]).toEqual([[2, 3, 4], []])
  expect((await custodyCounters(redis)).get('delivered')).toBe(2)
  await expectInvariant()
})

it('done is repeated until Redis is back', async () => {
  await append('7/42/1', 1, 2, 3)
  const worker = leases()
  const lease = await claimOne(worker)
  await worker.take(lease)
  await server.kill('SIGKILL')
  const telling = worker.done(lease, delivered)
  await server.restart()
  expect(await telling).toBeUndefined()
  await expect.poll(() => redis.status, { timeout: 30_000 }).toBe('ready')
  expect((await custodyCounters(redis)).get('delivered')).toBe(3)
  await expectInvariant()
})

it('only the first of two workers with the same lease gets its records', async () => {
  await append('7/42/1', 1, 2, 3)
  const [lease] = await leases().claim(1)
  const twin = { ...lease }
  const [first, second] = [leases(), leases()]
  expect(timestamps((await first.take(lease))?.records as Buffer)).toEqual([1, 2, 3])
  expect(await second.take(twin)).toBeUndefined()
  expect(await second.done(twin, { count: 3, status: 200, wanted: 0, atOnce: false })).toBeUndefined()
  expect(await waitingIn('7/42/1')).toEqual([1, 2, 3])
})

it('only the first of two calls in one group with the same lease gets its records', async () => {
  await append('7/42/1', 1, 2)
  const worker = leases()
  const lease = await claimOne(worker)
  const [first, second] = await Promise.all([worker.take({ ...lease }), worker.take({ ...lease })])
  expect(timestamps(first?.records as Buffer)).toEqual([1, 2])
  expect(second).toBeUndefined()
})

it('a renewal does not give the records to a second worker with the same lease', async () => {
  await append('7/42/1', 1)
  const [lease] = await leases().claim(1)
  const twin = { ...lease }
  const [first, second] = [leases(), leases()]
  await first.take(lease)
  await first.renew([lease])
  expect(await second.take(twin)).toBeUndefined()
  await second.renew([twin])
  expect([twin.token, lease.token.endsWith('.75')]).toEqual(['', true])
})

it('relocate moves records to the lanes where they belong by now, in order', async () => {
  await append('7/42/1', 1, 2, 3, 4)
  const worker = leases()
  const lease = await claimOne(worker)
  expect(await relocate(redis, lease, (record) => (timestampOf(record) % 2 === 0 ? '7/43/2' : '7/42/1'))).toBe(true)
  expect([await waitingIn('7/42/1'), await waitingIn('7/43/2')]).toEqual([
    [1, 3],
    [2, 4],
  ])
  expect(await relocate(redis, lease, () => '7/43/2')).toBe(false)
  expect(await waitingIn('7/43/2')).toEqual([2, 4, 1, 3])
  await expectInvariant()
})

it('relocate moves nothing while the roster is not current', async () => {
  await append('7/42/1', 1, 2)
  const lease = await claimOne()
  expect(await relocate(redis, lease, () => NOT_CURRENT)).toBe(NOT_CURRENT)
  expect(await waitingIn('7/42/1')).toEqual([1, 2])
})

it('relocate moves nothing once the lease is lost', async () => {
  await append('7/42/1', 1)
  const lease = await claimOne()
  await redis.zadd(keys.schedule, 1, '7/42/1')
  await relocate(redis, lease, () => '7/43/2')
  expect(await waitingIn('7/42/1')).toEqual([1])
})

const LATE = Date.now() - 61_000

async function appendLate(...times: number[]): Promise<void> {
  const appender = new Appender(redis, UNFILTERED)
  const bytes = packRecords(times.map(position), IMEI, LATE)
  await appender.append({ parts: [{ lane: '7/42/1', device: ID, records: bytes }], received: 1, filtered: [] })
  await appender.close()
}

it('a lane that is behind sends its newest record first, then its backlog in order', async () => {
  await appendLate(1, 2, 3, 4, 5)
  const worker = leases({ maxWaitMs: 60_000 })
  const lease = await claimOne(worker)
  const seen: number[][] = []
  for (let batch = await worker.take(lease); batch; ) {
    seen.push(timestamps(batch.records))
    batch = await worker.done(lease, { count: seen.at(-1)!.length, status: 200, wanted: 3, atOnce: false })
  }
  expect(seen).toEqual([[5], [1, 2, 3]])
  expect(await waitingIn('7/42/1')).toEqual([4])
})

it('a lane that is behind sends the same newest record again after a failure', async () => {
  await appendLate(1, 2, 3)
  const worker = leases()
  const lease = await claimOne(worker)
  expect(timestamps((await worker.take(lease))?.records as Buffer)).toEqual([3])
  await worker.retry(lease, 500, { firstMs: 1, maxMs: 1, leastMs: 0 })
  await append('7/42/1', 4)
  await redis.zadd(keys.schedule, 1, '7/42/1')
  expect(timestamps((await worker.take(await claimOne(worker)))?.records as Buffer)).toEqual([3])
  expect(await waitingIn('7/42/1')).toEqual([3, 1, 2, 4])
})

it('a lane that is behind is counted with the age of its oldest record, a parked one as parked', async () => {
  await appendLate(1)
  await append('7/42/1', 2)
  await leases().take(await claimOne())
  const worker = leases()
  await append('7/43/1', 3)
  await worker.park(await claimOne(worker), { status: 404, message: 'no such route' })
  const counted = (await Array.fromAsync(countLanes(redis))).flat().toSorted((a, b) => (a.lane < b.lane ? -1 : 1))
  expect(counted).toEqual([
    { lane: '7/42/1', waiting: 2, isParked: false, oldestAt: expect.closeTo(LATE, -1) },
    { lane: '7/43/1', waiting: 1, isParked: true, oldestAt: expect.closeTo(Date.now(), -5) },
  ])
})

it('every one of 2,000 lanes is counted once', async () => {
  await Promise.all(Array.from({ length: 2000 }, (_, n) => append(`7/42/${n}`, 1)))
  const counted = (await Array.fromAsync(countLanes(redis))).flat()
  expect(new Set(counted.map(({ lane }) => lane)).size).toBe(2000)
  expect(counted).toHaveLength(2000)
})

it('a lane that is behind reports the age of its oldest record', async () => {
  await appendLate(1)
  await append('7/42/1', 2)
  await leases().take(await claimOne())
  const [state] = await describeLanes(redis, ['7/42/1'])
  expect(Math.abs((state.oldestAt as number) - LATE)).toBeLessThan(2)
})

const state = () => redis.hget(keys.upstream, 'state')

it('a lane that stays behind sends a newest record first only when a newer one has arrived', async () => {
  const put = async (at: number, ...times: number[]) => {
    const appender = new Appender(redis, UNFILTERED)
    const bytes = packRecords(times.map(position), IMEI, Date.now() - at)
    await appender.append({ parts: [{ lane: '7/42/1', device: ID, records: bytes }], received: 1, filtered: [] })
    await appender.close()
  }
  const turn = async () => {
    const worker = leases()
    const lease = await claimOne(worker)
    const taken = timestamps((await worker.take(lease))?.records as Buffer)
    await worker.done(lease, { count: taken.length, status: 200, wanted: 0, atOnce: true })
    await redis.zadd(keys.schedule, 'XX', '1', '7/42/1')
    return taken
  }
  await put(70_000, 1, 2, 3, 4, 5, 6, 7)
  await put(65_000, 8)
  expect([await turn(), await turn()]).toEqual([[8], [1, 2, 3]])
  await put(0, 9)
  expect([await turn(), await turn(), await turn()]).toEqual([[9], [4, 5, 6], [7]])
  expect(await redis.hlen(keys.ahead)).toBe(0)
})

it('a stopping worker gives a lane back together with a refusal', async () => {
  await append('7/42/1', 1, 2, 3)
  const worker = leases()
  const lease = await claimOne(worker)
  await worker.take(lease)
  expect(await worker.refuse(lease, { status: 422, message: '' }, 0)).toEqual({ row: 1, next: undefined })
  expect(await worker.claim(1)).toHaveLength(1)
  await expectInvariant()
})

it('a worker that was stopped does not trust a lease after its end', async () => {
  await append('7/42/1', 1)
  const worker = leases({ leaseMs: 60_000 })
  const lease = await claimOne(worker)
  expect(stillHolds(lease)).toBe(false)
  await worker.take(lease)
  expect(stillHolds(lease)).toBe(true)
  const now = performance.now() + 60_000
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now)
  onTestFinished(() => clock.mockRestore())
  expect(stillHolds(lease)).toBe(false)
  await worker.renew([lease])
  expect(stillHolds(lease)).toBe(true)
})

const delay = { firstMs: 60_000, maxMs: 60_000, leastMs: 0 }

async function fail(...failures: [lane: string, status: number | string][]): Promise<void> {
  const worker = leases()
  for (const [lane, status] of failures) {
    await redis.zadd(keys.schedule, 1, lane)
    await redis.hset(keys.upstream, 'probe', 0)
    for (const lease of await worker.claim(10))
      await worker.retry(lease, lease.lane === lane ? status : 'other', {
        ...delay,
        firstMs: lease.lane === lane ? 60_000 : 1,
      })
  }
}

it('the tracking API is down after five failures in a row over two lanes, and up with its first answer', async () => {
  await append('7/1/1', 1)
  await append('7/2/1', 1)
  await redis.zadd(keys.schedule, Date.now() + 60_000, '7/1/1', Date.now() + 60_000, '7/2/1')
  await fail(['7/1/1', 500], ['7/1/1', 500], ['7/1/1', 500], ['7/1/1', 500], ['7/1/1', 500])
  expect(await state()).not.toBe('down')
  await fail(['7/2/1', 500])
  expect(await state()).toBe('down')
  await redis.hset(keys.upstream, 'probe', 0)
  const worker = leases()
  const [lease, ...others] = await worker.claim(10)
  expect(others).toEqual([])
  await worker.take(lease)
  await worker.done(lease, { count: 1, status: 200, wanted: 0, atOnce: false })
  expect([await state(), await redis.hget(keys.upstream, 'failures')]).toEqual(['up', '0'])
})

it('the tracking API is down after five failures of the only lane, and at once if it refuses connections', async () => {
  await append('7/1/1', 1)
  await fail(...Array.from({ length: 5 }, (): [string, number] => ['7/1/1', 504]))
  expect(await state()).toBe('down')
  await redis.flushall()
  await append('7/1/1', 1)
  await append('7/2/1', 1)
  await redis.zadd(keys.schedule, Date.now() + 60_000, '7/2/1')
  await fail(['7/1/1', 'refused'])
  expect(await state()).toBe('down')
})

it('one lane at a time probes a tracking API that is down, after a second at the earliest', async () => {
  for (const courier of [1, 2, 3]) await append(`7/${courier}/1`, 1)
  const worker = leases()
  const [lease] = await worker.claim(1)
  const before = Date.now()
  await worker.retry(lease, 'refused', delay)
  expect(Number(await redis.hget(keys.upstream, 'probe'))).toBeGreaterThanOrEqual(before + 1000)
  await redis.hset(keys.upstream, 'probe', Date.now() + 60_000)
  expect(await worker.claim(10)).toEqual([])
  await redis.hset(keys.upstream, 'probe', 0)
  expect(await worker.claim(10)).toHaveLength(1)
  expect(await worker.claim(10)).toEqual([])
})
