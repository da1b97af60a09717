import { expect, it } from 'vitest'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { listenUdp } from '../../../src/gateway/wire/udp.ts'
import { contentOf, type MisunderstoodFrame } from '../../../src/store/misunderstood-frame.ts'
import { dial, type Gateway, gateway, open, talk, until } from '../../support/listen.ts'
import { client, listen } from '../../support/mqtt.ts'
import { datagramPeer } from '../../support/udp.ts'

const AT = { host: '127.0.0.1', port: 0, protocol: talk }

const shown = ({ device, transport, reason, ...frame }: MisunderstoodFrame) => {
  const content = contentOf(frame as MisunderstoodFrame)
  return [device, transport, reason, Buffer.isBuffer(content) ? content.toString() : content.uri]
}

/** Waits until the gateway has tried to store something. */
async function whenTried(shared: Gateway): Promise<void> {
  await until(() => expect(shared.tries).toBeGreaterThan(0))
}

/** A connection of van-1. */
async function connection(shared: Gateway) {
  const { port } = await open(listenTcp(AT, shared))
  const peer = await dial(port)
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  return peer
}

it('answers a TCP frame that is not understood once it is stored', async () => {
  const shared = gateway()
  const peer = await connection(shared)
  shared.store = 'waits'
  peer.say('odd 1\nwhat\npart\nhush\nfix 2\n')
  await whenTried(shared)
  expect(peer.heard).toBe('hi\n')
  shared.store = 'takes'
  await until(() => expect(peer.heard).toBe('hi\nok 1\nhm\nok\nok 2\n'))
  expect(shared.frames.map(shown)).toEqual([
    ['van-1', 'tcp', 'not_read', 'odd 1\n'],
    ['van-1', 'tcp', 'unknown_type', 'what\n'],
    ['van-1', 'tcp', 'unknown_type', 'hush\n'],
    ['van-1', 'tcp', 'entries', 'part\n'],
  ])
  expect([peer.over, shared.stored.length]).toEqual([false, 2])
})

it('ends a connection without an answer if there is no room for its frame, and answers others', async () => {
  const shared = gateway()
  shared.store = 'has no room'
  const [full, other] = [await connection(shared), await connection(shared)]
  full.say('odd 1\n')
  await until(() => expect(full.over).toBe(true))
  expect(full.heard).toBe('hi\n')
  other.say('fix\nping\n')
  await until(() => expect(other.heard).toBe('hi\nok\npong\n'))
})

it('acknowledges each frame of a relay once, stores its configured devices, and keeps the connection', async () => {
  const shared = gateway()
  const { port } = await open(listenTcp(AT, shared))
  const relay = await dial(port)
  relay.say('relay van-1 nobody 007 locked\nrelay 007\n')
  await until(() => expect(relay.heard).toBe('ok\nok\n'))
  expect(shared.places).toEqual(['7/42/1001', '7/43/1002', '7/43/1002'])
  relay.say('relay nobody\n')
  await until(() => expect(relay.heard).toBe('ok\nok\nok\n'))
  expect([relay.over, shared.stored.length]).toEqual([false, 3])
})

it('keeps and answers a frame with unreadable content at once if its checksum fits', async () => {
  const shared = gateway()
  const peer = await connection(shared)
  shared.store = 'waits'
  peer.say('checked 1\nfix 2\n')
  await whenTried(shared)
  expect(peer.heard).toBe('hi\n')
  shared.store = 'takes'
  await until(() => expect(peer.heard).toBe('hi\nok 1\nok 2\n'))
  expect(shared.frames).toMatchObject([
    { device: 'van-1', reason: 'not_read', error: expect.stringMatching(/malformed: the content/) },
  ])
})

it('does not take a frame for checked because another frame of its connection was', async () => {
  const shared = gateway()
  const peer = await connection(shared)
  peer.say('checked 1\nunread 2\nping\n')
  await until(() => expect(peer.heard).toBe('hi\nok 1\npong\n'))
  expect(shared.frames.map(shown)).toEqual([['van-1', 'tcp', 'not_read', 'checked 1\n']])
})

