import { expect, it } from 'vitest'
import teltonika from '../../../protocols/teltonika/index.ts'
import { Flood, inNetwork } from '../../../src/gateway/admit/flood.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenMqtt } from '../../../src/gateway/wire/mqtt.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { observations } from '../../../src/observe/observations.ts'
import { avlLogin } from '../../support/encode.ts'
import { count, dial, type Gateway, gateway, open, refusals, talk, until } from '../../support/listen.ts'
import { position, protocolNamed, TOPIC } from '../../support/mqtt.ts'
import { connack, connect, puback, publish, raw } from '../../support/mqtt-bytes.ts'
import { inEnglish } from '../../support/texts.ts'

const AT = { host: '127.0.0.1', port: 0, protocol: talk }
const listen = (shared: Gateway, protocol: typeof talk | typeof teltonika = talk) =>
  open(listenTcp({ ...AT, protocol }, shared))

/** An address outside the network of the vans. */
const ELSEWHERE = '127.0.9.9'
const NETWORK = '127.0.9.0/24'
const CHUNK = 65_536

/** A gateway that counts the frames it takes, and the most of one turn of the event loop. */
function counting(options: Parameters<typeof gateway>[0] = {}) {
  const shared = gateway(options)
  const taken = { frames: 0, inThisTurn: 0, mostInOneTurn: 0 }
  const take: Gateway['ingest']['take'] = (frame, session, protocol) => {
    if (taken.inThisTurn++ === 0) setImmediate(() => (taken.inThisTurn = 0))
    taken.frames++
    taken.mostInOneTurn = Math.max(taken.mostInOneTurn, taken.inThisTurn)
    return shared.ingest.take(frame, session, protocol)
  }
  return { taken, shared: { ...shared, ingest: { ...shared.ingest, take } } as Gateway }
}

const pauses = async (limit: string) => {
  const before = await count('pauses_total', { limit })
  return async () => (await count('pauses_total', { limit })) - before
}

/** Logs a van in. Returns a function that sends a fix and waits for its acknowledgement. */
async function van(port: number) {
  const peer = await dial(port)
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  let number = 0
  return async () => {
    peer.say(`fix ${++number}\n`)
    await until(() => expect(peer.heard.endsWith(`ok ${number}\n`)).toBe(true))
  }
}

it('takes TCP pings once a chunk, and ends a connection that sends them without a login', async () => {
  const { shared, taken } = counting()
  const { port } = await listen(shared, teltonika)
  const peer = await dial(port, ELSEWHERE)
  peer.say(Buffer.alloc(8 * CHUNK, 0xff))
  await until(() => expect(peer.over).toBe(true))
  expect(taken.frames).toBeLessThan(200)
  const beside = await dial(port)
  beside.say(avlLogin('8168000008'))
  await until(() => expect(beside.heard).toBe('\x01'))
})

it('takes TCP pings of a logged-in device in chunks, and keeps its connection', async () => {
  const { shared, taken } = counting()
  const { port } = await listen(shared, teltonika)
  const peer = await dial(port, ELSEWHERE)
  peer.say(avlLogin('8168000008'))
  await until(() => expect(peer.heard).toBe('\x01'))
  peer.say(Buffer.alloc(32 * CHUNK, 0xff))
  peer.say(avlLogin('8168000008'))
  await until(() => expect(peer.heard).toBe('\x01\x01'))
  expect(taken.frames).toBeLessThan(32 * 64)
  expect(peer.over).toBe(false)
})

