import mqtt, { type IClientOptions, type MqttClient } from 'mqtt'
import { describe, expect, it, onTestFinished } from 'vitest'
import fix from '../../protocols/fix/index.ts'
import h02 from '../../protocols/h02/index.ts'
import owntracks from '../../protocols/owntracks/index.ts'
import type { Misunderstood } from '../../src/ingest/misunderstood.ts'
import { listenMqtt } from '../../src/listen/mqtt.ts'
import { createPressure } from '../../src/listen/pressure.ts'
import { count, type Gateway, gateway, open, openConnections, refusals, SECRET, talk, until } from './fixture.ts'
import { connack, connect, puback, pubcomp, publish, pubrec, pubrel, raw } from './mqtt-bytes.ts'

const AT = { host: '127.0.0.1', port: 0 }
const PROTOCOLS = new Map([fix, h02, owntracks, talk].map((protocol) => [protocol.name, protocol]))
const TOPIC = 'devices/van-1/fix'

async function listen(shared: Gateway) {
  const kept: Misunderstood[] = []
  const { port } = await open(
    listenMqtt(AT, { ...shared, protocols: PROTOCOLS, misunderstood: (entry) => kept.push(entry) }),
  )
  return { port, kept }
}

/** A client that is connected, or being connected where it cannot be. */
async function client(port: number, options: IClientOptions & { connects?: boolean } = {}): Promise<MqttClient> {
  const { connects = true, ...rest } = { username: 'van-1', reconnectPeriod: 0, ...options }
  const made = mqtt.connect(`mqtt://127.0.0.1:${port}`, rest)
  onTestFinished(() => void made.end(true))
  made.on('error', () => {})
  if (connects) await new Promise((resolve) => made.once('connect', resolve))
  return made
}

/** The return code that a login is refused with. */
async function refusalOf(port: number, options: IClientOptions): Promise<unknown> {
  const refused = await client(port, { ...options, connects: false })
  return new Promise((resolve) => refused.once('error', (error) => resolve('code' in error ? error.code : error)))
}

function position(more: Record<string, unknown> = {}): string {
  return JSON.stringify({ lat: 50.1, lon: 8.7, timestamp: Math.floor(Date.now() / 1000), ...more })
}

