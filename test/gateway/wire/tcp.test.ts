import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import teltonika from '../../../protocols/teltonika/index.ts'
import { Backpressure } from '../../../src/gateway/admit/backpressure.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { count, dial, type Gateway, gateway, open, refusals, stopTime, talk, until } from '../../support/listen.ts'

const AT = { host: '127.0.0.1', port: 0, protocol: talk }
const listen = (shared: Gateway, protocol = talk) => open(listenTcp({ ...AT, protocol }, shared))

it('answers each TCP frame once it is stored, in order', async () => {
  const { port } = await listen(gateway())
  const peer = await dial(port)
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  peer.say('fix 1\nfix 2\nfix 3\n')
  await until(() => expect(peer.heard).toBe('hi\nok 1\nok 2\nok 3\n'))
})

it('accepts login and data in one TCP chunk', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const peer = await dial(port)
  peer.say('id van-1\nfix 1\nmute\nfix 2\n')
  await until(() => expect(peer.heard).toBe('hi\nok 1\nok 2\n'))
  expect(shared.places).toEqual(Array(3).fill('7/42/1001'))
})

it('keeps the order of TCP replies when a later frame is stored first', async () => {
  const shared = gateway()
  const order: (() => void)[] = []
  const take: Gateway['ingest']['take'] = async (frame) => {
    await new Promise<void>((resolve) => order.push(resolve))
    return { status: 'stored', reply: frame as Buffer }
  }
  const { port } = await listen({ ...shared, ingest: { ...shared.ingest, take } })
  const peer = await dial(port)
  peer.say('fix 1\nfix 2\n')
  await until(() => expect(order).toHaveLength(2))
  order[1]()
  order[0]()
  await until(() => expect(peer.heard).toBe('fix 1\nfix 2\n'))
})

it('does not answer a TCP frame before it is stored', async () => {
  const shared = gateway()
  shared.store = 'waits'
  const { port } = await listen(shared)
  const peer = await dial(port)
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  peer.say('fix 1\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(6))
  expect(peer.heard).toBe('hi\n')
  shared.store = 'takes'
  await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
})

it('understands TCP frames that are split at any byte', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const words = 'id van-1\nfix 1\nfix 2\n'
  for (let at = 1; at < words.length; at++) {
    const peer = await dial(port)
    peer.say(words.slice(0, at))
    await until(() => expect(peer.socket.bytesWritten).toBe(at))
    peer.say(words.slice(at))
    await until(() => expect(peer.heard).toBe('hi\nok 1\nok 2\n'))
    peer.socket.destroy()
  }
  expect(shared.stored).toHaveLength(2 * (words.length - 1))
})

it('understands TCP frames that arrive byte by byte', async () => {
  const { port } = await listen(gateway())
  const peer = await dial(port)
  for (const byte of 'id van-1\nfix 1\n') {
    peer.say(byte)
    await new Promise(setImmediate)
  }
  await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
})

it('takes bytes that arrive over TCP while earlier frames are being stored', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const peer = await dial(port)
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  shared.store = 'waits'
  peer.say('fix 1\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(6))
  peer.say('fix 2\nfix 3\nfi')
  peer.say('x 4\n')
  shared.store = 'takes'
  await until(() => expect(peer.heard).toBe('hi\nok 1\nok 2\nok 3\nok 4\n'))
})

it('answers a TCP device that has closed its sending side', async () => {
  const shared = gateway()
  shared.store = 'waits'
  const { port } = await listen(shared)
  const peer = await dial(port)
  peer.socket.end('id van-1\nfix 1\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(15))
  shared.store = 'takes'
  await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
  await until(() => expect(peer.over).toBe(true))
})

it('keeps a TCP connection open after a frame that is not understood', async () => {
  const { port } = await listen(gateway())
  const peer = await dial(port)
  peer.say('id van-1\nwhat?\nfix 1\n')
  await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
})

it('notes that a device is gone when its TCP connection closes', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const peer = await dial(port)
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  peer.socket.destroy()
  await until(() => expect(shared.goneDevices).toEqual(['van-1']))
})

it('notes each device of a TCP connection as gone when it closes', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const peer = await dial(port)
  peer.say('id van-1\nfix 1\nfixof 007\nfixof van-1\nfixof 8168000008\n')
  await until(() => expect(peer.heard).toBe('hi\nok 1\nok\nok\nok\n'))
  peer.socket.destroy()
  await until(() => expect(shared.goneDevices).toEqual(['van-1', '007', '8168000008']))
})

it('answers an unknown IMEI with the refusal of Teltonika', async () => {
  const refused = await refusals('unknown_device')
  const { port } = await open(listenTcp({ ...AT, protocol: teltonika }, gateway()))
  const peer = await dial(port)
  peer.say(Buffer.from('000f333536333037303432343431303133', 'hex'))
  await until(() => expect(peer.heard).toBe('\0'))
  await until(() => expect(peer.over).toBe(true))
  expect(await refused()).toBe(1)
})

