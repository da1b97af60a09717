import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Slot, Slots } from '../../../src/gateway/admit/slots.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenMqtt } from '../../../src/gateway/wire/mqtt.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { observations } from '../../../src/observe/observations.ts'
import {
  count,
  dial,
  type Gateway,
  gateway,
  open,
  openConnections,
  refusals,
  talk,
  until,
} from '../../support/listen.ts'
import { protocolNamed } from '../../support/mqtt.ts'
import { connack, connect, raw } from '../../support/mqtt-bytes.ts'
import { inEnglish } from '../../support/texts.ts'

const AT = { host: '127.0.0.1', port: 0, protocol: talk }
const listen = (shared: Gateway) => open(listenTcp(AT, shared))

/** An address of another network than that of the vans. */
const ELSEWHERE = '127.0.9.9'

/** The session of a connection that has named its device, and has sent nothing. */
const session = (remote: string, more: Partial<NonNullable<Slot['session']>> = {}) => ({
  isConfigured: true,
  isProved: false,
  remote,
  storedAt: 0,
  storesEveryMs: 0,
  ...more,
})

/** By `performance.now()`. */
const NOW = 1_000_000
/** A session that sends a fix every ten seconds, the last one `agoS` seconds ago. */
const storing = (agoS = 0) => ({ storedAt: NOW - agoS * 1000, storesEveryMs: 10_000 })
/** A session that has sent one fix. */
const STORED = { storedAt: 1, storesEveryMs: 0 }

/** Connections by name, and which of them were ended. */
function slots(maxPerDevice: number) {
  const made = new Slots(maxPerDevice)
  const ended: string[] = []
  const slot = (name: string, network = 'home'): Slot => ({
    senderLimits: { network },
    abort: (reason) => void ended.push(`${name} ${reason}`),
  })
  return { made, ended, slot }
}

/** A connection of the device at another gateway. */
function elsewhere(slot: Slot, namedAt = 0) {
  const at = { slotDevice: '007', namedAt, gateway: 'other', session: slot.session ?? session('') }
  return { ...slot, ...at, abort: () => {} }
}

