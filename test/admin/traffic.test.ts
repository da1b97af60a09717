import { expect, it } from 'vitest'
import { learn } from '../../src/admin/device/learnt.ts'
import { explainsSilence, knownTraffic, trafficVan } from '../../src/admin/device/traffic.ts'
import type { IndexedDevice } from '../../src/admin/device/device-index.ts'
import { findingOf } from '../../src/diagnose/diagnose.ts'
import type { DeviceFacts } from '../../src/diagnose/device-facts.ts'
import type { Found } from '../../src/diagnose/facts.ts'
import type { DeviceRecord } from '../../src/store/device-record.ts'
import type { SeenProcess } from '../../src/store/index.ts'

const NOW = Date.UTC(2026, 10, 20, 8)
const S = 1000

const HEARD = {
  at: NOW - 5 * S,
  transport: 'tcp',
  protocol: 'gt06',
  port: 5023,
  remote: '10.1.2.3:4711',
  gateway: 'one',
} as DeviceRecord
const FACTS: DeviceFacts = {
  id: '1',
  company: '7',
  route: { courier: '42', route: '1001' },
  heardAt: HEARD.at,
  usualMs: 10 * S,
  fix: { newAt: HEARD.at, time: HEARD.at, speed: 12 },
}
const LEARNT = { heardSince: 0, usualMs: 0, paceMs: 0, gaps: [], sleeps: [], newAt: 0, newest: 0 }

function device(more: object = {}): IndexedDevice {
  const entry = { id: '1', company_id: '7', model: 'FMB920' } as IndexedDevice['entry']
  return { id: '1', place: [0, ''], entry, heard: HEARD, learnt: LEARNT, ...more }
}

function gateway(id: string, more: Partial<SeenProcess> = {}): SeenProcess {
  const pid = id === 'one' ? 1 : 2
  return {
    role: 'gateway',
    pid,
    host: 'a',
    sinceAt: NOW - 900 * S,
    ageMs: 500,
    figures: { gateway: id },
    ...more,
  }
}

const known = (processes: readonly SeenProcess[] = [], ...found: readonly Found[]) =>
  knownTraffic(
    processes,
    found.map((each) => findingOf(each, NOW)),
  )

const traitsBeside = (processes: SeenProcess[]) => trafficVan(device(), FACTS, known(processes))?.traits()

const usualMsOf = (facts: object, paceMs: number) =>
  trafficVan(device({ learnt: { ...LEARNT, paceMs } }), { ...FACTS, ...facts }, known())?.usualMs

const hasStood = (facts: object) => trafficVan(device(), { ...FACTS, ...facts }, known())?.hasStood

it('a van in the traffic figures has its port, protocol, gateway, company, model and networks', () => {
  const van = trafficVan(device(), FACTS, known([gateway('one'), gateway('two')]))
  expect(van?.traits().map(({ kind, value }) => `${kind} ${value}`)).toEqual([
    'port 5023 (tcp)',
    'protocol gt06 (tcp)',
    'gateway 1 on a',
    'company 7',
    'model FMB920',
    'network 10.1.2.3',
    'network 10.1.2.0/24',
    'network 10.1.0.0/16',
  ])
})

it('a van in the traffic figures has no gateway if there is only one', () => {
  expect(traitsBeside([gateway('one')])).not.toContainEqual({ kind: 'gateway', value: '1 on a' })
  expect(traitsBeside([gateway('one'), gateway('two', { ageMs: 60 * S })])).not.toContainEqual(
    expect.objectContaining({ kind: 'gateway' }),
  )
})

it('a van in the traffic figures is expected at the longest of its usual intervals', () => {
  expect(usualMsOf({}, 45 * S)).toBe(45 * S)
  expect(usualMsOf({}, S)).toBe(10 * S)
  expect(usualMsOf({ usualMs: 0 }, S)).toBe(0)
})

it('a van counts as standing if its last position stands, unless its ignition is on', () => {
  const standing = { fix: { newAt: NOW, time: NOW, speed: 0.2 } }
  expect(hasStood({})).toBe(false)
  expect(hasStood(standing)).toBe(true)
  expect(hasStood({ ...standing, said: { ignition: { value: true, at: NOW, sinceAt: NOW } } })).toBe(false)
  expect(hasStood({ fix: { newAt: NOW, time: NOW } })).toBe(false)
})

it.each<[string, object, DeviceFacts, Found[]]>([
  ['has no route now', {}, { ...FACTS, route: undefined }, []],
  ['is not configured', {}, { ...FACTS, company: undefined }, []],
  ['was never heard', { heard: undefined }, { ...FACTS, heardAt: undefined }, []],
  ['is parked', {}, { ...FACTS, said: { ignition: { value: false, at: NOW, sinceAt: NOW, otherAt: 1 } } }, []],
  ['sends to another port', {}, { ...FACTS, sender: { at: NOW, sinceAt: NOW, address: '10.9.9.9:1' } }, []],
  ['sends with a wrong secret', {}, FACTS, [{ code: 'wrong_secret', subject: { device: '1' } }]],
])('the traffic figures leave out a van that %s', (_, more, facts, found) =>
  expect(trafficVan(device(more), facts, known([], ...found))).toBeUndefined(),
)

it.each<[string, boolean, Found[], SeenProcess[]]>([
  ['no gateway lives', true, [{ code: 'no_gateway' }], []],
  ['Redis stores nothing', true, [{ code: 'redis_full' }], []],
  ['a gateway has just begun', true, [], [gateway('one', { sinceAt: NOW - 9 * S })]],
  ['fixes do not add up', false, [{ code: 'custody_difference' }], [gateway('one')]],
  ['a gateway has begun before the clock was set back', false, [], [gateway('one', { sinceAt: NOW + 3600 * S })]],
  ['the API is down', false, [{ code: 'upstream_down' }], [gateway('one')]],
  ['a worker has just begun', false, [], [gateway('one', { role: 'worker', sinceAt: NOW })]],
])('while %s, the silence of vans is explained: %s', (_, isExplained, found, processes) =>
  expect(
    explainsSilence(
      found.map((each) => findingOf(each, NOW)),
      processes,
      NOW,
    ),
  ).toBe(isExplained),
)

it('a delivered backlog does not shorten the usual pace of a device, and a long pause does not lengthen it', () => {
  let van: IndexedDevice | undefined
  const hear = (at: number) => {
    const heard = { ...HEARD, at }
    van = device({ heard, learnt: learn(van, heard) })
  }
  for (let count = 0; count < 10; count++) hear(NOW + count * 60 * S)
  expect(van?.learnt.paceMs).toBe(60 * S)
  for (let count = 0; count < 100; count++) hear(NOW + 4000 * S + count * S)
  expect(van?.learnt.usualMs).toBe(S)
  expect(van?.learnt.paceMs).toBeGreaterThan(50 * S)
  for (let count = 0; count < 360; count++) hear(NOW + 4200 * S + count * 10 * S)
  expect(van?.learnt.paceMs).toBe(10 * S)
})
