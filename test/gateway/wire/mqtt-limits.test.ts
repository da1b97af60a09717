import { expect, it } from 'vitest'
import { Backpressure } from '../../../src/gateway/admit/backpressure.ts'
import { listenMqtt } from '../../../src/gateway/wire/mqtt.ts'
import { contentOf } from '../../../src/store/misunderstood-frame.ts'
import { count, gateway, openConnections, refusals, stopTime, until } from '../../support/listen.ts'
import { AT, client, listen, position, protocolNamed, TOPIC } from '../../support/mqtt.ts'
import { connack, connect, puback, publish, pubrec, raw } from '../../support/mqtt-bytes.ts'

it('refuses an MQTT packet that is too long before its body is read', async () => {
  const refused = await refusals('frame_too_long')
  const { port } = await listen(gateway())
  const peer = await raw(port)
  peer.say(connect({ user: 'van-1' }))
  await until(() => expect(peer.hex).toBe(connack(0)))
  peer.say(Buffer.from('30ffffff7f', 'hex'))
  await until(() => expect(peer.over).toBe(true))
  expect(await refused()).toBe(1)
})

it.for([
  ['SUBSCRIBE', 0x82],
  ['UNSUBSCRIBE', 0xa2],
  ['PUBREL', 0x62],
] as const)('refuses an MQTT %s of more than 512 bytes before its body is read', async ([, type]) => {
  const refused = await refusals('frame_too_long')
  const { port } = await listen(gateway({ limits: { max_frame_bytes: 65_536 } }))
  const peer = await raw(port)
  peer.say(connect({ user: 'van-1' }))
  await until(() => expect(peer.hex).toBe(connack(0)))
  peer.say(Buffer.of(type, 0x81, 0x04))
  await until(() => expect(peer.over).toBe(true))
  expect(await refused()).toBe(1)
})

it('serves a client that sends two SUBSCRIBEs with its CONNECT, without waiting for an answer', async () => {
  const { port } = await listen(gateway())
  const peer = await raw(port)
  const subscribe = Buffer.from('8206000100016100', 'hex')
  peer.say(Buffer.concat([connect({ user: 'van-1' }), subscribe, subscribe, Buffer.from('c000', 'hex')]))
  await until(() => expect(peer.hex.endsWith('d000') || peer.over).toBe(true))
  expect([peer.over, peer.hex.startsWith(connack(0))]).toEqual([false, true])
})

it('accepts an MQTT packet of exactly the maximum length', async () => {
  const shared = gateway()
  const van = await client((await listen(shared)).port)
  await van.publishAsync(TOPIC, 'x'.repeat(4096), { qos: 1 })
  expect(contentOf(shared.frames[0])).toHaveLength(4096)
})

it.for([
  ['frame_too_long', '10ffffff7f'],
  ['malformed_packet', '108080808001'],
  ['frame_too_long', '10818001'],
])('refuses with %s before the MQTT login: %s', async ([reason, bytes]) => {
  const refused = await refusals(reason)
  const { port } = await listen(gateway({ limits: { max_frame_bytes: 65_536 } }))
  const peer = await raw(port)
  peer.say(Buffer.from(bytes, 'hex'))
  await until(() => expect(peer.over).toBe(true))
  expect([peer.hex, await refused()]).toEqual(['', 1])
})

it('admits max_connections_per_ip MQTT connections from an address', async () => {
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
  ['a wildcard in a topic', Buffer.concat([connect({ user: 'van-1' }), publish({ topic: '#', payload: '', qos: 1 })])],
  ['a packet of no kind', Buffer.concat([connect({ user: 'van-1' }), Buffer.of(0xf0, 0)])],
])('ends an MQTT connection that sends %s', async ([, bytes]) => {
  const refused = await refusals('malformed_packet')
  const { port } = await listen(gateway())
  const van = await client(port)
  const peer = await raw(port)
  peer.say(bytes)
  await until(() => expect(peer.over).toBe(true))
  expect([await refused(), van.connected]).toEqual([1, true])
})

it('ends an MQTT connection without a login after identify_timeout', async () => {
  const refused = await refusals('not_identified')
  const pass = stopTime()
  const { port } = await listen(gateway({ limits: { identify_timeout: 100 } }))
  const peer = await raw(port)
  await until(async () => expect(await openConnections('mqtt')).toBe(1))
  await pass(1000)
  await until(() => expect(peer.over).toBe(true))
  expect(await refused()).toBe(1)
})

it('ends an MQTT connection whose CONNECT arrives a byte now and then', async () => {
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
  ['idle_timeout', 0, 90_000],
  ['the keep alive that it promised', 60, 600_000],
] as const)('ends the connection of an MQTT device that is silent for %s', async ([, keepalive, idle_timeout]) => {
  const refused = await refusals('idle')
  const pass = stopTime()
  const shared = gateway({ limits: { idle_timeout } })
  const { port } = await listen(shared)
  const [silent, talking] = [await raw(port), await raw(port)]
  const login = connect({ user: 'van-1', clientId: 'silent' })
  login[11] = keepalive
  silent.say(login)
  talking.say(connect({ user: '007' }))
  await until(() => expect([silent.hex, talking.hex]).toEqual([connack(0), connack(0)]))
  await pass(80_000)
  expect(await refused()).toBe(0)
  talking.say(Buffer.of(0xc0, 0))
  await until(() => expect(talking.hex).toBe(`${connack(0)}d000`))
  await pass(20_000)
  await until(() => expect(silent.over).toBe(true))
  expect([silent.hex, talking.over, await refused()]).toEqual([connack(0), false, 1])
  expect(shared.goneDevices).toEqual(['van-1'])
})