describe('connections of one device', () => {
  beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(NOW))
  afterEach(() => void vi.restoreAllMocks())

  it('ends the oldest connections of the network that has most of one device', () => {
    const { made, ended, slot } = slots(3)
    const all = [slot('van'), slot('a', 'other'), slot('b', 'other'), slot('c', 'other'), slot('d', 'other')]
    for (const each of all) {
      made.opened(each)
      made.identified(each, '007')
    }
    expect(ended).toEqual(['a max_per_device', 'b max_per_device'])
  })

  it('ends the latest connection of many networks, first one without a fix, never the newcomer', () => {
    const { made, ended, slot } = slots(3)
    const sent = (name: string) => ({ ...slot(name, name), session: session(name, STORED) })
    const silent = (name: string) => ({ ...slot(name, name), session: session(name) })
    for (const each of [sent('van'), silent('a'), sent('b'), silent('c'), silent('d'), sent('e'), sent('f')])
      made.identified(each, '007')
    expect(ended).toEqual(['a', 'c', 'd', 'e'].map((name) => `${name} max_per_device`))
  })

  it.for([
    ['have shown the secret', { isProved: true }],
    ['are taken for the device', {}],
    ['are not taken for the device', { isConfigured: false }],
  ] as const)(
    'counts connections that %s apart from those of another standing, whether or not there are any',
    ([, own]) => {
      const standings = [{ isProved: true }, {}, { isConfigured: false }]
      const others = standings.filter((each) => JSON.stringify(each) !== JSON.stringify(own))
      const endings = [[], others].map((beside) => {
        const { made, ended, slot } = slots(2)
        for (const [index, each] of beside.entries())
          for (const name of ['one', 'two']) {
            const remote = `${index} ${name}`
            made.identified({ ...slot(remote), session: session(remote, each) }, '007')
          }
        for (const name of ['a', 'b', 'c']) made.identified({ ...slot(name), session: session(name, own) }, '007')
        return ended
      })
      expect(endings).toEqual([['a max_per_device'], ['a max_per_device']])
    },
  )

  it.for([
    ['stores fixes as usual', storing(25)],
    ['is the only one that has stored a fix', STORED],
    ['has stored fixes, and is silent now', storing(100)],
  ] as const)('never ends a connection that %s, however often others log in from its network', ([, at]) => {
    const { made, ended, slot } = slots(4)
    made.identified({ ...slot('van'), session: session('van', at) }, '007')
    for (let n = 0; n < 100; n++) made.identified({ ...slot(`${n}`), session: session(`${n}`) }, '007')
    expect(ended).toEqual(Array.from({ length: 97 }, (_, n) => `${n} max_per_device`))
  })

  it('keeps the new connection of a van that stores a fix, and ends silent connections of its network', () => {
    const { made, ended, slot } = slots(4)
    for (let n = 0; n < 4; n++) made.identified({ ...slot(`${n}`), session: session(`${n}`) }, '007')
    const van = { ...slot('van'), session: session('van') }
    made.identified(van, '007')
    Object.assign(van.session, STORED)
    for (let n = 4; n < 9; n++) made.identified({ ...slot(`${n}`), session: session(`${n}`) }, '007')
    expect(ended).not.toContain('van max_per_device')
  })

  it('ends the oldest silent connection of a van that lost its network again and again', () => {
    const { made, ended, slot } = slots(2)
    for (const name of ['first', 'second'])
      made.identified({ ...slot(name), session: session(name, storing(40)) }, '007')
    made.identified({ ...slot('third'), session: session('third') }, '007')
    expect(ended).toEqual(['first max_per_device'])
  })

  it.for([[['x', 'x', 'x', 'x']], [['x', 'x', 'y', 'y']]])(
    'ends a connection of the networks %s, which store fixes, to admit a van that logs in',
    ([networks]) => {
      const { made, ended, slot } = slots(4)
      for (const [n, network] of networks.entries())
        made.identified({ ...slot(`${n}`, network), session: session(`${n}`, storing()) }, '007')
      made.identified({ ...slot('van'), session: session('van') }, '007')
      expect(ended).toEqual([`${networks.indexOf(networks[3])} max_per_device`])
    },
  )

  it('ends the newcomer of a network whose connections all store, not a van that just stored its first fix', () => {
    const { made, ended, slot } = slots(4)
    made.identified({ ...slot('van'), session: session('van', { storedAt: NOW }) }, '007')
    for (const name of ['a', 'b', 'c'])
      made.identified({ ...slot(name, 'other'), session: session(name, storing()) }, '007')
    for (const name of ['d', 'e']) made.identified({ ...slot(name, 'other'), session: session(name) }, '007')
    expect(ended).toEqual(['d max_per_device', 'e max_per_device'])
  })

  it('ends a silent connection, and not the previous one of a van, when the van logs in anew', () => {
    const { made, ended, slot } = slots(4)
    for (const name of ['a', 'b', 'c']) made.identified({ ...slot(name, name), session: session(name) }, '007')
    made.identified({ ...slot('lost'), session: session('lost', storing()) }, '007')
    made.identified({ ...slot('van'), session: session('van') }, '007')
    expect(ended).toEqual(['c max_per_device'])
  })

  it('ends the newcomer if all other connections of a device store fixes as usual or are just storing one', () => {
    const { made, ended, slot } = slots(2)
    made.identified({ ...slot('van'), session: session('van', storing()) }, '007')
    made.identified({ ...slot('beside'), session: session('beside'), storing: 1 }, '007')
    made.identified({ ...slot('third'), session: session('third') }, '007')
    expect(ended).toEqual(['third max_per_device'])
  })

  it('ends the oldest connection of a device if all come from one network', () => {
    const { made, ended, slot } = slots(2)
    for (const name of ['first', 'second', 'third']) made.identified(slot(name), '007')
    expect(ended).toEqual(['first max_per_device'])
  })

  it('ends a connection at one gateway only if two log in at the same moment at two gateways', () => {
    const both = [
      ['one', 'other'],
      ['other', 'one'],
    ].map(([here, there]) => {
      const { made, ended, slot } = slots(1)
      const at = (name: string): Slot => ({ ...slot(name), session: session(name) })
      const own = at(here)
      made.identified(own, '007')
      made.openedElsewhere(elsewhere(at(there), own.namedAt))
      return ended
    })
    expect(both).toEqual([['one max_per_device'], []])
  })

  it('ends the oldest connection, even if its gateway reports it after later ones', () => {
    const { made, ended, slot } = slots(3)
    const at = (name: string): Slot => ({ ...slot(name), session: session(name) })
    for (const name of ['one', 'two']) made.identified(at(name), '007')
    made.openedElsewhere(elsewhere(at('later'), Date.now() + 1000))
    made.openedElsewhere(elsewhere(at('earlier'), 1))
    expect([ended, made.countOf('007')]).toEqual([[], 3])
  })

  it('does not count closed connections towards the limit of a device', () => {
    const { made, ended, slot } = slots(1)
    for (let i = 0; i < 100; i++) {
      const each = slot(String(i))
      made.opened(each)
      made.identified(each, '007')
      made.closed(each)
    }
    expect([ended, made.makeRoom()]).toEqual([[], false])
  })

  it('counts the connection of a relay for the first device that it names', () => {
    const { made, ended, slot } = slots(1)
    const relay = slot('relay')
    for (const device of ['1', '2', '3']) made.identified(relay, device)
    made.identified(slot('van 2'), '2')
    expect(ended).toEqual([])
    made.identified(slot('van 1'), '1')
    expect(ended).toEqual(['relay max_per_device'])
  })
})

