import { expect, it, vi } from 'vitest'
import { count, type Gateway, gateway, stopTime, until } from '../../support/listen.ts'
import { client, listen, position, TOPIC } from '../../support/mqtt.ts'
import { connack, connect, puback, publish, pubrec, raw } from '../../support/mqtt-bytes.ts'

const DISCONNECT = Buffer.of(0xe0, 0)

it.for([0, 1, 2] as const)('stores a fix published with QoS %i', async (qos) => {
  const shared = gateway()
  const van = await client((await listen(shared)).port)
  await van.publishAsync(TOPIC, position(), { qos })
  await until(() => expect(shared.stored).toHaveLength(1))
  expect([shared.places[0], shared.stored[0].received]).toEqual(['7/42/1001', 1])
})

it.for([1, 2] as const)('acknowledges a publication with QoS %i once it is stored, not before', async (qos) => {
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

it('stores an array of fixes published over MQTT', async () => {
  const shared = gateway()
  const van = await client((await listen(shared)).port)
  await van.publishAsync(TOPIC, `[${position()},${position({ lat: 50.2 })}]`, { qos: 1 })
  expect(shared.stored.map(({ received }) => received)).toEqual([2])
})

it('stores OwnTracks JSON under any topic of its user', async () => {
  const shared = gateway()
  const van = await client((await listen(shared)).port)
  const payload = JSON.stringify({ _type: 'location', lat: 50.1, lon: 8.7, tst: Math.floor(Date.now() / 1000) })
  await van.publishAsync('owntracks/van-1/phone', payload, { qos: 1 })
  await van.publishAsync('owntracks/van-1/phone/event', payload, { qos: 1 })
  expect(shared.stored).toHaveLength(2)
})

it('stores a raw frame of another protocol published over MQTT', async () => {
  const shared = gateway()
  const van = await client((await listen(shared)).port, { username: '8168000008' })
  const frame = '*HQ,8168000008,V1,043602,A,2234.9273,N,11354.3980,E,000.06,000,160618,FFFFFBFF,460,00,10342,4283#'
  await van.publishAsync('devices/8168000008/h02', frame, { qos: 1 })
  expect(shared.places[0]).toBe('7/45/1004')
})

it('accepts a topic that spells the device id with other leading zeros', async () => {
  const shared = gateway()
  const van = await client((await listen(shared)).port, { username: '7' })
  await van.publishAsync('devices/0007/fix', position(), { qos: 1 })
  expect(shared.places[0]).toBe('7/43/1002')
})

it('acknowledges each of 500 publications sent at once', async () => {
  const shared = gateway()
  const van = await client((await listen(shared)).port)
  await Promise.all(Array.from({ length: 500 }, () => van.publishAsync(TOPIC, position(), { qos: 1 })))
  expect(shared.stored).toHaveLength(500)
})

it('accepts 100 publications in one chunk with their CONNECT', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const peer = await raw(port)
  const all = Array.from({ length: 100 }, (_, i) => i + 1)
  const packets = all.map((messageId) => publish({ topic: TOPIC, payload: position(), qos: 1, messageId }))
  peer.say(Buffer.concat([connect({ user: 'van-1' }), ...packets]))
  await until(() => expect(peer.hex).toBe(connack(0) + all.map(puback).join('')))
  expect(shared.stored).toHaveLength(100)
})

it.for([
  ['without waiting for CONNACK', true, 1],
  ['after CONNACK', false, 1],
  ['after CONNACK, with more packets than are taken at once', false, 250],
] as const)('stores publications of an MQTT client that ends its connection %s', async ([, isInOne, fixes]) => {
  const shared = gateway()
  const { port } = await listen(shared)
  const peer = await raw(port)
  const login = connect({ user: 'van-1' })
  if (!isInOne) {
    peer.say(login)
    await until(() => expect(peer.hex).toBe(connack(0)))
  }
  const published = Array.from({ length: fixes }, () => publish({ topic: TOPIC, payload: position(), qos: 0 }))
  peer.socket.end(Buffer.concat([...(isInOne ? [login] : []), ...published, DISCONNECT]))
  await until(() => expect(peer.over).toBe(true))
  await until(() => expect(shared.stored).toHaveLength(fixes))
})

it('acknowledges publications of an MQTT client that has ended its half of the connection at once', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  shared.store = 'waits'
  const peer = await raw(port)
  const all = Array.from({ length: 150 }, (_, index) => index + 1)
  const packets = all.map((messageId) => publish({ topic: TOPIC, payload: position(), qos: 1, messageId }))
  peer.socket.end(Buffer.concat([connect({ user: 'van-1' }), ...packets]))
  await until(() => expect(shared.tries).toBeGreaterThan(0))
  shared.store = 'takes'
  await until(() => expect(peer.over).toBe(true))
  expect(peer.hex).toBe(connack(0) + all.map(puback).join(''))
})

