import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import fix from '../../protocols/fix/index.ts'
import { createSession, UnknownDeviceQuota } from '../../src/ingest/device.ts'
import { Ingest } from '../../src/ingest/ingest.ts'
import { Appender, connect, custodyCounters, DuplicateFilter, keys, type Redis } from '../../src/lanes/index.ts'
import { dialRedis, type TestRedis } from '../support/redis.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'

const FILTER = { uereM: 5, defaultAccuracyM: 50, maxFutureMs: 300_000, maxAgeMs: null, holdsSuspicious: false }
const HOLD = { unknown: true, no_route: true, clock: true, max_age: 86_400_000 }
const VAN = { id: 'van-1', company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' }
const NOW_S = Math.floor(Date.now() / 1000)
let server: TestRedis
let redis: Redis

withRedis((started, connection) => {
  server = started
  redis = connection
})

/** A connection to Redis that breaks, once, before the next answer arrives. */
async function breaking(): Promise<{ connection: Redis; breakNext(): void }> {
  let isBreaking = false
  const proxy = createServer((near: Socket) => {
    const far = dialRedis(server.url)
    near.pipe(far).on('data', (bytes: Buffer) => {
      if (isBreaking) near.destroy()
      else near.write(bytes)
      isBreaking = false
    })
    for (const [one, other] of [[near, far] as const, [far, near] as const])
      one.on('error', () => {}).on('close', () => other.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  const connection = connect(`redis://127.0.0.1:${port}`, 'breaking')
  onTestFinished(() => {
    connection.disconnect()
    proxy.close()
  })
  await once(connection, 'ready')
  return { connection, breakNext: () => void (isBreaking = true) }
}

it('stores a fix once and acknowledges it when the connection to Redis breaks before the answer', async () => {
  const { connection, breakNext } = await breaking()
  const directory = await createDirectory([VAN], [])
  const appender = new Appender(connection, {
    maxWaitMs: 0,
    duplicates: new DuplicateFilter(redis, { windowMs: 86_400_000, maxFutureMs: 300_000 }),
    shares: { markBytes: Number.MAX_SAFE_INTEGER, heldFixes: Number.MAX_SAFE_INTEGER, misunderstoodBytes: 0 },
    hold: { maxFixesPerDevice: 5, maxFixesConfigured: 5, maxUnknownDevices: 3 },
  })
  onTestFinished(() => appender.close())
  const ingest = new Ingest({
    arrivals: { refused: () => {}, unconfigured: () => {} },
    replica: { current: true, roster: directory, version: 0 },
    filter: FILTER,
    hold: HOLD,
    appender,
    heard: { spoke: () => {}, stored: () => {}, became: () => {} },
    clock: { isInDoubt: false, now: () => Date.now() },
    capacity: { hasShortage: false, isFull: false, shortageFor: () => undefined },
    frameStore: { keep: async () => false },
    unknownDevices: new UnknownDeviceQuota(10),
    enrolment: { isOpen: false },
    logger: pino({ level: 'silent' }),
  })
  const session = { ...createSession('mqtt', '127.0.0.1:1'), device: 'van-1' }
  const send = (timestamp: number) =>
    ingest.take(Buffer.from(JSON.stringify({ lat: 50.1, lon: 8.7, timestamp })), session, fix)

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