describe('publishing', () => {
  it.for([0, 1, 2] as const)('a fix with QoS %i', async (qos) => {
    const shared = gateway()
    const van = await client((await listen(shared)).port)
    await van.publishAsync(TOPIC, position(), { qos })
    await until(() => expect(shared.stored).toHaveLength(1))
    expect([shared.stored[0].parts[0].lane, shared.stored[0].received]).toEqual(['7/42/1001', 1])
  })

  it.for([1, 2] as const)('is acknowledged once it is stored, not before: QoS %i', async (qos) => {
    const shared = gateway()
    const { port } = await listen(shared)
    const peer = await raw(port)
    peer.say(connect({ user: 'van-1' }))
    await until(() => expect(peer.hex).toBe(connack(0)))
    shared.store = 'waits'
    const payload = position()
    peer.say(publish({ topic: TOPIC, payload, qos, messageId: 9 }))
    await until(async () => expect(await count('in_flight_bytes')).toBe(payload.length))
    peer.say(Buffer.of(0xc0, 0))
    expect(peer.hex).toBe(connack(0))
    shared.store = 'takes'
    await until(() => expect(peer.hex).toContain(qos === 1 ? puback(9) : pubrec(9)))
    expect(shared.stored).toHaveLength(1)
  })

  it('an array of fixes', async () => {
    const shared = gateway()
    const van = await client((await listen(shared)).port)
    await van.publishAsync(TOPIC, `[${position()},${position({ lat: 50.2 })}]`, { qos: 1 })
    expect(shared.stored.map(({ received }) => received)).toEqual([2])
  })

  it('OwnTracks, under any topic of its user', async () => {
    const shared = gateway()
    const van = await client((await listen(shared)).port)
    const payload = JSON.stringify({ _type: 'location', lat: 50.1, lon: 8.7, tst: Math.floor(Date.now() / 1000) })
    await van.publishAsync('owntracks/van-1/phone', payload, { qos: 1 })
    await van.publishAsync('owntracks/van-1/phone/event', payload, { qos: 1 })
    expect(shared.stored).toHaveLength(2)
  })

  it('a raw frame of another protocol', async () => {
    const shared = gateway()
    const van = await client((await listen(shared)).port, { username: '8168000008' })
    const frame = '*HQ,8168000008,V1,043602,A,2234.9273,N,11354.3980,E,000.06,000,160618,FFFFFBFF,460,00,10342,4283#'
    await van.publishAsync('devices/8168000008/h02', frame, { qos: 1 })
    expect(shared.stored[0].parts[0].lane).toBe('7/45/1004')
  })

  it('with other zeros before its id', async () => {
    const shared = gateway()
    const van = await client((await listen(shared)).port, { username: '7' })
    await van.publishAsync('devices/0007/fix', position(), { qos: 1 })
    expect(shared.stored[0].parts[0].lane).toBe('7/43/1002')
  })

  it('many at once, each acknowledged', async () => {
    const shared = gateway()
    const van = await client((await listen(shared)).port)
    await Promise.all(Array.from({ length: 500 }, () => van.publishAsync(TOPIC, position(), { qos: 1 })))
    expect(shared.stored).toHaveLength(500)
  })

  it('behind CONNECT in one chunk', async () => {
    const shared = gateway()
    const { port } = await listen(shared)
    const peer = await raw(port)
    const all = Array.from({ length: 100 }, (_, i) => i + 1)
    const packets = all.map((messageId) => publish({ topic: TOPIC, payload: position(), qos: 1, messageId }))
    peer.say(Buffer.concat([connect({ user: 'van-1' }), ...packets]))
    await until(() => expect(peer.hex).toBe(connack(0) + all.map(puback).join('')))
    expect(shared.stored).toHaveLength(100)
  })

  it('byte by byte', async () => {
    const { port } = await listen(gateway())
    const peer = await raw(port)
    for (const byte of Buffer.concat([
      connect({ user: 'van-1' }),
      publish({ topic: TOPIC, payload: position(), qos: 1 }),
    ])) {
      peer.say(Buffer.of(byte))
      await new Promise(setImmediate)
    }
    await until(() => expect(peer.hex).toBe(connack(0) + puback(1)))
  })

  it('a retained message like any other', async () => {
    const shared = gateway()
    const van = await client((await listen(shared)).port)
    await van.publishAsync(TOPIC, position(), { qos: 1, retain: true })
    expect(shared.stored).toHaveLength(1)
  })

  it.for([3, 4] as const)('with version %i of the protocol', async (version) => {
    const shared = gateway()
    const { port } = await listen(shared)
    const peer = await raw(port)
    peer.say(connect({ user: 'van-1', version, clientId: 'a-client-id-of-more-than-23-characters' }))
    peer.say(publish({ topic: TOPIC, payload: position(), qos: 1 }))
    await until(() => expect(peer.hex).toBe(connack(0) + puback(1)))
  })
})

describe('what is not understood', () => {
  it('is acknowledged, counted and kept', async () => {
    const errors = await count('decode_errors_total', { protocol: 'fix', reason: 'malformed' })
    const shared = gateway()
    const { port, kept } = await listen(shared)
    const van = await client(port)
    await van.publishAsync(TOPIC, 'garbage', { qos: 1 })
    await van.publishAsync(TOPIC, '', { qos: 2 })
    expect(await count('decode_errors_total', { protocol: 'fix', reason: 'malformed' })).toBe(errors + 2)
    expect(kept.map(({ device, protocol, reason, payload }) => [device, protocol, reason, payload.toString()])).toEqual(
      [
        ['van-1', 'fix', 'malformed', 'garbage'],
        ['van-1', 'fix', 'malformed', ''],
      ],
    )
    await van.publishAsync(TOPIC, position(), { qos: 1 })
    expect(shared.stored).toHaveLength(1)
  })
})