it('keeps and answers an unreadable frame that comes again, and does not hold up good frames between', async () => {
  const shared = gateway()
  const first = await connection(shared)
  first.say('unread 1\nfix 2\n')
  await until(() => expect(first.heard).toBe('hi\nok 2\n'))
  expect(shared.frames).toEqual([])
  first.socket.end()
  const second = await connection(shared)
  second.say('unread 1\nunread 3\nfix 4\n')
  await until(() => expect(second.heard).toBe('hi\nok 1\nok 4\n'))
  expect(shared.frames.map(shown)).toEqual([['van-1', 'tcp', 'not_read', 'unread 1\n']])
})

it('does not take an unreadable frame for repeated because another device sent the same bytes', async () => {
  const shared = gateway()
  const first = await connection(shared)
  first.say('unread 1\nping\n')
  await until(() => expect(first.heard).toBe('hi\npong\n'))
  const { port } = await open(listenTcp(AT, shared))
  const other = await dial(port)
  other.say('id 007\nunread 1\nping\n')
  await until(() => expect(other.heard).toBe('hi\npong\n'))
  expect(shared.frames).toEqual([])
})

it('answers an unreadable HTTP request with 400 first, and with 200 when it comes again', async () => {
  const shared = gateway()
  const { port } = await open(listenHttp(AT, shared))
  const get = async () => (await fetch(`http://127.0.0.1:${port}/by van-1 unread 1`)).status
  expect([await get(), await get()]).toEqual([400, 200])
  expect(shared.frames.map(shown)).toEqual([['van-1', 'http', 'not_read', '/by%20van-1%20unread%201']])
})

it('keeps an unreadable datagram when it comes again', async () => {
  const shared = gateway()
  const { port } = await open(listenUdp(AT, shared))
  const van = await datagramPeer(port)
  van.say('id van-1\n')
  await until(() => expect(van.heard).toEqual(['hi\n']))
  van.say('unread 1\n')
  van.say('unread 1\n')
  await until(() => expect(van.heard).toEqual(['hi\n', 'ok 1\n']))
  expect(shared.frames.map(shown)).toEqual([['van-1', 'udp', 'not_read', 'unread 1\n']])
})

it('answers a datagram that is not understood once it is stored, and not if there is no room', async () => {
  const shared = gateway()
  const { port } = await open(listenUdp(AT, shared))
  const van = await datagramPeer(port)
  van.say('id van-1\n')
  await until(() => expect(van.heard).toEqual(['hi\n']))
  shared.store = 'waits'
  van.say('odd 1\n')
  await whenTried(shared)
  expect(van.heard).toEqual(['hi\n'])
  shared.store = 'takes'
  await until(() => expect(van.heard).toEqual(['hi\n', 'ok 1\n']))
  expect(shared.frames.map(shown)).toEqual([['van-1', 'udp', 'not_read', 'odd 1\n']])
  shared.store = 'has no room'
  van.say('odd 2\n')
  van.say('ping\n')
  await until(() => expect(van.heard).toEqual(['hi\n', 'ok 1\n', 'pong\n']))
})

it.each(['odd', 'what', 'hush'])(
  'answers 200 to a request that is not understood once it is stored, else 503: %s',
  async (word) => {
    const shared = gateway()
    const { port } = await open(listenHttp(AT, shared))
    const get = () => fetch(`http://127.0.0.1:${port}/by van-1 ${word}`)
    shared.store = 'fails'
    expect((await get()).status).toBe(503)
    shared.store = 'takes'
    expect((await get()).status).toBe(200)
    expect(shared.frames.map(shown)).toMatchObject([['van-1', 'http', expect.any(String), `/by%20van-1%20${word}`]])
  },
)

it.each(['odd', 'what', 'garbage'])(
  'sends PUBACK for a payload that is not understood once it is stored: %s',
  async (word) => {
    const shared = gateway()
    const van = await client((await listen(shared)).port)
    shared.store = 'waits'
    let isAcknowledged = false
    const published = van.publishAsync('devices/van-1/talk', word, { qos: 1 }).finally(() => (isAcknowledged = true))
    await whenTried(shared)
    expect(isAcknowledged).toBe(false)
    shared.store = 'takes'
    await published
    expect(shared.frames.map(shown)).toMatchObject([['van-1', 'mqtt', expect.any(String), word]])
  },
)
