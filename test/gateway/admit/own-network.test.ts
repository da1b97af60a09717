import { Client } from 'undici'
import { expect, it, onTestFinished, vi } from 'vitest'
import osmand from '../../../protocols/osmand/index.ts'
import { Flood, inNetwork } from '../../../src/gateway/admit/flood.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenMqtt } from '../../../src/gateway/wire/mqtt.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { observations } from '../../../src/observe/observations.ts'
import { dial, type Gateway, gateway, open, type Peer, refusals, SECRET, talk, until } from '../../support/listen.ts'
import { position, protocolNamed, TOPIC } from '../../support/mqtt.ts'
import { connack, connect, puback, publish, raw } from '../../support/mqtt-bytes.ts'
import { inEnglish } from '../../support/texts.ts'

/*
 * A van and somebody who knows its id share one network, as behind the NAT of a carrier.
 */
const AT = { host: '127.0.0.1', port: 0, protocol: talk }
const listen = (shared: Gateway) => open(listenTcp(AT, shared))
const NETWORK = '127.0.0.0/24'
/** As many as one id may have by default. */
const LIMITS = { max_connections_per_device: 4 }

let said = 0
/** Sends a fix, and waits for its answer. */
async function fix(peer: Peer): Promise<void> {
  const number = ++said
  peer.say(`fix ${number}\n`)
  await until(() => expect(peer.heard).toContain(`ok ${number}\n`))
}

async function login(port: number, device = 'van-1'): Promise<Peer> {
  const peer = await dial(port)
  peer.say(`id ${device}\n`)
  await until(() => expect(peer.heard === 'hi\n' || peer.over).toBe(true))
  return peer
}

/** Requests with a secret from the network of the van. */
async function phone(shared: Gateway, id = 'locked') {
  const { port } = await open(listenHttp({ ...AT, protocol: osmand }, shared))
  const client = new Client(`http://127.0.0.1:${port}`)
  onTestFinished(() => client.destroy())
  return async (token: string) => {
    const path = `/?id=${id}&lat=50&lon=8&token=${encodeURIComponent(token)}`
    const { statusCode, body } = await client.request({ path, method: 'GET' })
    await body.dump()
    return statusCode
  }
}

/** Opens five connections without the secret. Returns whether each of them is ended. */
async function fate(transport: 'tcp' | 'mqtt', isConnected: boolean): Promise<boolean[]> {
  const shared = gateway({ admitsUnknown: true, limits: LIMITS })
  const tcp = await listen(shared)
  const mqtt = await open(listenMqtt({ host: '127.0.0.1', port: 0 }, { ...shared, protocolNamed }))
  if (isConnected) {
    const van = await dial(tcp.port)
    van.say(`id locked ${SECRET}\n`)
    await until(() => expect(van.heard).toBe('hi\n'))
    await fix(van)
  }
  const peers: Peer[] = []
  for (let n = 0; n < 5; n++) {
    if (transport === 'tcp') peers.push(await login(tcp.port, 'locked'))
    else {
      const peer = await raw(mqtt.port)
      peer.say(connect({ user: 'locked', clientId: 'van' }))
      await until(() => expect(peer.hex).toBe(connack(0)))
      peers.push(peer)
    }
  }
  await until(() => expect(shared.slots.countOf('locked')).toBe(isConnected ? 5 : 4))
  await until(() => expect(peers.some(({ over }) => over)).toBe(true))
  return peers.map(({ over }) => over)
}

it('keeps the connection on which a van stores fixes while others in its network log in with its id', async () => {
  const { port } = await listen(gateway({ limits: LIMITS, flood: new Flood(() => 0) }))
  const van = await login(port)
  await fix(van)
  for (let round = 0; round < 5; round++) {
    for (let n = 0; n < 8; n++) await login(port)
    await fix(van)
  }
  expect(van.over).toBe(false)
})

it('acknowledges a van that logs in again while others in its network log in with its id', async () => {
  const { port } = await listen(gateway({ limits: LIMITS }))
  for (let again = 0; again < 5; again++) {
    for (let n = 0; n < 8; n++) await login(port)
    const van = await login(port)
    await fix(van)
    for (let n = 0; n < 8; n++) await login(port)
    await fix(van)
    expect(van.over).toBe(false)
    van.socket.destroy()
  }
})

it('keeps a connection whose fix is being stored while others log in with its id', async () => {
  const shared = gateway({ limits: LIMITS })
  const { port } = await listen(shared)
  const van = await login(port)
  shared.store = 'waits'
  van.say('fix first\n')
  await until(() => expect(shared.tries).toBe(1))
  for (let n = 0; n < 8; n++) await login(port)
  shared.store = 'takes'
  await until(() => expect(van.heard).toBe('hi\nok first\n'))
})

it('keeps the only MQTT connection allowed to a device, and ends a newer one without an answer', async () => {
  const [ended, malformed] = [await refusals('max_per_device'), await refusals('malformed_packet')]
  const shared = gateway({ limits: { max_connections_per_device: 1 } })
  const { port } = await open(listenMqtt({ host: '127.0.0.1', port: 0 }, { ...shared, protocolNamed }))
  const van = await raw(port)
  van.say(connect({ user: 'van-1', clientId: 'van' }))
  const acknowledged = async (messageId: number) => {
    van.say(publish({ topic: TOPIC, payload: position(), qos: 1, messageId }))
    await until(() => expect(van.hex.endsWith(puback(messageId))).toBe(true))
  }
  for (const messageId of [1, 2]) await acknowledged(messageId)
  const other = await raw(port)
  other.say(connect({ user: 'van-1', clientId: 'van' }))
  await until(() => expect(other.over).toBe(true))
  await acknowledged(3)
  expect([other.hex, await ended(), await malformed()]).toEqual(['', 1, 0])
})