it('takes frames over TCP a hundred at a time, and loses none', async () => {
  const { shared, taken } = counting()
  const { port } = await listen(shared)
  const acknowledged = await van(port)
  const peer = await dial(port, ELSEWHERE)
  peer.say('id 007\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  taken.mostInOneTurn = 0
  peer.say(`${'mute\n'.repeat(12_000)}fix last\n`)
  await acknowledged()
  await until(() => expect(peer.heard).toBe('hi\nok last\n'))
  expect(taken.mostInOneTurn).toBeLessThanOrEqual(200)
  expect(shared.stored).toHaveLength(12_002)
})

it('ends a connection after 200 frames without a device, while a van is acknowledged', async () => {
  const ended = await refusals('flood')
  const { shared, taken } = counting()
  const anonymous = {
    ...talk,
    decode: (frame: Buffer, session: Parameters<typeof talk.decode>[1]) =>
      frame.toString() === 'ping\n' ? {} : talk.decode(frame, session),
  }
  const { port } = await open(listenTcp({ ...AT, protocol: anonymous }, shared))
  const acknowledged = await van(port)
  const peer = await dial(port, ELSEWHERE)
  peer.say('ping\n'.repeat(10_000))
  await until(() => expect(peer.over).toBe(true))
  await acknowledged()
  expect([taken.frames < 310, await ended()]).toEqual([true, 1])
  expect(inEnglish(observations.current()).find(({ code }) => code === 'flood')?.evidence).toContain(
    `${NETWORK}: more than the limit of connection`,
  )
})

it('delays frames of a device above its limit on all its connections, while other vans are acknowledged', async () => {
  const paused = await pauses('device')
  const { shared, taken } = counting()
  const { port } = await listen(shared)
  const acknowledged = await van(port)
  const peers = await Promise.all(Array.from({ length: 4 }, () => dial(port, ELSEWHERE)))
  for (const peer of peers) peer.say('id 007\n')
  await until(() => expect(peers.every(({ heard }) => heard === 'hi\n')).toBe(true))
  for (const peer of peers) peer.say('mute\n'.repeat(20_000))
  await until(async () => expect(await paused()).toBeGreaterThan(0))
  const soon = taken.frames
  for (let i = 0; i < 20; i++) await acknowledged()
  expect(soon).toBeLessThan(33_000)
  expect(taken.frames - soon).toBeLessThan(5000)
})

it('ends connections above the limit of failures without an answer; a van of their network is acknowledged', async () => {
  const ended = await refusals('flood')
  const { shared } = counting({ flood: new Flood(() => 0) })
  const { port } = await listen(shared)
  const acknowledged = await van(port)
  shared.flood.take('failures', '127.0.0.0/24', 1e6)
  const guessers = await Promise.all(Array.from({ length: 10 }, () => dial(port)))
  for (const [index, guesser] of guessers.entries()) guesser.say(index < 5 ? 'id nobody\n' : 'id locked guess\n')
  await until(() => expect(guessers.every(({ over }) => over)).toBe(true))
  expect(guessers.map(({ heard }) => heard).join('')).toBe('')
  expect(await ended()).toBe(10)
  await acknowledged()
})

it('answers a refused login late if its network is a little above the limit of failures', async () => {
  const paused = await pauses('failures')
  const { shared } = counting({ flood: new Flood(() => 0) })
  const { port } = await listen(shared)
  shared.flood.take('failures', '127.0.0.0/24', 5010)
  const guesser = await dial(port)
  const since = performance.now()
  guesser.say('id nobody\n')
  await until(() => expect(guesser.heard).toBe('no\n'))
  expect(performance.now() - since).toBeGreaterThan(200)
  expect(await paused()).toBe(2)
})

it('answers 503 to refused HTTP requests above the limit of failures, and 200 to a van of the same network', async () => {
  const { shared } = counting({ flood: new Flood(() => 0) })
  const { port } = await open(listenHttp(AT, shared))
  shared.flood.take('failures', '127.0.0.0/24', 1e6)
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}/${path}`)).status
  expect([await get('fixof%20nobody'), await get('nonsense'), await get('fixof%20van-1')]).toEqual([503, 503, 200])
})

it('ends a refused MQTT connection above the limit of failures; a van of its network is acknowledged', async () => {
  const ended = await refusals('flood')
  const { shared } = counting({ flood: new Flood(() => 0) })
  const { port } = await open(listenMqtt(AT, { ...shared, protocolNamed }))
  shared.flood.take('failures', '127.0.0.0/24', 1e6)
  const guesser = await raw(port)
  guesser.say(connect({ user: 'locked', password: 'guess' }))
  await until(() => expect(guesser.over).toBe(true))
  const peer = await raw(port)
  peer.say(connect({ user: 'van-1' }))
  await until(() => expect(peer.hex).toBe(connack(0)))
  peer.say(publish({ topic: TOPIC, payload: position(), qos: 1 }))
  await until(() => expect(peer.hex).toBe(connack(0) + puback(1)))
  expect([guesser.hex, await ended()]).toEqual(['', 1])
})

it('ends connections of a network above its limit, and none of other networks', async () => {
  const ended = await refusals('flood')
  const shared = gateway({ flood: new Flood(() => 0) })
  const { port } = await listen(shared)
  shared.flood.take('connections', NETWORK, 1e6)
  const refused = await dial(port, ELSEWHERE)
  await until(() => expect(refused.over).toBe(true))
  await (await van(port))()
  expect(await ended()).toBe(1)
})

it('reads connections late if their network is a little above its limit', async () => {
  const shared = gateway({ flood: new Flood(() => 0) })
  const { port } = await listen(shared)
  shared.flood.take('connections', NETWORK, 30_000 + 899)
  const since = performance.now()
  const peer = await dial(port, ELSEWHERE)
  peer.say('id 007\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  expect(performance.now() - since).toBeGreaterThan(250)
})

it('serves an HTTP connection after the wait that the limit of its network demands', async () => {
  const paused = await pauses('connections')
  const shared = gateway({ flood: new Flood(() => 0) })
  const { port } = await open(listenHttp(AT, shared))
  shared.flood.take('connections', NETWORK, 30_000)
  const peer = await dial(port, ELSEWHERE)
  peer.say('GET /fixof%20van-1 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => expect(peer.heard).toContain('200 OK'))
  expect(await paused()).toBe(1)
})

it.each([
  ['TCP', (shared: Gateway) => listenTcp(AT, shared)],
  ['HTTP', (shared: Gateway) => listenHttp(AT, shared)],
  ['MQTT', (shared: Gateway) => listenMqtt({ ...AT, port: 0 }, { ...shared, protocolNamed })],
])('ends connections that wait over %s when their gateway closes', async (_, openTo) => {
  const shared = gateway()
  const listener = await openTo(shared)
  const ended = await pauses('connections')
  shared.flood.take('connections', '127.0.0.0/24', 60_000)
  const peer = await dial(listener.port)
  await until(async () => expect(await ended()).toBe(2))
  await listener.close(60_000)
  await until(() => expect(peer.over).toBe(true))
})

it('answers late a device that logs in too often without a fix', async () => {
  const [ended, paused] = [await refusals('flood'), await pauses('logins')]
  const shared = gateway({ flood: new Flood(() => 0) })
  const { port } = await listen(shared)
  const login = async () => {
    const peer = await dial(port, ELSEWHERE)
    peer.say('id van-1\n')
    return peer
  }
  shared.flood.charge('logins', inNetwork('van-1', NETWORK, true), 300)
  const last = await login()
  await until(() => expect(last.heard).toBe('hi\n'))
  expect(await paused()).toBe(0)
  last.socket.destroy()
  await until(() => expect(shared.goneDevices).toEqual(['van-1']))
  const late = await login()
  await until(() => expect(late.heard).toBe('hi\n'))
  await (await van(port))()
  expect([await paused(), await ended()]).toEqual([1, 0])
})

it('answers MQTT pings once a chunk, and acknowledges a van meanwhile', async () => {
  const shared = gateway()
  const { port } = await open(listenMqtt(AT, { ...shared, protocolNamed }))
  const [flooding, peer] = [await raw(port, ELSEWHERE), await raw(port)]
  flooding.say(connect({ user: '007' }))
  peer.say(connect({ user: 'van-1' }))
  await until(() => expect(flooding.hex + peer.hex).toBe(connack(0) + connack(0)))
  flooding.say(Buffer.alloc(16 * CHUNK, Buffer.from('c000', 'hex')))
  flooding.say(publish({ topic: 'devices/007/fix', payload: position(), qos: 1 }))
  peer.say(publish({ topic: TOPIC, payload: position(), qos: 1 }))
  await until(() => expect(peer.hex).toBe(connack(0) + puback(1)))
  await until(() => expect(flooding.hex.endsWith(puback(1))).toBe(true))
  expect(flooding.hex.length / 4).toBeLessThan(16 * 64)
})

it('handles cheap MQTT packets at most a hundred at a time', async () => {
  const { shared, taken } = counting()
  const { port } = await open(listenMqtt(AT, { ...shared, protocolNamed }))
  const peer = await raw(port)
  peer.say(connect({ user: 'van-1' }))
  await until(() => expect(peer.hex).toBe(connack(0)))
  const packet = publish({ topic: TOPIC, payload: position(), qos: 0 })
  peer.say(Buffer.concat(Array<Buffer>(2000).fill(packet)))
  peer.say(publish({ topic: TOPIC, payload: position(), qos: 1 }))
  await until(() => expect(peer.hex).toBe(connack(0) + puback(1)))
  expect(shared.stored).toHaveLength(2001)
  // The limit counts packets that the broker handles, has read, and has queued.
  expect(taken.mostInOneTurn).toBeLessThanOrEqual(300)
})
