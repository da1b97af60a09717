import { expect, it, onTestFinished, vi } from 'vitest'
import fix from '../../protocols/fix/index.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { FixStorage, type FixStorageOptions } from '../../src/gateway/fix-storage.ts'
import { GuessDelays } from '../../src/gateway/guesses.ts'
import { Trails } from '../../src/gateway/suspicion.ts'
import { UnknownDeviceQuota } from '../../src/gateway/unknown-devices.ts'
import { Ingest, type IngestOptions } from '../../src/gateway/take.ts'
import { Appender, custodyCounters, DuplicateFilter, keys, type Store } from '../../src/store/index.ts'
import { breaking } from '../support/breaking.ts'
import { journalOf } from '../support/journal.ts'
import type { TestRedis } from '../support/redis.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'
import { NO_MAPPINGS, NO_SECRETS } from '../support/unconfigured.ts'

const FILTER = { uereM: 5, defaultAccuracyM: 50, maxFutureMs: 300_000, maxAgeMs: null, holdsSuspicious: false }
const HOLD = { unknown: true, no_route: true, clock: true, max_age: 86_400_000 }
const VAN = { id: 'van-1', company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' }
const NOW_S = Math.floor(Date.now() / 1000)
let server: TestRedis
let redis: Store

withRedis((started, connection) => {
  server = started
  redis = connection
})

/** An ingest over a connection. */
async function openIngest(connection: Store, clock: FixStorageOptions['clock']): Promise<Ingest> {
  const appender = new Appender(connection, {
    maxWaitMs: 0,
    duplicates: new DuplicateFilter(redis, { windowMs: 86_400_000, maxFutureMs: 300_000 }),
    shares: { markBytes: Number.MAX_SAFE_INTEGER, heldFixes: Number.MAX_SAFE_INTEGER, misunderstoodBytes: 0 },
    hold: { maxFixesPerDevice: 5, maxFixesConfigured: 5, maxUnknownDevices: 3 },
  })
  onTestFinished(() => appender.close())
  const storing: FixStorageOptions & Pick<IngestOptions, 'capacity'> = {
    replica: { current: true, roster: await createDirectory([VAN], []), version: 0 },
    filter: FILTER,
    hold: HOLD,
    appender,
    clock,
    capacity: { hasShortage: false, isFull: false, shortageFor: () => undefined },
    holding: { marking: undefined },
    trails: new Trails(),
  }
  return new Ingest({
    ...storing,
    storage: new FixStorage(storing),
    journal: journalOf(),
    frameStore: { keep: async () => false },
    unknownDevices: new UnknownDeviceQuota(10),
    guesses: new GuessDelays(),
    secrets: NO_SECRETS,
    mappings: NO_MAPPINGS,
    enrolment: { isOpen: false },
  })
}

function sender(ingest: Ingest) {
  const session = new Conversation('mqtt', '127.0.0.1:1', { device: 'van-1' })
  return (timestamp: number) =>
    ingest.take(Buffer.from(JSON.stringify({ lat: 50.1, lon: 8.7, timestamp })), session, fix)
}

it('a gateway stores a fix once and acknowledges it when the connection to Redis breaks before the answer', async () => {
  // The appender runs a script once a second, whose answer might be the next one.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { connection, breakNext } = await breaking(server.url)
  const send = sender(await openIngest(connection, { isInDoubt: false, jumps: 0, now: () => Date.now() }))

  expect(await send(NOW_S - 1)).toMatchObject({ status: 'stored' })
  breakNext()
  expect(await send(NOW_S)).toMatchObject({ status: 'stored' })
  expect(await redis.llen(keys.lane('7/42/1001'))).toBe(2)
  expect(await custodyCounters(redis)).toEqual(
    new Map([
      ['received', 3],
      ['filtered:duplicate', 1],
    ]),
  )
})

it('a gateway gives up a waiting fix when its clock jumps, so that the device sends it again', async () => {
  const { connection } = await breaking(server.url)
  const clock = { isInDoubt: false, jumps: 0, now: () => Date.now() - 3_600_000 }
  const send = sender(await openIngest(connection, clock))
  connection.disconnect()
  const waiting = send(NOW_S)
  clock.jumps++
  expect(await waiting).toMatchObject({ status: 'not_stored', reason: 'redis' })
  expect(await redis.keys('*held*')).toEqual([])
})

it('a gateway does not acknowledge a fix held by a clock that jumps meanwhile, and stores it when repeated', async () => {
  const { connection } = await breaking(server.url)
  const clock = { isInDoubt: false, jumps: 0, now: () => Date.now() - 3_600_000 }
  const send = sender(await openIngest(connection, clock))
  const storing = send(NOW_S)
  clock.jumps++
  expect(await storing).toMatchObject({ status: 'not_stored', reason: 'redis' })
  clock.now = () => Date.now()
  expect(await send(NOW_S)).toMatchObject({ status: 'stored' })
  expect(await redis.llen(keys.lane('7/42/1001'))).toBe(1)
})