describe('what cannot be stored', () => {
  it('ends the connection unacknowledged, and is taken when it comes again', async () => {
    const shared = gateway()
    const van = await client((await listen(shared)).port, { reconnectPeriod: 20 })
    let closed = 0
    van.on('close', () => closed++)
    shared.store = 'fails'
    let acknowledged = false
    const published = van.publishAsync(TOPIC, position(), { qos: 1 }).finally(() => (acknowledged = true))
    await until(() => expect(closed).toBeGreaterThan(1))
    expect(acknowledged).toBe(false)
    shared.store = 'takes'
    await published
    expect(shared.stored).toHaveLength(1)
  })

  it('through a fault of ours ends that connection alone', async () => {
    const shared = gateway()
    const ingest: Gateway['ingest'] = async (frame, session, protocol) => {
      if (frame.toString() === 'fault') throw new RangeError('a fault of ours')
      return shared.ingest(frame, session, protocol)
    }
    const { port } = await listen({ ...shared, ingest })
    const [first, second] = [await client(port), await client(port)]
    const closed = new Promise((resolve) => first.once('close', () => resolve(undefined)))
    first.publish(TOPIC, 'fault', { qos: 2 })
    await closed
    await second.publishAsync(TOPIC, position(), { qos: 1 })
    expect([first.connected, shared.stored.length, await count('in_flight_bytes')]).toEqual([false, 1, 0])
  })
})

