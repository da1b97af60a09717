import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { ConditionCollector } from '../../src/admin/device/condition.ts'
import { DeviceIndex } from '../../src/admin/device/device-index.ts'
import { deafWays, knownTraffic } from '../../src/admin/device/traffic.ts'
import { findingOf } from '../../src/diagnose/diagnose.ts'
import type { Finding } from '../../src/diagnose/facts.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import type { Roster } from '../../src/roster/roster.ts'
import { localDay } from '../../src/domain/times.ts'
import { addDayNotes, keys, type Store } from '../../src/store/index.ts'
import { createDirectory } from '../support/roster.ts'
import { withRedis } from '../support/with-redis.ts'

const MIN = 60_000
const soon = { timeout: 30_000 }
let redis: Store
let roster: Roster

withRedis((_, connection) => (redis = connection))
beforeEach(async () => {
  roster = await createDirectory(['1', '2'].map(onRoute), [])
})

function onRoute(id: string) {
  return { id, name: `Van ${id}`, company_id: '7', courier_id: '4', route_id: id, source: 'devices.yaml:1' }
}

async function hear(device: string, at: number, bridge?: string): Promise<void> {
  const book = new HeardBook(redis, () => [], 'gateway')
  const from =
    bridge === undefined
      ? new Conversation('udp', '10.1.2.3:40001')
      : new Conversation('mqtt', `bridge ${bridge}`, { bridge, isRelayed: true })
  book.of(device).spoke(Object.assign(from, { device, now: at }), 'teltonika')
  await book.close()
}

/** Notes that a gateway ran in a minute. */
async function ran(at: number): Promise<void> {
  const day = localDay(at, 'Europe/Vilnius').from
  await addDayNotes(redis, [{ device: '', day, notes: [['connected', at]], fixes: 0, late: 0 }])
}

/** Leaves the last sign of life of a gateway. */
async function signed({ sinceAt, at }: { readonly sinceAt: number; readonly at: number }): Promise<void> {
  const sign = { role: 'gateway', pid: 1, host: 'gate-1', sinceAt, observations: [] }
  await redis.sadd(keys.processIds, 'gateway')
  // It is kept for ten minutes.
  await redis.set(keys.process('gateway'), JSON.stringify(sign), 'PXAT', at + 10 * MIN)
}

function bridgeDown(name: string, sinceAt: number): Finding {
  return findingOf({ code: 'bridge_down', subject: { listener: `bridge ${name}` }, sinceAt }, Date.now())
}

/** Opens what the admin process knows of the vans, and the findings that hold. */
function openCollector() {
  const index = new DeviceIndex({ redis, directory: () => roster, follow: () => {} })
  const holding: Finding[] = []
  const collector = new ConditionCollector({
    redis,
    index,
    idleMs: MIN,
    directory: () => roster,
    isExplained: () => false,
    deafWays: () => deafWays(holding),
    knownTraffic: () => knownTraffic([], holding),
    zone: () => 'Europe/Vilnius',
  })
  const silent = async () => {
    await index.catchUp()
    await collector.look()
    return collector.groups().flatMap(({ code, named }) => (code === 'silent' ? named.map(({ name }) => name) : []))
  }
  return { holding, silent, stopped: () => collector.traffic() }
}

/** Sets the clock of this process, until the end of the test. */
function setClock(now: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now })
  onTestFinished(() => void vi.useRealTimers())
}

it('a van is not silent because nothing could be heard for a while, but one that was silent before still is', async () => {
  await hear('1', Date.now() - 11 * MIN)
  await hear('2', Date.now() - 20 * MIN)
  await ran(Date.now())
  const { holding, silent } = openCollector()
  holding.push(findingOf({ code: 'redis_down', sinceAt: Date.now() - 10 * MIN }, Date.now()))
  expect(await silent()).toEqual(['Van 2'])
  holding.pop()
  await hear('2', Date.now())
  await expect.poll(silent, soon).toEqual([])
})

