import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { ConditionCollector } from '../../src/admin/device/condition.ts'
import { DeviceIndex } from '../../src/admin/device/device-index.ts'
import { deafSince } from '../../src/admin/device/traffic.ts'
import { findingOf } from '../../src/diagnose/diagnose.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import type { Roster } from '../../src/roster/roster.ts'
import { localDay } from '../../src/domain/times.ts'
import { addDayNotes, type Store } from '../../src/store/index.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'

const MIN = 60_000
const soon = { timeout: 30_000 }
let redis: Store
let roster: Roster

withRedis((_, connection) => (redis = connection))
beforeEach(async () => {
  const devices = ['1', '2'].map((id) => ({
    id,
    name: `Van ${id}`,
    company_id: '7',
    courier_id: '4',
    route_id: id,
    source: 'devices.yaml:1',
  }))
  roster = await createDirectory(devices, [])
})

async function hear(device: string, at: number, isBridged = false): Promise<void> {
  const book = new HeardBook(redis)
  const from = new Conversation(isBridged ? 'mqtt' : 'udp', '10.1.2.3:40001', { isRelayed: isBridged })
  book.of(device).spoke(Object.assign(from, { device, now: at }), 'teltonika')
  await book.close()
}

/** Notes that a gateway ran in a minute. */
async function ran(at: number): Promise<void> {
  const day = localDay(at, 'Europe/Vilnius').from
  await addDayNotes(redis, [{ device: '', day, notes: [['connected', at]], fixes: 0, late: 0 }])
}

/** Opens what the admin process knows of the vans. `deaf`: since when a finding says that none can be heard. */
function openCollector() {
  const index = new DeviceIndex({ redis, directory: () => roster, follow: () => {} })
  const known = { gateways: new Map(), sendingInVain: new Set<string>(), isBridgeDown: false }
  const finding = { since: undefined as number | undefined, way: 'any' }
  const collector = new ConditionCollector({
    redis,
    index,
    idleMs: MIN,
    directory: () => roster,
    isExplained: () => false,
    deafSince: (way) => (way === finding.way ? finding.since : undefined),
    knownTraffic: () => known,
    zone: () => 'Europe/Vilnius',
  })
  const silent = async () => {
    await index.catchUp()
    await collector.look()
    return collector.groups().flatMap(({ code, named }) => (code === 'silent' ? named.map(({ name }) => name) : []))
  }
  return { finding, silent }
}

/** Sets the clock of this process forward, until the end of the test. */
function setClock(now: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now })
  onTestFinished(() => void vi.useRealTimers())
}

it('a van is not silent because nothing could be heard for a while, but one that was silent before still is', async () => {
  await hear('1', Date.now() - 11 * MIN)
  await hear('2', Date.now() - 20 * MIN)
  await ran(Date.now())
  const { finding, silent } = openCollector()
  finding.since = Date.now() - 10 * MIN
  expect(await silent()).toEqual(['Van 2'])
  finding.since = undefined
  await hear('2', Date.now())
  await expect.poll(silent, soon).toEqual([])
})

it('a van is not silent because the bridge to its broker is down, but one that sends to us is', async () => {
  await hear('1', Date.now() - 11 * MIN, true)
  await hear('2', Date.now() - 11 * MIN)
  await ran(Date.now())
  const { finding, silent } = openCollector()
  Object.assign(finding, { since: Date.now() - 10 * MIN, way: 'bridge' })
  expect(await silent()).toEqual(['Van 2'])
})

it('a van is not silent at the start because no gateway ran before, but if one noted that it ran', async () => {
  await hear('1', Date.now() - 40 * MIN)
  expect(await openCollector().silent()).toEqual([])
  await ran(Date.now() - 10 * MIN)
  expect(await openCollector().silent()).toEqual(['Van 1'])
})

it('a van is not silent because the clock was set forward', async () => {
  await hear('1', Date.now() - MIN)
  await hear('2', Date.now() - 20 * MIN)
  await ran(Date.now())
  const { silent } = openCollector()
  expect(await silent()).toEqual(['Van 2'])
  setClock(Date.now() + 60 * MIN)
  await hear('2', Date.now())
  await expect.poll(silent, soon).toEqual([])
})

it('time in which a bridge was down counts once while the clock is set forward, too', async () => {
  await hear('1', Date.now() - 20 * MIN, true)
  await hear('2', Date.now() - 11 * MIN, true)
  await ran(Date.now())
  const { finding, silent } = openCollector()
  Object.assign(finding, { since: Date.now() - 10 * MIN, way: 'bridge' })
  expect(await silent()).toEqual(['Van 1'])
  setClock(Date.now() + 60 * MIN)
  expect(await silent()).toEqual(['Van 1'])
})

it.each(['no_gateway', 'redis_down', 'replicas_missing', 'redis_full'] as const)(
  'no van can be heard while %s holds',
  (code) => {
    const others = [findingOf({ code: 'not_stored', sinceAt: 3 }, 9), findingOf({ code: 'bridge_down', sinceAt: 4 }, 9)]
    expect(deafSince([findingOf({ code, sinceAt: 5 }, 9), ...others], 'any')).toBe(5)
    expect([deafSince(others, 'any'), deafSince(others, 'bridge')]).toEqual([undefined, 4])
  },
)
