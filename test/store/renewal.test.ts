import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import {
  Appender,
  type Batch,
  keys,
  Leases,
  packDevice,
  packRecords,
  type Store,
  timestampAt,
} from '../../src/store/index.ts'
import { UNFILTERED } from '../support/appending.ts'
import { breaking } from '../support/breaking.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})

it.each(['take', 'done'] as const)('a lease outlives a renewal that overtakes the answer of %s', async (step) => {
  await store('7/42/1', 3)
  const leases = new Leases(redis, { maxPositions: 1, maxWaitMs: 0 })
  const [lease] = await leases.claim(1)
  const next = { count: 1, status: 200, wanted: 1, atOnce: false }
  if (step === 'done') await leases.take(lease)
  const answer = step === 'take' ? leases.take(lease) : leases.done(lease, next)
  await new Promise(setImmediate)
  await leases.renew([lease])
  expect((await answer)?.records.length).toBeGreaterThan(0)
  expect((await leases.done(lease, next))?.records.length).toBeGreaterThan(0)
})

it('what is pushed while the answer to a renewal is lost is delivered once', async () => {
  await store('7/42/1', 2)
  const { connection, breakNext } = await breaking(server.url)
  const leases = new Leases(connection, { maxPositions: 1, maxWaitMs: 0 })
  const [lease] = await leases.claim(1)
  const first = (await leases.take(lease)) as Batch
  await sleep(5)
  breakNext()
  void leases.renew([lease])
  const next = { count: 1, status: 200, wanted: 1, atOnce: false }
  const second = (await leases.done(lease, next)) as Batch
  expect([first, second].map(({ records }) => timestampAt(records, 0))).toEqual([0, 1])
  expect(await leases.done(lease, next)).toBeUndefined()
  expect([await redis.zcard(keys.schedule), await redis.hget(keys.custody, 'delivered')]).toEqual([0, '2'])
})

it('a step that ran and whose answer is lost with that of a renewal is not made twice', async () => {
  await store('7/42/1', 3)
  const { connection, breakNext } = await breaking(server.url)
  const leases = new Leases(connection, { maxPositions: 1, maxWaitMs: 0 })
  const [lease] = await leases.claim(1)
  await leases.take(lease)
  await sleep(5)
  breakNext()
  const answer = leases.done(lease, { count: 1, status: 200, wanted: 1, atOnce: false })
  await new Promise(setImmediate)
  await leases.renew([lease])
  expect(await answer).toBeUndefined()
  expect(await redis.llen(keys.lane('7/42/1'))).toBe(2)
})

async function store(lane: string, count: number): Promise<void> {
  const appender = new Appender(redis, UNFILTERED)
  const positions = Array.from({ length: count }, (_, i) => ({
    timestamp: i,
    latitude: 52.5,
    longitude: 13.4,
    accuracy: 5,
  }))
  const records = packRecords(positions, packDevice(ID), Date.now())
  await appender.append({ parts: [{ lane, device: ID, records }], received: count, filtered: [] })
  await appender.close()
}

const ID = '356307042441013'
