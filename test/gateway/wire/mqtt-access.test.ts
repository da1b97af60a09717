import { expect, it } from 'vitest'
import { say } from '../../../src/texts/text.ts'
import { journalOf, QUIET_BOOKS } from '../../support/journal.ts'
import { gateway, openConnections, refusals, SECRET, until } from '../../support/listen.ts'
import { client, listen, position, refusalOf, TOPIC } from '../../support/mqtt.ts'
import { connack, connect, puback, publish, raw } from '../../support/mqtt-bytes.ts'

it('refuses the MQTT login of an unknown device', async () => {
  const refused = await refusals('unknown_device')
  const { port } = await listen(gateway())
  expect(await refusalOf(port, { username: 'nobody' })).toBe(5)
  expect(await refusalOf(port, { username: undefined })).toBe(5)
  expect(await refusalOf(port, { username: '__proto__' })).toBe(5)
  expect(await refused()).toBe(3)
  await until(async () => expect(await openConnections('mqtt')).toBe(0))
})

it('ends an MQTT login without an answer while the roster is not current', async () => {
  const refused = await refusals('not_ready')
  const shared = gateway()
  shared.replica.current = false
  const { port } = await listen(shared)
  const peer = await raw(port)
  peer.say(connect({ user: 'van-1' }))
  await until(() => expect(peer.over).toBe(true))
  expect([peer.hex, await refused()]).toEqual(['', 1])
  const van = await client(port, { reconnectPeriod: 20, connects: false })
  await until(async () => expect(await refused()).toBeGreaterThan(2))
  shared.replica.current = true
  await until(() => expect(van.connected).toBe(true))
})

it('refuses an MQTT login with a wrong password or none', async () => {
  const refused = await refusals('wrong_secret')
  const { port } = await listen(gateway())
  expect(await refusalOf(port, { username: 'locked', password: 'guess' })).toBe(5)
  expect(await refusalOf(port, { username: 'locked' })).toBe(5)
  expect(await refused()).toBe(2)
})

it('accepts an MQTT login with the right password', async () => {
  const shared = gateway()
  const van = await client((await listen(shared)).port, { username: 'locked', password: SECRET })
  await van.publishAsync('devices/locked/fix', position(), { qos: 1 })
  expect(shared.places[0]).toBe('7/44/1003')
})

it('refuses a login with MQTT 5, and says which version to set', async () => {
  const refused = await refusals('protocol_version')
  const shared = gateway()
  const { port } = await listen(shared)
  const peer = await raw(port)
  peer.say(connect({ user: 'van-1', version: 5 }))
  await until(() => expect(peer.over).toBe(true))
  expect([peer.hex, await refused()]).toEqual([connack(1), 1])
  expect(shared.notUnderstood).toMatchObject([
    { guesses: [{ evidence: [say('this broker speaks MQTT 3.1.1: set the client to it')] }] },
  ])
})

it('answers a client of MQTT 5 that its version is not supported', async () => {
  const { port } = await listen(gateway())
  expect(await refusalOf(port, { protocolVersion: 5 })).toBe(1)
})

it.for([
  ['other_device', 'devices/007/fix'],
  ['other_device', 'devices/nobody/fix'],
  ['other_device', 'owntracks/007/phone'],
  ['other_device', '007/data'],
  ['unknown_topic', 'van-1/commands'],
  ['unknown_topic', 'van-1/data/more'],
  ['unknown_topic', 'devices/van-1/nonsense'],
  ['unknown_topic', 'devices/van-1/fix/more'],
  ['unknown_topic', 'devices/van-1/__proto__'],
  ['unknown_topic', 'owntracks/van-1'],
  ['unknown_topic', 'fix'],
  ['unknown_topic', '$SYS/van-1/fix'],
])('ends an MQTT connection with %s when it publishes to %s', async ([reason, topic]) => {
  const refused = await refusals(reason)
  const told: string[] = []
  const of = (device: string) => ({
    ...QUIET_BOOKS.heard.of(device),
    became: (...what: unknown[]) => void told.push([device, ...what.slice(0, 2)].join(' ')),
  })
  const shared = gateway({ journal: journalOf({ heard: { ...QUIET_BOOKS.heard, of } }) })
  const { port } = await listen(shared)
  const peer = await raw(port)
  peer.say(connect({ user: 'van-1' }))
  peer.say(publish({ topic, payload: position(), qos: 1 }))
  await until(() => expect(peer.over).toBe(true))
  expect([peer.hex, await refused(), shared.stored]).toEqual([connack(0), 1, []])
  expect(told).toEqual([`van-1 refused ${reason}`])
})