it('accepts an MQTT CONNECT and a PUBLISH that arrive byte by byte', async () => {
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

it('stores a retained publication like any other', async () => {
  const shared = gateway()
  const van = await client((await listen(shared)).port)
  await van.publishAsync(TOPIC, position(), { qos: 1, retain: true })
  expect(shared.stored).toHaveLength(1)
})

it.for([3, 4] as const)('stores a fix published with version %i of MQTT', async (version) => {
  const shared = gateway()
  const { port } = await listen(shared)
  const peer = await raw(port)
  peer.say(connect({ user: 'van-1', version, clientId: 'a-client-id-of-more-than-23-characters' }))
  peer.say(publish({ topic: TOPIC, payload: position(), qos: 1 }))
  await until(() => expect(peer.hex).toBe(connack(0) + puback(1)))
})

it('acknowledges, counts and keeps an MQTT payload that is not understood', async () => {
  const errors = await count('decode_errors_total', { protocol: 'fix', reason: 'malformed' })
  const shared = gateway()
  const van = await client((await listen(shared)).port)
  await van.publishAsync(TOPIC, 'garbage', { qos: 1 })
  await van.publishAsync(TOPIC, '', { qos: 2 })
  expect(await count('decode_errors_total', { protocol: 'fix', reason: 'malformed' })).toBe(errors + 2)
  expect(shared.frames).toMatchObject([
    {
      device: 'van-1',
      company: '7',
      protocol: 'fix',
      transport: 'mqtt',
      reason: 'malformed',
      frame: base64('garbage'),
    },
    { device: 'van-1', reason: 'malformed', frame: '' },
  ])
  await van.publishAsync(TOPIC, position(), { qos: 1 })
  expect(shared.stored).toHaveLength(1)
})

it('ends an MQTT connection without PUBACK if a publication cannot be stored, and stores it when repeated', async () => {
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

it('an MQTT publication waits for Redis, and a login for a current roster, before the connection ends', async () => {
  const pass = stopTime()
  const shared = gateway({ waitMs: 60_000, limits: { identify_timeout: 10_000, idle_timeout: 10_000 } })
  const login = vi.spyOn(shared.ingest, 'waitForRoster')
  shared.replica.current = false
  const van = await client((await listen(shared)).port, { connects: false, keepalive: 0 })
  let closed = 0
  van.on('close', () => closed++)
  await until(() => expect(login).toHaveBeenCalled())
  await pass(20_000)
  shared.store = 'fails'
  shared.replica.current = true
  await until(() => expect(van.connected).toBe(true))
  let isAcknowledged = false
  const published = van.publishAsync(TOPIC, position(), { qos: 1 }).finally(() => (isAcknowledged = true))
  await until(() => expect(shared.tries).toBeGreaterThan(0))
  await pass(20_000)
  expect(isAcknowledged).toBe(false)
  shared.store = 'takes'
  await published
  expect([closed, shared.stored.length]).toEqual([0, 1])
})

it('ends an MQTT connection alone after a fault in handling its publication', async () => {
  const shared = gateway()
  const take: Gateway['ingest']['take'] = async (frame, session, protocol) => {
    if ((frame as Buffer).toString() === 'fault') throw new RangeError('a fault of ours')
    return shared.ingest.take(frame, session, protocol)
  }
  const { port } = await listen({ ...shared, ingest: { ...shared.ingest, take } })
  const [first, second] = [await client(port), await client(port)]
  const closed = new Promise((resolve) => first.once('close', () => resolve(undefined)))
  first.publish(TOPIC, 'fault', { qos: 2 })
  await closed
  await second.publishAsync(TOPIC, position(), { qos: 1 })
  expect([first.connected, shared.stored.length, await count('in_flight_bytes')]).toEqual([false, 1, 0])
})

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