it('makes room by ending the oldest unidentified connection of the network that has most of them', () => {
  const { made, ended, slot } = slots(4)
  for (const each of [slot('van'), slot('a', 'other'), slot('b', 'other')]) made.opened(each)
  expect([made.makeRoom(), made.makeRoom(), made.makeRoom(), made.makeRoom()]).toEqual([true, true, true, false])
  expect(ended).toEqual(['a max_connections', 'van max_connections', 'b max_connections'])
})

it.each([
  ['one network', () => 'other'],
  ['as many networks', (n: number) => `network ${n}`],
])('makes room after 20,000 devices of %s were configured while connected', (_, networkOf) => {
  const { made, ended, slot } = slots(4)
  for (let n = 0; n < 20_000; n++) {
    const own = session(String(n), { isConfigured: false })
    const van = { ...slot(`van ${n}`, networkOf(n)), session: own }
    made.opened(van)
    made.identified(van, String(n))
    own.isConfigured = true
  }
  made.opened(slot('idle', 'other'))
  expect([made.makeRoom(), made.makeRoom()]).toEqual([true, false])
  expect(ended).toEqual(['idle max_connections'])
})

it('ends no connection of a device to make room', () => {
  const { made, slot } = slots(4)
  const van = slot('van')
  made.opened(van)
  made.identified(van, '007')
  expect(made.makeRoom()).toBe(false)
})

it('ends TCP connections of a sender who opens many under the id of a van, and acknowledges the van', async () => {
  const ended = await refusals('max_per_device')
  const { port } = await listen(gateway({ limits: { max_connections_per_device: 4 } }))
  const van = await dial(port)
  van.say('id van-1\n')
  await until(() => expect(van.heard).toBe('hi\n'))
  const others = await Promise.all(Array.from({ length: 40 }, () => dial(port, ELSEWHERE)))
  for (const other of others) other.say('id van-1\n')
  await until(() => expect(others.filter(({ over }) => over)).toHaveLength(37))
  van.say('fix 1\n')
  await until(() => expect(van.heard).toBe('hi\nok 1\n'))
  expect([van.over, await ended()]).toEqual([false, 37])
  const noted = inEnglish(observations.current()).find(
    ({ code, subject }) => code === 'device_connections' && subject.device === 'van-1',
  )
  expect(noted?.evidence.at(-1)).toBe('5 connections, 4 of them from 127.0.9.0/24')
})

it('ends connections of a sender who opens many under the id of a van over TCP and MQTT together', async () => {
  const shared = gateway({ limits: { max_connections_per_device: 4 } })
  const { port } = await listen(shared)
  const mqtt = await open(listenMqtt({ host: '127.0.0.1', port: 0 }, { ...shared, protocolNamed }))
  const van = await raw(mqtt.port)
  van.say(connect({ user: 'van-1', clientId: 'van' }))
  await until(() => expect(van.hex).toBe(connack(0)))
  const others = await Promise.all(Array.from({ length: 10 }, () => dial(port, ELSEWHERE)))
  for (const other of others) other.say('id van-1\n')
  await until(() => expect(others.filter(({ over }) => over)).toHaveLength(7))
  const again = await raw(mqtt.port, ELSEWHERE)
  again.say(connect({ user: 'van-1', clientId: 'other' }))
  await until(() => expect(others.filter(({ over }) => over)).toHaveLength(8))
  expect([van.over, again.hex]).toEqual([false, connack(0)])
})

