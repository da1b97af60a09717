import { pino } from 'pino'
import { expect, it, vi } from 'vitest'
import type { Fix } from '../../protocols/kit/index.ts'
import type { Copy } from '../../src/config/copies.ts'
import type { Device } from '../../src/config/devices.ts'
import { CopyRoutes } from '../../src/copies/index.ts'
import { Holding } from '../../src/gateway/holding.ts'
import { placeFixes } from '../../src/gateway/place.ts'
import type { Assignment } from '../../src/roster/assignment.ts'
import {
  Appender,
  type CopiedFix,
  deviceOf,
  DuplicateFilter,
  enterCopies,
  fixesIn,
  keys,
  packDevice,
  packRecords,
  positionOf,
  receivedAt,
  type Store,
  surveyCopies,
} from '../../src/store/index.ts'
import { beating } from '../support/beat.ts'
import { copyOf, storeCopied } from '../support/copies.ts'
import { journalOf } from '../support/journal.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'

let redis: Store

withRedis((_, connection) => {
  redis = connection
})

const NOW = Math.floor(Date.now() / 1000)
const FILTER = { uereM: 5, defaultAccuracyM: 50, maxFutureMs: 300_000, maxAgeMs: null, holdsSuspicious: false }
const HOLD = { unknown: true, no_route: true, clock: true, max_age: 86_400_000 }
const VAN: Device = { id: '0123', company_id: '7', courier_id: '42', source: 'devices.yaml:1' }
const LINE: Assignment = {
  device: VAN.id,
  courier_id: '42',
  route_id: '1001',
  from: NOW - 1000,
  until: NOW + 1000,
  source: 'routes.csv:2',
}
const BOTH = [copyOf({}), copyOf({ name: 'all', without_route: true })]

const fix = (time: number, more: Partial<Fix> = {}): Fix => ({
  time: time * 1000,
  latitude: 52.5,
  longitude: 13.4,
  valid: true,
  ...more,
})

/** Starts a gateway with copies; `put` changes its roster. */
async function gateway(copies: readonly Copy[], devices: Device[], lines: Assignment[] = []) {
  const replica = { current: true, version: 0, roster: await createDirectory(devices, lines) }
  const routes = new CopyRoutes({ copies: () => copies, companies: () => [{ company_id: '7' }] })
  const logsOf = (company: string) => routes.logsOf(company)
  const options = {
    maxWaitMs: 0,
    duplicates: new DuplicateFilter(redis, { windowMs: 86_400_000, maxFutureMs: 300_000 }),
    shares: { markBytes: Number.MAX_SAFE_INTEGER, heldFixes: 1_000_000, misunderstoodBytes: 0 },
    hold: { maxFixesPerDevice: 100, maxFixesConfigured: 100, maxUnknownDevices: 3 },
  }
  const appender = new Appender(redis, options)
  const clock = { isInDoubt: false, jumps: 0, now: () => Date.now() }
  const logger = pino({ level: 'silent' })
  const held = new Holding({
    replica,
    filter: FILTER,
    hold: HOLD,
    clock,
    redis,
    appender: options,
    journal: journalOf(),
    logsOf,
    logger,
  })
  const holding = beating(held, (each) => each.look())
  await holding.marking
  return {
    async send(fixes: readonly Fix[], device = VAN.id) {
      await holding.marking
      const origin = { device, entry: replica.roster.find(device), now: Date.now(), isProven: true, spoken: undefined }
      const rules = {
        roster: replica.roster,
        rosterVersion: replica.version,
        filter: FILTER,
        hold: HOLD,
        isClockInDoubt: false,
        logsOf,
      }
      await appender.append(placeFixes(fixes, origin, rules))
    },
    async put(next: Device[], nextLines: Assignment[]) {
      replica.roster = await createDirectory(next, nextLines)
      holding.rosterChanged(undefined)
      await holding.marking
    },
    async close() {
      await holding.close()
      await appender.close()
    },
  }
}

async function logOf(name: string): Promise<Partial<CopiedFix>[]> {
  const entries = await redis.lrangeBuffer(keys.copiedPrefix + name, 0, -1)
  return entries.flatMap(fixesIn).map(({ device, route, timestamp, said, altitude } = {} as CopiedFix) => {
    return JSON.parse(JSON.stringify({ device, route, timestamp, said, altitude })) as Partial<CopiedFix>
  })
}