describe('QoS 2', () => {
  const message = { topic: TOPIC, payload: position(), qos: 2, messageId: 7 } as const
  const login = connect({ user: 'van-1', clean: false })

  async function start(shared: Gateway) {
    const { port } = await listen(shared)
    const peer = await raw(port)
    peer.say(login)
    await until(() => expect(peer.hex).toBe(connack(0)))
    return { port, peer }
  }

  it('stores a message once that comes again on its connection', async () => {
    const shared = gateway()
    const { peer } = await start(shared)
    peer.say(publish(message))
    peer.say(publish({ ...message, dup: true }))
    await until(() => expect(peer.hex).toBe(connack(0) + pubrec(7) + pubrec(7)))
    expect(shared.stored).toHaveLength(1)
  })

  it('stores a message once that comes again in its session', async () => {
    const shared = gateway()
    const { port, peer } = await start(shared)
    peer.say(publish(message))
    await until(() => expect(peer.hex).toBe(connack(0) + pubrec(7)))
    peer.socket.destroy()
    const again = await raw(port)
    again.say(login)
    again.say(publish({ ...message, dup: true }))
    await until(() => expect(again.hex).toBe(connack(0) + pubrec(7)))
    again.say(pubrel(7))
    await until(() => expect(again.hex).toBe(connack(0) + pubrec(7) + pubcomp(7)))
    expect(shared.stored).toHaveLength(1)
  })

  it('stores a message once that comes again while it is being stored', async () => {
    const shared = gateway()
    const { port, peer } = await start(shared)
    shared.store = 'waits'
    peer.say(publish(message))
    await until(async () => expect(await count('in_flight_bytes')).toBe(message.payload.length))
    const again = await raw(port)
    again.say(login)
    again.say(publish({ ...message, dup: true }))
    await until(() => expect(again.hex).toBe(connack(0)))
    await until(() => expect(peer.over).toBe(true))
    shared.store = 'takes'
    await until(() => expect(again.hex).toBe(connack(0) + pubrec(7)))
    expect(shared.stored).toHaveLength(1)
  })

  it('stores a message again that could not be stored', async () => {
    const shared = gateway()
    const { port, peer } = await start(shared)
    shared.store = 'fails'
    peer.say(publish(message))
    await until(() => expect(peer.over).toBe(true))
    expect(peer.hex).toBe(connack(0))
    shared.store = 'takes'
    const again = await raw(port)
    again.say(login)
    again.say(publish({ ...message, dup: true }))
    await until(() => expect(again.hex).toBe(connack(0) + pubrec(7)))
    expect(shared.stored).toHaveLength(1)
  })

  it('stores what has the identifier of a message before it: after its release, or where it says something else', async () => {
    const shared = gateway()
    const { peer } = await start(shared)
    peer.say(publish(message))
    peer.say(publish({ ...message, payload: position({ lat: 50.2 }) }))
    await until(() => expect(peer.hex).toBe(connack(0) + pubrec(7) + pubrec(7)))
    peer.say(pubrel(7))
    await until(() => expect(peer.hex).toBe(connack(0) + pubrec(7) + pubrec(7) + pubcomp(7)))
    peer.say(publish(message))
    await until(() => expect(peer.hex).toBe(connack(0) + pubrec(7) + pubrec(7) + pubcomp(7) + pubrec(7)))
    expect(shared.stored).toHaveLength(3)
  })

  it('forgets with a clean session', async () => {
    const shared = gateway()
    const { port, peer } = await start(shared)
    peer.say(publish(message))
    await until(() => expect(peer.hex).toBe(connack(0) + pubrec(7)))
    for (const clean of [true, false]) {
      const again = await raw(port)
      again.say(connect({ user: 'van-1', clean }))
      again.say(publish({ ...message, dup: true }))
      await until(() => expect(again.hex).toBe(connack(0) + pubrec(7)))
    }
    expect(shared.stored).toHaveLength(3)
  })

  it('takes any number of messages that are never released', async () => {
    const shared = gateway()
    const { peer } = await start(shared)
    for (let messageId = 1; messageId <= 2500; messageId++) peer.say(publish({ ...message, messageId }))
    await until(() => expect(peer.hex).toHaveLength(8 * 2501))
    expect([shared.stored.length, peer.over]).toEqual([2500, false])
  })
})