it('ends an MQTT connection whose frame names another device', async () => {
  const refused = await refusals('other_device')
  const shared = gateway()
  const { port } = await listen(shared)
  const peer = await raw(port)
  peer.say(connect({ user: 'van-1' }))
  peer.say(publish({ topic: 'devices/van-1/talk', payload: 'fixof 007', qos: 1 }))
  await until(() => expect(peer.over).toBe(true))
  expect([peer.hex, await refused(), shared.stored]).toEqual([connack(0), 1, []])
})

it('refuses an MQTT subscription', async () => {
  const { port } = await listen(gateway())
  const peer = await raw(port)
  peer.say(connect({ user: 'van-1' }))
  peer.say(Buffer.from('82060001000123'.padEnd(14, '0') + '01', 'hex'))
  await until(() => expect(peer.hex).toBe(`${connack(0)}9003000180`))
})

it('delivers no MQTT publication to other clients', async () => {
  const { port } = await listen(gateway())
  const [first, second] = [await client(port), await client(port, { username: '007' })]
  const heard: string[] = []
  second.on('message', (topic) => heard.push(topic))
  await second.subscribeAsync(['#', TOPIC]).catch(() => {})
  await first.publishAsync(TOPIC, position(), { qos: 1, retain: true })
  await second.publishAsync('devices/007/fix', position(), { qos: 1 })
  expect(heard).toEqual([])
})

it('drops the will of an MQTT client', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const van = await client(port, { will: { topic: TOPIC, payload: Buffer.from(position()), qos: 1, retain: true } })
  van.stream.destroy()
  await until(() => expect(shared.goneDevices).toEqual(['van-1']))
  const other = await client(port)
  await other.publishAsync(TOPIC, position(), { qos: 1 })
  expect(shared.stored).toHaveLength(1)
})

it('an MQTT client id of another device ends no connection', async () => {
  const { port } = await listen(gateway())
  const first = await client(port, { clientId: 'tracker' })
  const second = await client(port, { clientId: 'tracker', username: '007' })
  await second.publishAsync('devices/007/fix', position(), { qos: 1 })
  await first.publishAsync(TOPIC, position(), { qos: 1 })
  expect([first.connected, second.connected]).toEqual([true, true])
})

it('an MQTT client id that its device uses again ends no connection', async () => {
  const { port } = await listen(gateway())
  const first = await client(port, { clientId: 'tracker' })
  const second = await client(port, { clientId: 'tracker' })
  await second.publishAsync(TOPIC, position(), { qos: 1 })
  await first.publishAsync(TOPIC, position(), { qos: 1 })
  expect([first.connected, second.connected]).toEqual([true, true])
})

it('an MQTT client id used without the password ends no connection while unknown devices are held', async () => {
  const shared = gateway({ admitsUnknown: true })
  const { port } = await listen(shared)
  const van = await client(port, { clientId: 'tracker', username: 'locked', password: SECRET })
  shared.store = 'waits'
  const acknowledged = van.publishAsync('devices/locked/fix', position(), { qos: 1 })
  await until(() => expect(shared.tries).toBe(1))
  const other = await client(port, { clientId: 'tracker', username: 'locked' })
  shared.store = 'takes'
  await acknowledged
  await other.publishAsync('devices/locked/fix', position(), { qos: 1 })
  expect([van.connected, shared.places]).toEqual([true, ['7/44/1003', 'unknown locked']])
})

it('an MQTT client id used with a wrong password ends no connection', async () => {
  const { port } = await listen(gateway())
  const van = await client(port, { clientId: 'tracker', username: 'locked', password: SECRET })
  expect(await refusalOf(port, { clientId: 'tracker', username: 'locked', password: 'guess' })).toBe(5)
  await van.publishAsync('devices/locked/fix', position(), { qos: 1 })
  expect(van.connected).toBe(true)
})

it('accepts several connections of a device with an empty MQTT client id', async () => {
  const { port } = await listen(gateway())
  const [first, second] = [await raw(port), await raw(port)]
  first.say(connect({ user: 'van-1', clientId: '' }))
  await until(() => expect(first.hex).toBe(connack(0)))
  second.say(connect({ user: 'van-1', clientId: '' }))
  await until(() => expect(second.hex).toBe(connack(0)))
  first.say(publish({ topic: TOPIC, payload: position(), qos: 1 }))
  await until(() => expect(first.hex).toBe(connack(0) + puback(1)))
})
