import { expect, it } from 'vitest'
import { Appender, Leases, packDevice, packRecords, type Store } from '../../src/store/index.ts'
import { UNFILTERED } from '../support/appending.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Store
withRedis((_, connection) => {
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