it('serves a van after too many logins of its id without a fix, and does not count logins that store one', async () => {
  const ended = await refusals('flood')
  const shared = gateway({ limits: LIMITS, flood: new Flood(() => 0) })
  const { port } = await listen(shared)
  const owed = () => shared.flood.debtOf('logins', inNetwork('van-1', NETWORK, true))
  shared.flood.charge('logins', inNetwork('van-1', NETWORK, true), 300)
  for (let n = 0; n < 3; n++) {
    const van = await login(port)
    await fix(van)
    van.socket.destroy()
    await until(() => expect(shared.slots.countOf('van-1')).toBe(0))
  }
  expect(owed()).toBe(0)
  const other = await login(port)
  other.socket.destroy()
  await until(() => expect(owed()).toBe(200))
  shared.flood.charge('logins', inNetwork('van-1', NETWORK, true), 10_000)
  await fix(await login(port))
  expect(await ended()).toBe(0)
})

it('counts a login whose connection is reset before it is answered', async () => {
  const shared = gateway({ limits: LIMITS, flood: new Flood(() => 0) })
  const { port } = await listen(shared)
  const other = await dial(port)
  const take = shared.ingest.take.bind(shared.ingest)
  vi.spyOn(shared.ingest, 'take').mockImplementation(async (...frame) => {
    const outcome = await take(...frame)
    other.socket.resetAndDestroy()
    return outcome
  })
  const charged = vi.spyOn(shared.flood, 'charge')
  other.say('id van-1\n')
  await until(() => expect(shared.goneDevices).toEqual(['van-1']))
  expect([other.heard, charged.mock.calls]).toEqual(['', [['logins', inNetwork('van-1', NETWORK, true), 1]]])
})

it.for([
  ['frames', 'device'],
  ['logins', 'logins'],
] as const)('counts %s of senders without the secret apart from those of the van', async ([, limit]) => {
  const ended = await refusals('flood')
  const shared = gateway({ admitsUnknown: true, flood: new Flood(() => 0) })
  const send = await phone(shared)
  shared.flood.charge(limit, inNetwork('locked', NETWORK, false), 1e6)
  expect(await send(SECRET)).toBe(200)
  const { port } = await listen(shared)
  const van = await dial(port)
  van.say(`id locked ${SECRET}\n`)
  await until(() => expect(van.heard).toBe('hi\n'))
  await fix(van)
  expect(await ended()).toBe(0)
})

it.for(['tcp', 'mqtt'] as const)(
  'does not reveal over %s to senders without the secret whether the van is connected',
  async (transport) => {
    expect(await fate(transport, true)).toEqual([true, false, false, false, false])
    expect(await fate(transport, false)).toEqual([true, false, false, false, false])
  },
)

it('reports how many connections without the secret come from which network', async () => {
  await fate('mqtt', true)
  const found = inEnglish(observations.current()).filter(({ subject }) => subject.device === 'locked')
  expect(found.map(({ code, evidence }) => [code, evidence.at(-1)])).toEqual(
    expect.arrayContaining([
      ['wrong_secret', 'no secret from 127.0.0.1'],
      ['device_connections', `5 connections, 5 of them from ${NETWORK}, taken for no configured device`],
    ]),
  )
})

it('keeps the connection of a van with its new secret while others use its id without a secret', async () => {
  const shared = gateway({ admitsUnknown: true, limits: LIMITS })
  const { port } = await listen(shared)
  const connectVan = async (secret: string) => {
    const van = await dial(port)
    van.say(`id later ${secret}\n`)
    await until(() => expect(van.heard).toBe('hi\n'))
    return van
  }
  const entry = { id: 'later', company_id: '7', courier_id: '46', route_id: '1005', source: 'devices.yaml:5' }
  await shared.configure({ ...entry, secret: SECRET })
  const before = await connectVan(SECRET)
  await fix(before)
  const others = [await login(port, 'later'), await login(port, 'later')]
  await shared.configure({ ...entry, secret: 'an0ther-s3cret' })
  shared.replica.version++
  before.say('fix\n')
  await until(() => expect(before.over).toBe(true))
  const van = await connectVan('an0ther-s3cret')
  for (let n = 0; n < 8; n++) others.push(await login(port, 'later'))
  await fix(van)
  expect([van.over, others.filter(({ over }) => !over).length]).toEqual([false, 4])
})

it('accepts a secret presented before, and its replacement, despite wrong guesses from the same network', async () => {
  const shared = gateway()
  const entry = { id: 'later', company_id: '7', courier_id: '46', route_id: '1005', source: 'devices.yaml:5' }
  await shared.configure({ ...entry, secret: SECRET })
  const send = await phone(shared, 'later')
  expect(await send(SECRET)).toBe(200)
  for (let n = 0; n < 12; n++) {
    expect(await send(`guess-${n}`)).toBe(403)
    expect(await send(SECRET)).toBe(200)
  }
  await shared.configure({ ...entry, secret: 'an0ther-s3cret' })
  shared.replica.version++
  expect([await send(SECRET), await send('an0ther-s3cret')]).toEqual([403, 200])
})

it('refuses even the right secret after wrong guesses from its network if it was never presented before', async () => {
  const send = await phone(gateway())
  for (let n = 0; n < 6; n++) expect(await send(`guess-${n}`)).toBe(403)
  expect(await send(SECRET)).toBe(403)
})