it('a copy gets the fixes of an assignment with what the tracker said, once even if they are sent twice', async () => {
  const { send, close } = await gateway([copyOf({})], [VAN], [LINE])
  const said = { ignition: true, external_voltage: 12.4 }
  await send([fix(NOW - 20, { said, altitude: 34 }), fix(NOW - 10)])
  await send([fix(NOW - 20, { said, altitude: 34 }), fix(NOW - 10), fix(NOW)])
  expect(await logOf('7')).toEqual([
    { device: '0123', route: '1001', timestamp: NOW - 20, said, altitude: 34 },
    { device: '0123', route: '1001', timestamp: NOW - 10 },
    { device: '0123', route: '1001', timestamp: NOW },
  ])
  expect((await surveyCopies(redis)).logs).toMatchObject([{ log: '7', fixes: 3 }])
  // The records of the lane are unchanged.
  expect(
    (await redis.lrangeBuffer(keys.lane('7/42/1001'), 0, -1)).map(({ length, 0: first }) => [length, first]),
  ).toEqual([29, 29, 29].map((length) => [length, length]))
  await close()
})

it('a copy is not written for a company that no copy wants, or without copies', async () => {
  for (const copies of [[], [copyOf({ companies: ['8'] })]]) {
    const { send, close } = await gateway(copies, [VAN], [LINE])
    await send([fix(NOW - copies.length)])
    await close()
  }
  expect(await redis.keys('*copied*')).toEqual([])
})

it('a copy gets positions without an assignment only if it wants them', async () => {
  const { send, close } = await gateway(BOTH, [VAN], [])
  await send([fix(NOW - 10)])
  await send([fix(NOW)], 'unknown-one')
  expect(await logOf('7')).toEqual([])
  expect(await logOf('7~')).toEqual([{ device: '0123', timestamp: NOW - 10 }])
  await close()
})

it('a copy gets released fixes that it has not had yet', async () => {
  await enterCopies(redis, [
    { copy: 'crm', log: '7' },
    { copy: 'all', log: '7~' },
  ])
  const { send, put, close } = await gateway(BOTH, [VAN], [])
  await send([fix(NOW - 10), fix(NOW - 5)])
  await put([VAN], [LINE])
  await vi.waitFor(async () => expect(await logOf('7')).toHaveLength(2), { timeout: 60_000 })
  await send([fix(NOW)])
  await vi.waitFor(async () => expect(await logOf('7')).toHaveLength(3), { timeout: 60_000 })
  expect((await logOf('7')).map(({ timestamp }) => timestamp)).toEqual([NOW - 10, NOW - 5, NOW])
  expect((await logOf('7~')).map(({ timestamp, route }) => [timestamp, route])).toEqual([
    [NOW - 10, undefined],
    [NOW - 5, undefined],
    [NOW, '1001'],
  ])
  await close()
})

it.each(['7', '7~', '7 7~'])(
  'a held fix for the copies %s keeps nothing that only copies get while older ones are released',
  async (logs) => {
    const beside = { altitude: 34, satellites: 9, said: { ignition: true, driver: 'Ann' } }
    for (const device of ['356307042441013', 'van-12']) {
      await redis.zadd(keys.releasing, 1, device)
      await storeCopied(redis, [NOW], { device, logs, beside })
      const [record] = await redis.lrangeBuffer(keys.held('no_route', device), 0, -1)
      const bare = packRecords([positionOf(record)], packDevice(device), receivedAt(record))
      expect([deviceOf(record), record.length, record[0]]).toEqual([device, bare.length, bare.length])
    }
    expect(await redis.exists(`${keys.copiedPrefix}7`)).toBe(0)
    expect(await redis.exists(`${keys.copiedPrefix}7~`)).toBe(logs === '7' ? 0 : 1)
  },
)

it('a copy gets the fix of a device with a time zone in UTC, even without a route', async () => {
  const zoned = { ...VAN, time_zone: '+03:00' } as Device
  const { send, close } = await gateway(BOTH, [zoned], [])
  await send([fix(NOW - 10 + 3 * 3600)])
  expect(await logOf('7~')).toEqual([{ device: '0123', timestamp: NOW - 10 }])
  await close()
})

it('a copy gets the fixes of a device that is configured and routed later', async () => {
  const { send, put, close } = await gateway(BOTH, [], [])
  await send([fix(NOW - 10)])
  expect(await redis.keys('*copied*')).toEqual([])
  await put([VAN], [LINE])
  await vi.waitFor(async () => expect(await logOf('7')).toHaveLength(1), { timeout: 60_000 })
  expect(await logOf('7~')).toHaveLength(1)
  await close()
})