describe('who may', () => {
  it('not log in: a device that is not known', async () => {
    const refused = await refusals('unknown_device')
    const { port } = await listen(gateway())
    expect(await refusalOf(port, { username: 'nobody' })).toBe(5)
    expect(await refusalOf(port, { username: undefined })).toBe(5)
    expect(await refusalOf(port, { username: '__proto__' })).toBe(5)
    expect(await refused()).toBe(3)
    await until(async () => expect(await openConnections('mqtt')).toBe(0))
  })

  it('not log in: a wrong password, or none', async () => {
    const refused = await refusals('wrong_secret')
    const { port } = await listen(gateway())
    expect(await refusalOf(port, { username: 'locked', password: 'guess' })).toBe(4)
    expect(await refusalOf(port, { username: 'locked' })).toBe(4)
    expect(await refused()).toBe(2)
  })

  it('log in: the right password', async () => {
    const shared = gateway()
    const van = await client((await listen(shared)).port, { username: 'locked', password: SECRET })
    await van.publishAsync('devices/locked/fix', position(), { qos: 1 })
    expect(shared.stored[0].parts[0].lane).toBe('7/44/1003')
  })

  it('not log in: MQTT 5', async () => {
    const refused = await refusals('protocol_version')
    const { port } = await listen(gateway())
    const peer = await raw(port)
    peer.say(connect({ user: 'van-1', version: 5 }))
    await until(() => expect(peer.over).toBe(true))
    expect([peer.hex, await refused()]).toEqual([connack(1), 1])
  })

  it.for([
    ['other_device', 'devices/007/fix'],
    ['other_device', 'devices/nobody/fix'],
    ['other_device', 'owntracks/007/phone'],
    ['unknown_topic', 'devices/van-1/nonsense'],
    ['unknown_topic', 'devices/van-1/fix/more'],
    ['unknown_topic', 'devices/van-1/__proto__'],
    ['unknown_topic', 'owntracks/van-1'],
    ['unknown_topic', 'fix'],
    ['unknown_topic', '$SYS/van-1/fix'],
  ])('not publish: %s, %s', async ([reason, topic]) => {
    const refused = await refusals(reason)
    const shared = gateway()
    const { port } = await listen(shared)
    const peer = await raw(port)
    peer.say(connect({ user: 'van-1' }))
    peer.say(publish({ topic, payload: position(), qos: 1 }))
    await until(() => expect(peer.over).toBe(true))
    expect([peer.hex, await refused(), shared.stored]).toEqual([connack(0), 1, []])
  })

  it('not say in a frame that it is another device', async () => {
    const refused = await refusals('other_device')
    const shared = gateway()
    const { port } = await listen(shared)
    const peer = await raw(port)
    peer.say(connect({ user: 'van-1' }))
    peer.say(publish({ topic: 'devices/van-1/talk', payload: 'fixof 007', qos: 1 }))
    await until(() => expect(peer.over).toBe(true))
    expect([peer.hex, await refused(), shared.stored]).toEqual([connack(0), 1, []])
  })

  it('not subscribe', async () => {
    const { port } = await listen(gateway())
    const peer = await raw(port)
    peer.say(connect({ user: 'van-1' }))
    peer.say(Buffer.from('82060001000123'.padEnd(14, '0') + '01', 'hex'))
    await until(() => expect(peer.hex).toBe(`${connack(0)}9003000180`))
  })

  it('not hear what others publish', async () => {
    const { port } = await listen(gateway())
    const [first, second] = [await client(port), await client(port, { username: '007' })]
    const heard: string[] = []
    second.on('message', (topic) => heard.push(topic))
    await second.subscribeAsync(['#', TOPIC]).catch(() => {})
    await first.publishAsync(TOPIC, position(), { qos: 1, retain: true })
    await second.publishAsync('devices/007/fix', position(), { qos: 1 })
    expect(heard).toEqual([])
  })

  it('not leave a will', async () => {
    const shared = gateway()
    const { port } = await listen(shared)
    const van = await client(port, { will: { topic: TOPIC, payload: Buffer.from(position()), qos: 1, retain: true } })
    van.stream.destroy()
    await until(() => expect(shared.goneDevices).toEqual(['van-1']))
    const other = await client(port)
    await other.publishAsync(TOPIC, position(), { qos: 1 })
    expect(shared.stored).toHaveLength(1)
  })
})

describe('a client id', () => {
  it('of another device ends nobody', async () => {
    const { port } = await listen(gateway())
    const first = await client(port, { clientId: 'tracker' })
    const second = await client(port, { clientId: 'tracker', username: '007' })
    await second.publishAsync('devices/007/fix', position(), { qos: 1 })
    await first.publishAsync(TOPIC, position(), { qos: 1 })
    expect([first.connected, second.connected]).toEqual([true, true])
  })

  it('of its own ends its older connection', async () => {
    const { port } = await listen(gateway())
    const first = await client(port, { clientId: 'tracker' })
    const second = await client(port, { clientId: 'tracker' })
    await until(() => expect(first.connected).toBe(false))
    await second.publishAsync(TOPIC, position(), { qos: 1 })
  })

  it('with a wrong password ends nobody', async () => {
    const { port } = await listen(gateway())
    const van = await client(port, { clientId: 'tracker', username: 'locked', password: SECRET })
    expect(await refusalOf(port, { clientId: 'tracker', username: 'locked', password: 'guess' })).toBe(4)
    await van.publishAsync('devices/locked/fix', position(), { qos: 1 })
    expect(van.connected).toBe(true)
  })

  it('may be left out, by any number of connections', async () => {
    const { port } = await listen(gateway())
    const [first, second] = [await raw(port), await raw(port)]
    first.say(connect({ user: 'van-1', clientId: '' }))
    await until(() => expect(first.hex).toBe(connack(0)))
    second.say(connect({ user: 'van-1', clientId: '' }))
    await until(() => expect(second.hex).toBe(connack(0)))
    first.say(publish({ topic: TOPIC, payload: position(), qos: 1 }))
    await until(() => expect(first.hex).toBe(connack(0) + puback(1)))
  })
})

