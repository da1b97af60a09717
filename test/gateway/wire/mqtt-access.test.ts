import { describe, expect, it } from 'vitest'
import { say } from '../../../src/texts/text.ts'
import { gateway, openConnections, refusals, SECRET, until } from '../../support/listen.ts'
import { client, listen, position, refusalOf, TOPIC } from '../../support/mqtt.ts'
import { connack, connect, puback, publish, raw } from '../../support/mqtt-bytes.ts'

describe('the MQTT broker', () => {
  it('refuses the login of an unknown device', async () => {
    const refused = await refusals('unknown_device')
    const { port } = await listen(gateway())
    expect(await refusalOf(port, { username: 'nobody' })).toBe(5)
    expect(await refusalOf(port, { username: undefined })).toBe(5)
    expect(await refusalOf(port, { username: '__proto__' })).toBe(5)
    expect(await refused()).toBe(3)
    await until(async () => expect(await openConnections('mqtt')).toBe(0))
  })

  it('ends a login without an answer while the roster is not current', async () => {
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

  it('refuses a login with a wrong password or none', async () => {
    const refused = await refusals('wrong_secret')
    const { port } = await listen(gateway())
    expect(await refusalOf(port, { username: 'locked', password: 'guess' })).toBe(5)
    expect(await refusalOf(port, { username: 'locked' })).toBe(5)
    expect(await refused()).toBe(2)
  })

  it('accepts a login with the right password', async () => {
    const shared = gateway()
    const van = await client((await listen(shared)).port, { username: 'locked', password: SECRET })
    await van.publishAsync('devices/locked/fix', position(), { qos: 1 })
    expect(shared.places[0]).toBe('7/44/1003')
  })

  it('refuses a login with MQTT 5', async () => {
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

  it('tells a client of MQTT 5 that its version is not spoken', async () => {
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
  ])('ends a connection that publishes: %s, %s', async ([reason, topic]) => {
    const refused = await refusals(reason)
    const shared = gateway()
    const { port } = await listen(shared)
    const peer = await raw(port)
    peer.say(connect({ user: 'van-1' }))
    peer.say(publish({ topic, payload: position(), qos: 1 }))
    await until(() => expect(peer.over).toBe(true))
    expect([peer.hex, await refused(), shared.stored]).toEqual([connack(0), 1, []])
  })

  it('ends a connection whose frame names another device', async () => {
    const refused = await refusals('other_device')
    const shared = gateway()
    const { port } = await listen(shared)
    const peer = await raw(port)
    peer.say(connect({ user: 'van-1' }))
    peer.say(publish({ topic: 'devices/van-1/talk', payload: 'fixof 007', qos: 1 }))
    await until(() => expect(peer.over).toBe(true))
    expect([peer.hex, await refused(), shared.stored]).toEqual([connack(0), 1, []])
  })

  it('refuses a subscription', async () => {
    const { port } = await listen(gateway())
    const peer = await raw(port)
    peer.say(connect({ user: 'van-1' }))
    peer.say(Buffer.from('82060001000123'.padEnd(14, '0') + '01', 'hex'))
    await until(() => expect(peer.hex).toBe(`${connack(0)}9003000180`))
  })

  it('delivers no publication to other clients', async () => {
    const { port } = await listen(gateway())
    const [first, second] = [await client(port), await client(port, { username: '007' })]
    const heard: string[] = []
    second.on('message', (topic) => heard.push(topic))
    await second.subscribeAsync(['#', TOPIC]).catch(() => {})
    await first.publishAsync(TOPIC, position(), { qos: 1, retain: true })
    await second.publishAsync('devices/007/fix', position(), { qos: 1 })
    expect(heard).toEqual([])
  })

  it('drops a will', async () => {
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

describe('an MQTT client id', () => {
  it('of another device ends no connection', async () => {
    const { port } = await listen(gateway())
    const first = await client(port, { clientId: 'tracker' })
    const second = await client(port, { clientId: 'tracker', username: '007' })
    await second.publishAsync('devices/007/fix', position(), { qos: 1 })
    await first.publishAsync(TOPIC, position(), { qos: 1 })
    expect([first.connected, second.connected]).toEqual([true, true])
  })

  it('used again by its device ends no connection: somebody who knows it may use it', async () => {
    const { port } = await listen(gateway())
    const first = await client(port, { clientId: 'tracker' })
    const second = await client(port, { clientId: 'tracker' })
    await second.publishAsync(TOPIC, position(), { qos: 1 })
    await first.publishAsync(TOPIC, position(), { qos: 1 })
    expect([first.connected, second.connected]).toEqual([true, true])
  })

  it('used again without the password ends no connection, where a device without a proof is held as unknown', async () => {
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

  it('with a wrong password ends no connection', async () => {
    const { port } = await listen(gateway())
    const van = await client(port, { clientId: 'tracker', username: 'locked', password: SECRET })
    expect(await refusalOf(port, { clientId: 'tracker', username: 'locked', password: 'guess' })).toBe(5)
    await van.publishAsync('devices/locked/fix', position(), { qos: 1 })
    expect(van.connected).toBe(true)
  })

  it('may be empty for any number of connections', async () => {
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