it.each([
  ['sends to us', undefined],
  ['comes by another bridge', 'south'],
])('a van is not silent because the bridge to its broker is down, but one that %s is', async (_, other) => {
  await hear('1', Date.now() - 11 * MIN, 'north')
  await hear('2', Date.now() - 11 * MIN, other)
  await ran(Date.now())
  const { holding, silent } = openCollector()
  holding.push(bridgeDown('north', Date.now() - 10 * MIN))
  expect(await silent()).toEqual(['Van 2'])
})

it('a van is not silent at the start because no gateway ran before, but if one noted that it ran', async () => {
  await hear('1', Date.now() - 40 * MIN)
  expect(await openCollector().silent()).toEqual([])
  await ran(Date.now() - 10 * MIN)
  expect(await openCollector().silent()).toEqual(['Van 1'])
})

it('a van is not silent at the start because no gateway ran before and after midnight', async () => {
  const midnight = localDay(Date.now(), 'Europe/Vilnius').until
  await hear('1', midnight - 120 * MIN)
  await ran(midnight - 120 * MIN)
  setClock(midnight + 120 * MIN)
  expect(await openCollector().silent()).toEqual([])
})

it('a van is not silent at the start because the gateway that was killed before was not up again', async () => {
  await hear('1', Date.now() - 8 * MIN)
  await signed({ sinceAt: Date.now() - 60 * MIN, at: Date.now() - 8 * MIN })
  expect(await openCollector().silent()).toEqual([])
})

it('a van is not silent at the start because no gateway ran before, even if others have come back', async () => {
  await hear('1', Date.now() - 40 * MIN)
  await signed({ sinceAt: Date.now() - MIN, at: Date.now() })
  await hear('2', Date.now())
  expect(await openCollector().silent()).toEqual([])
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

it('a van is silent after the clock was set forward and back', async () => {
  const now = Date.now()
  await hear('1', now)
  await ran(now)
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now })
  onTestFinished(() => void vi.useRealTimers())
  const { silent } = openCollector()
  for (const set of [now, now + 60 * MIN, now]) {
    vi.setSystemTime(set)
    vi.advanceTimersByTime(MIN)
    expect(await silent()).toEqual([])
  }
  vi.advanceTimersByTime(20 * MIN)
  expect(await silent()).toEqual(['Van 1'])
})

it('time in which a bridge was down counts once while the clock is set forward, too', async () => {
  await hear('1', Date.now() - 20 * MIN, 'north')
  await hear('2', Date.now() - 11 * MIN, 'north')
  await ran(Date.now())
  const { holding, silent } = openCollector()
  holding.push(bridgeDown('north', Date.now() - 10 * MIN))
  expect(await silent()).toEqual(['Van 1'])
  setClock(Date.now() + 60 * MIN)
  expect(await silent()).toEqual(['Van 1'])
})

it('vans have not fallen silent together before they can be heard again by a bridge that was down', async () => {
  const ids = ['1', '2', '3', '4', '5', '6']
  roster = await createDirectory([...ids, '7'].map(onRoute), [])
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() })
  onTestFinished(() => void vi.useRealTimers())
  const { holding, silent, stopped } = openCollector()
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += MIN / 2) {
      vi.advanceTimersByTime(MIN / 2)
      await hear('7', Date.now())
      if (holding.length === 0) for (const id of ids) await hear(id, Date.now(), 'north')
      await silent()
    }
  }
  await pass(3 * MIN)
  holding.push(bridgeDown('north', Date.now()))
  await pass(4 * MIN)
  expect(stopped()).toEqual([])
  holding.pop()
  for (const count of [0, 1]) {
    vi.advanceTimersByTime(count === 0 ? MIN / 2 : 2 * MIN)
    await hear('7', Date.now())
    expect(await silent()).toEqual([])
    expect(stopped()).toHaveLength(count)
  }
})

it.each(['no_gateway', 'redis_down', 'replicas_missing', 'redis_full'] as const)(
  'no van can be heard while %s holds',
  (code) => {
    const others = [findingOf({ code: 'not_stored', sinceAt: 3 }, 9), bridgeDown('north', 4)]
    const found = [findingOf({ code, sinceAt: 5 }, 9), ...others]
    expect(deafWays(found)).toEqual([
      { sinceAt: 5, bridge: undefined },
      { sinceAt: 4, bridge: 'bridge north' },
    ])
  },
)