it('does not count a connection that ended before its device was known', async () => {
  const ended = await refusals('max_per_device')
  const shared = gateway({ limits: { max_connections_per_device: 1 } })
  const { port } = await listen(shared)
  shared.store = 'waits'
  const gone = await dial(port)
  gone.say('id van-1\nfix 1\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(15))
  gone.socket.resetAndDestroy()
  await until(async () => expect(await openConnections('tcp')).toBe(0))
  shared.store = 'takes'
  await until(() => expect(shared.stored).toHaveLength(1))
  const van = await dial(port)
  van.say('id van-1\nfix 2\n')
  await until(() => expect(van.heard).toBe('hi\nok 2\n'))
  expect(await ended()).toBe(0)
})

it('allows a sender only four connections under an invented id', async () => {
  const { port } = await listen(gateway({ admitsUnknown: true, limits: { max_connections_per_device: 4 } }))
  const all = await Promise.all(Array.from({ length: 20 }, () => dial(port, ELSEWHERE)))
  for (const each of all) each.say('id invented\n')
  await until(() => expect(all.filter(({ over }) => over)).toHaveLength(16))
  const van = await dial(port)
  van.say('id 007\nfix 1\n')
  await until(() => expect(van.heard).toBe('hi\nok 1\n'))
})

it('admits a van in place of a silent connection when all places are taken, and reports who has most', async () => {
  await until(async () => expect(await openConnections('tcp')).toBe(0))
  const shared = gateway({ limits: { max_connections: 20 } })
  const { port } = await listen(shared)
  const idle = await Promise.all(Array.from({ length: 20 }, () => dial(port, ELSEWHERE)))
  await until(async () => expect(await openConnections('tcp')).toBe(20))
  const vans = [await dial(port), await dial(port)]
  vans[0].say('id van-1\nfix 1\n')
  vans[1].say('id 007\nfix 2\n')
  await until(() => expect(vans.map(({ heard }) => heard)).toEqual(['hi\nok 1\n', 'hi\nok 2\n']))
  await until(() => expect(idle.filter(({ over }) => over)).toHaveLength(2))
  const noted = inEnglish(observations.current()).find(({ code }) => code === 'connections_full')
  expect(noted?.evidence).toContain('20 connections from 127.0.9.0/24')
})

it('admits a van in place of an unknown device, and not of one that was configured meanwhile', async () => {
  await until(async () => expect(await openConnections('tcp')).toBe(0))
  const shared = gateway({ admitsUnknown: true, limits: { max_connections: 3 } })
  const { port } = await listen(shared)
  const others = await Promise.all(Array.from({ length: 3 }, () => dial(port, ELSEWHERE)))
  for (const [index, other] of others.entries()) {
    other.say(`id new-${index}\nfix 1\n`)
    await until(() => expect(other.heard).toBe('hi\nok 1\n'))
  }
  const [first] = others
  await shared.configure({ id: 'new-0', company_id: '7', source: 'devices.yaml:1' })
  shared.replica.version++
  first.say('fix 2\n')
  await until(() => expect(first.heard).toBe('hi\nok 1\nok 2\n'))
  const van = await dial(port)
  van.say('id van-1\nfix 1\n')
  await until(() => expect(van.heard).toBe('hi\nok 1\n'))
  await until(() => expect(others.map(({ over }) => over)).toEqual([false, true, false]))
})

it('admits a van over TCP in place of an idle HTTP connection when all places are taken', async () => {
  await until(async () => expect(await openConnections('http')).toBe(0))
  const shared = gateway({ limits: { max_connections: 5 } })
  const [tcp, http] = [await listen(shared), await open(listenHttp(AT, shared))]
  const idle = await Promise.all(Array.from({ length: 5 }, () => dial(http.port, ELSEWHERE)))
  await until(async () => expect(await openConnections('http')).toBe(5))
  const van = await dial(tcp.port)
  van.say('id van-1\nfix 1\n')
  await until(() => expect(van.heard).toBe('hi\nok 1\n'))
  await until(() => expect(idle.filter(({ over }) => over)).toHaveLength(1))
})

it('ends an idle connection of an unknown device after 90 s, and of a van later, even if the clock jumps', async () => {
  const ended = await refusals('idle')
  const { port } = await listen(gateway({ admitsUnknown: true, limits: { idle_timeout: 900_000 } }))
  const [van, unknown] = [await dial(port), await dial(port)]
  van.say('id van-1\nfix 1\n')
  unknown.say('id invented\nfix 1\n')
  await until(() => expect([van.heard, unknown.heard]).toEqual(['hi\nok 1\n', 'hi\nok 1\n']))
  const [wall, monotonic] = [Date.now(), performance.now()]
  vi.spyOn(Date, 'now').mockReturnValue(wall + 3_600_000)
  vi.spyOn(performance, 'now').mockReturnValue(monotonic + 91_000)
  await until(() => expect(unknown.over).toBe(true)).finally(() => vi.restoreAllMocks())
  expect([van.over, await ended()]).toEqual([false, 1])
})

it('announces that an idle HTTP connection ends after a minute', async () => {
  const { port } = await open(listenHttp(AT, gateway({ limits: { idle_timeout: 900_000 } })))
  const peer = await dial(port)
  peer.say('GET /fixof%20van-1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => expect(peer.heard).toContain('Keep-Alive: timeout=60'))
})