describe('too much', () => {
  it('a packet that is too long, before its body is read', async () => {
    const refused = await refusals('frame_too_long')
    const { port } = await listen(gateway())
    const peer = await raw(port)
    peer.say(connect({ user: 'van-1' }))
    await until(() => expect(peer.hex).toBe(connack(0)))
    peer.say(Buffer.from('30ffffff7f', 'hex'))
    await until(() => expect(peer.over).toBe(true))
    expect(await refused()).toBe(1)
  })

  it('a packet just as long as it may be is none', async () => {
    const { port, kept } = await listen(gateway())
    const van = await client(port)
    await van.publishAsync(TOPIC, 'x'.repeat(4096), { qos: 1 })
    expect(kept[0].payload).toHaveLength(4096)
  })

  it.for([
    ['frame_too_long', '10ffffff7f'],
    ['malformed_packet', '108080808001'],
    ['frame_too_long', '10818001'],
  ])('%s, before the login: %s', async ([reason, bytes]) => {
    const refused = await refusals(reason)
    const { port } = await listen(gateway({ limits: { max_frame_bytes: 65_536 } }))
    const peer = await raw(port)
    peer.say(Buffer.from(bytes, 'hex'))
    await until(() => expect(peer.over).toBe(true))
    expect([peer.hex, await refused()]).toEqual(['', 1])
  })

  it('connections from an address', async () => {
    const refused = await refusals('max_per_ip')
    const { port } = await listen(gateway({ limits: { max_connections_per_ip: 1 } }))
    const van = await client(port)
    const second = await raw(port)
    await until(() => expect(second.over).toBe(true))
    await van.endAsync()
    await until(async () => expect(await openConnections('mqtt')).toBe(0))
    const third = await client(port)
    expect([third.connected, await refused()]).toEqual([true, 1])
  })

  it.for([
    ['no MQTT at all', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a ping before the login', Buffer.of(0xc0, 0)],
    ['two logins', Buffer.concat([connect({ user: 'van-1' }), connect({ user: 'van-1' })])],
    [
      'a wildcard in a topic',
      Buffer.concat([connect({ user: 'van-1' }), publish({ topic: '#', payload: '', qos: 1 })]),
    ],
    ['a packet of no kind', Buffer.concat([connect({ user: 'van-1' }), Buffer.of(0xf0, 0)])],
  ])('%s', async ([, bytes]) => {
    const refused = await refusals('malformed_packet')
    const { port } = await listen(gateway())
    const van = await client(port)
    const peer = await raw(port)
    peer.say(bytes)
    await until(() => expect(peer.over).toBe(true))
    expect([await refused(), van.connected]).toEqual([1, true])
  })
})

describe('time', () => {
  it('ends a connection that says nothing', async () => {
    const refused = await refusals('not_identified')
    const { port } = await listen(gateway({ limits: { identify_timeout: 100 } }))
    const peer = await raw(port)
    await until(() => expect(peer.over).toBe(true))
    expect(await refused()).toBe(1)
  })

  it('ends a connection whose login comes a byte now and then', async () => {
    const refused = await refusals('not_identified')
    const { port } = await listen(gateway({ limits: { identify_timeout: 500 } }))
    const peer = await raw(port)
    peer.say(Buffer.from('1020', 'hex'))
    const timer = setInterval(() => peer.say('x'), 100)
    await until(() => expect(peer.over).toBe(true))
    clearInterval(timer)
    expect(await refused()).toBe(1)
  })

  it.for([
    ['idle_timeout', 0, 1000],
    ['the keep alive that it promised', 1, 60_000],
  ] as const)('ends a device that says nothing for %s, and tells so', async ([, keepalive, idle_timeout]) => {
    const refused = await refusals('idle')
    const shared = gateway({ limits: { idle_timeout } })
    const { port } = await listen(shared)
    const [silent, talking] = [await raw(port), await raw(port)]
    const login = connect({ user: 'van-1', clientId: 'silent' })
    login[11] = keepalive
    silent.say(login)
    talking.say(connect({ user: '007' }))
    const timer = setInterval(() => talking.say(Buffer.of(0xc0, 0)), 100)
    await until(() => expect(silent.over).toBe(true))
    clearInterval(timer)
    expect([silent.hex, talking.over, await refused()]).toEqual([connack(0), false, 1])
    expect(shared.goneDevices).toEqual(['van-1'])
  })
})

describe('pressure', () => {
  it('stops reading, and blames nobody for the silence', async () => {
    const limits = { idle_timeout: 500, identify_timeout: 500 }
    const shared = gateway({ limits, pressure: createPressure(10, 5) })
    const { port } = await listen(shared)
    const [first, second] = [await raw(port), await raw(port)]
    first.say(connect({ user: 'van-1', clientId: '1' }))
    second.say(connect({ user: 'van-1', clientId: '2' }))
    await until(() => expect([first.hex, second.hex]).toEqual([connack(0), connack(0)]))
    shared.store = 'waits'
    const payload = position()
    first.say(publish({ topic: TOPIC, payload, qos: 1 }))
    await until(() => expect(shared.pressure.high).toBe(true))
    second.say(publish({ topic: TOPIC, payload, qos: 1 }))
    const third = await raw(port)
    third.say(connect({ user: 'van-1', clientId: '3' }))
    const since = Date.now()
    await until(() => expect(Date.now() - since).toBeGreaterThan(1200))
    expect(await count('in_flight_bytes')).toBe(payload.length)
    expect(third.hex).toBe('')
    shared.store = 'takes'
    await until(() => expect([first.hex, second.hex]).toEqual(Array(2).fill(connack(0) + puback(1))))
    await until(() => expect(third.hex).toBe(connack(0)))
  })
})

describe('closing', () => {
  it('stores and answers first what was read', async () => {
    const shared = gateway()
    const listener = await listenMqtt(AT, { ...shared, protocols: PROTOCOLS, misunderstood: () => {} })
    const [busy, twice, silent] = [await raw(listener.port), await raw(listener.port), await raw(listener.port)]
    busy.say(connect({ user: 'van-1' }))
    twice.say(connect({ user: '007' }))
    await until(() => expect(busy.hex + twice.hex).toBe(connack(0) + connack(0)))
    shared.store = 'waits'
    const payload = position()
    busy.say(publish({ topic: TOPIC, payload, qos: 1 }))
    twice.say(publish({ topic: 'devices/7/fix', payload, qos: 2 }))
    await until(async () => expect(await count('in_flight_bytes')).toBe(2 * payload.length))
    const closed = listener.close()
    shared.store = 'takes'
    await closed
    await until(() => expect([busy.hex, twice.hex]).toEqual([connack(0) + puback(1), connack(0) + pubrec(1)]))
    await until(() => expect([busy.over, twice.over, silent.over]).toEqual([true, true, true]))
    expect(await openConnections('mqtt')).toBe(0)
  })

  it('says why a port cannot be opened', async () => {
    const { port } = await listen(gateway())
    const again = listenMqtt({ ...AT, port }, { ...gateway(), protocols: PROTOCOLS, misunderstood: () => {} })
    await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})