it('stops reading MQTT sockets under pressure, and does not count that as silence', async () => {
  const pass = stopTime()
  const limits = { idle_timeout: 60_000, identify_timeout: 60_000 }
  const shared = gateway({ limits, pressure: new Backpressure({ highMark: 10 }) })
  const { port } = await listen(shared)
  const [first, second] = [await raw(port), await raw(port)]
  first.say(connect({ user: 'van-1', clientId: '1' }))
  second.say(connect({ user: 'van-1', clientId: '2' }))
  await until(() => expect([first.hex, second.hex]).toEqual([connack(0), connack(0)]))
  shared.store = 'waits'
  const payload = position()
  first.say(publish({ topic: TOPIC, payload, qos: 1 }))
  await until(() => expect(shared.pressure.isHigh).toBe(true))
  second.say(publish({ topic: TOPIC, payload, qos: 1 }))
  const third = await raw(port)
  third.say(connect({ user: 'van-1', clientId: '3' }))
  await until(async () => expect(await openConnections('mqtt')).toBe(3))
  await pass(80_000)
  expect(await count('in_flight_bytes')).toBe(payload.length)
  expect(third.hex).toBe('')
  shared.store = 'takes'
  await until(() => expect([first.hex, second.hex]).toEqual(Array(2).fill(connack(0) + puback(1))))
  await until(() => expect(third.hex).toBe(connack(0)))
})

it('does not read an MQTT connection while its packets are being stored', async () => {
  const shared = gateway()
  const van = await raw((await listen(shared)).port)
  van.say(connect({ user: 'van-1' }))
  await until(() => expect(van.hex).toBe(connack(0)))
  shared.store = 'waits'
  const payload = position()
  for (const messageId of [1, 2]) {
    van.say(publish({ topic: TOPIC, payload, qos: 1, messageId }))
    await until(async () => expect(await count('in_flight_bytes')).toBe(payload.length))
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  }
  expect(await count('in_flight_bytes')).toBe(payload.length)
  shared.store = 'takes'
  await until(() => expect(van.hex).toBe(connack(0) + puback(1) + puback(2)))
})

it('ends the MQTT connection with most bytes first when all listeners together hold too many', async () => {
  const refused = await refusals('memory')
  const shared = gateway({ pressure: new Backpressure({ maxPartialBytes: 5000 }) })
  const [one, other] = [await listen(shared), await listen(shared)]
  const [hog, newcomer] = [await raw(one.port), await raw(other.port)]
  for (const peer of [hog, newcomer]) peer.say(connect({ user: 'van-1' }))
  await until(() => expect([hog.hex, newcomer.hex]).toEqual([connack(0), connack(0)]))
  const payload = 'x'.repeat(4000)
  hog.say(publish({ topic: TOPIC, payload, qos: 1 }).subarray(0, -10))
  await until(() => expect(hog.socket.bytesWritten).toBeGreaterThan(4000))
  newcomer.say(publish({ topic: TOPIC, payload, qos: 1 }).subarray(0, 2000))
  await until(() => expect(hog.over).toBe(true))
  newcomer.say(publish({ topic: TOPIC, payload, qos: 1 }).subarray(2000))
  await until(() => expect(newcomer.hex).toBe(connack(0) + puback(1)))
  expect(await refused()).toBe(1)
})

it('stores and answers what was read before an MQTT listener closes', async () => {
  const shared = gateway()
  const listener = await listenMqtt(AT, { ...shared, protocolNamed })
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
  await until(async () => expect(await openConnections('mqtt')).toBe(0))
})

it('closes an MQTT listener after the given time although a fix is not stored', async () => {
  const shared = gateway()
  const listener = await listenMqtt(AT, { ...shared, protocolNamed })
  const peer = await raw(listener.port)
  peer.say(connect({ user: 'van-1' }))
  await until(() => expect(peer.hex).toBe(connack(0)))
  shared.store = 'waits'
  peer.say(publish({ topic: TOPIC, payload: position(), qos: 1 }))
  await until(async () => expect(await count('in_flight_bytes')).toBeGreaterThan(0))
  await listener.close(50)
  await until(() => expect(peer.over).toBe(true))
  shared.store = 'takes'
  await until(async () => expect(await count('in_flight_bytes')).toBe(0))
  expect(peer.hex).toBe(connack(0))
})

it('reports why an MQTT port cannot be opened', async () => {
  const { port } = await listen(gateway())
  const again = listenMqtt({ ...AT, port }, { ...gateway(), protocolNamed })
  await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' })
})