it('keeps a TCP connection and its frames while Redis does not answer, and answers in order later', async () => {
  const pass = stopTime()
  const shared = gateway({ waitMs: 60_000, limits: { idle_timeout: 20_000 } })
  const { port } = await listen(shared)
  const peer = await dial(port)
  shared.store = 'fails'
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  peer.say('fix 1\nfix 2\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(12))
  peer.say('fix 3\n')
  await pass(40_000)
  expect([peer.heard, peer.over]).toEqual(['hi\n', false])
  shared.store = 'takes'
  await until(() => expect(peer.heard).toBe('hi\nok 1\nok 2\nok 3\n'))
})

it('answers TCP logins while Redis does not answer, and stops reading when memory is used up', async () => {
  const shared = gateway({ waitMs: 20_000, pressure: new Backpressure({ highMark: 7000 }) })
  const { port } = await listen(shared)
  const [van, other] = [await dial(port), await dial(port)]
  shared.store = 'fails'
  van.say('id van-1\n')
  await until(() => expect(van.heard).toBe('hi\n'))
  van.say('fix 1\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(6))
  other.say('id 007\n')
  await until(() => expect(other.heard).toBe('hi\n'))
  other.say('fix 1\nfix 2\n')
  await until(() => expect(shared.pressure.isHigh).toBe(true))
  van.say('fix 2\n')
  const late = await dial(port)
  late.say('id van-1\n')
  await until(() => expect(late.socket.bytesWritten).toBe(9))
  await new Promise(setImmediate)
  expect(await count('in_flight_bytes')).toBe(18)
  shared.store = 'takes'
  await until(() => expect(van.heard).toBe('hi\nok 1\nok 2\n'))
  await until(() => expect([other.heard, late.heard]).toEqual(['hi\nok 1\nok 2\n', 'hi\n']))
})

it('ends a TCP connection without an answer after the time that a frame may wait', async () => {
  const shared = gateway({ waitMs: 700 })
  const { port } = await listen(shared)
  const peer = await dial(port)
  shared.store = 'fails'
  peer.say('id van-1\nfix 1\n')
  await until(() => expect(peer.over).toBe(true))
  expect([peer.heard, shared.stored.length]).toEqual(['hi\n', 0])
})

it('answers a TCP login once the roster is current again', async () => {
  const pass = stopTime()
  const shared = gateway({ waitMs: 60_000, limits: { identify_timeout: 20_000 } })
  shared.replica.current = false
  const { port } = await listen(shared)
  const peer = await dial(port)
  peer.say('id van-1\nfix 1\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(15))
  await pass(40_000)
  expect([peer.heard, peer.over]).toEqual(['', false])
  shared.replica.current = true
  await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
})

it('ends the TCP connection of a frame whose handling has a fault, and no other', async () => {
  const shared = gateway()
  const take: Gateway['ingest']['take'] = async (frame, session, protocol) => {
    if ((frame as Buffer).toString() === 'mute\n') throw new RangeError('a fault of ours')
    return shared.ingest.take(frame, session, protocol)
  }
  const { port } = await listen({ ...shared, ingest: { ...shared.ingest, take } })
  const [first, second] = [await dial(port), await dial(port)]
  first.say('id van-1\n')
  second.say('id 007\nmute\n')
  await until(() => expect(second.over).toBe(true))
  first.say('fix 1\n')
  await until(() => expect(first.heard).toBe('hi\nok 1\n'))
  expect(await count('in_flight_bytes')).toBe(0)
})

it('stores and answers what was read before a TCP listener closes', async () => {
  const shared = gateway()
  const listener = await listenTcp(AT, shared)
  const [busy, idle] = [await dial(listener.port), await dial(listener.port)]
  busy.say('id van-1\n')
  idle.say('id 007\n')
  await until(() => expect(busy.heard + idle.heard).toBe('hi\nhi\n'))
  shared.store = 'waits'
  busy.say('fix 1\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(6))
  const closed = listener.close()
  await until(() => expect(idle.over).toBe(true))
  shared.store = 'takes'
  await closed
  await until(() => expect(busy.heard).toBe('hi\nok 1\n'))
  await until(() => expect(busy.over).toBe(true))
})

it('closes a TCP listener after the given time although a fix is not stored', async () => {
  const shared = gateway()
  const listener = await listenTcp(AT, shared)
  const peer = await dial(listener.port)
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  shared.store = 'waits'
  peer.say('fix 1\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(6))
  await listener.close(50)
  await until(() => expect(peer.over).toBe(true))
  shared.store = 'takes'
  await until(async () => expect(await count('in_flight_bytes')).toBe(0))
  expect(peer.heard).toBe('hi\n')
})

it('frees the port of a TCP listener that is closed', async () => {
  const listener = await listenTcp(AT, gateway())
  await listener.close()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(listener.port, '127.0.0.1', resolve))
  expect(server.listening).toBe(true)
  server.close()
})

it('reports why a TCP port cannot be opened', async () => {
  const { port } = await listen(gateway())
  await expect(listenTcp({ ...AT, port }, gateway())).rejects.toMatchObject({ code: 'EADDRINUSE' })
})
