import { createSocket } from 'node:dgram'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Backpressure } from '../../src/listen/backpressure.ts'
import { listenUdp, dropReason } from '../../src/listen/udp.ts'
import { count, type Gateway, gateway, open, refusals, talk, until } from '../support/listen.ts'

const AT = { host: '127.0.0.1', port: 0, protocol: talk }
const listen = (shared: Gateway) => open(listenUdp(AT, shared))

/** A device with a socket of its own. */
async function device(port: number) {
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  const heard: string[] = []
  socket.on('message', (bytes) => heard.push(bytes.toString()))
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { heard, say: (text: string) => socket.send(text, port, '127.0.0.1') }
}

describe('UDP datagrams', () => {
  it('are answered once they are stored', async () => {
    const shared = gateway()
    const { port } = await listen(shared)
    const van = await device(port)
    shared.store = 'waits'
    van.say('fixof van-1\n')
    await until(async () => expect(await count('in_flight_bytes')).toBe(12))
    expect(van.heard).toEqual([])
    shared.store = 'takes'
    await until(() => expect(van.heard).toEqual(['ok\n']))
    expect(shared.places).toEqual(['7/42/1001'])
  })

  it('from one address and port share a session', async () => {
    const shared = gateway()
    const { port } = await listen(shared)
    const [van, other] = [await device(port), await device(port)]
    van.say('id van-1\n')
    await until(() => expect(van.heard).toEqual(['hi\n']))
    van.say('fix 1\n')
    other.say('fix 2\n')
    await until(() => expect(van.heard).toEqual(['hi\n', 'ok 1\n']))
    await until(async () => expect(await count('in_flight_bytes')).toBe(0))
    expect([other.heard, shared.stored.length]).toEqual([[], 1])
  })

  it('may contain several frames, each with its answer', async () => {
    const { port } = await listen(gateway())
    const van = await device(port)
    van.say('id van-1\nfix 1\n?\nfix 2')
    await until(() => expect(van.heard).toEqual(['hi\n', 'ok 1\n', 'ok 2\n']))
  })

  it('are not answered while they cannot be stored, and are stored when sent again', async () => {
    const shared = gateway()
    const { port } = await listen(shared)
    const van = await device(port)
    shared.store = 'fails'
    van.say('fixof van-1\n')
    van.say('id van-1\n')
    await until(() => expect(van.heard).toEqual(['hi\n']))
    shared.store = 'takes'
    van.say('fixof van-1\n')
    await until(() => expect(van.heard).toEqual(['hi\n', 'ok\n']))
  })

  it('of an unknown device are answered with the refusal of the protocol', async () => {
    const refused = await refusals('unknown_device')
    const { port } = await listen(gateway())
    const van = await device(port)
    van.say('id nobody\n')
    await until(() => expect(van.heard).toEqual(['no\n']))
    expect(await refused()).toBe(1)
  })

  it('without bytes, with too many, or with garbage are counted, and others are served', async () => {
    const [empty, long] = [await refusals('empty_datagram'), await refusals('frame_too_long')]
    const errors = await count('decode_errors_total', { protocol: 'talk', reason: 'malformed' })
    const { port } = await listen(gateway())
    const van = await device(port)
    van.say('')
    van.say('x'.repeat(4097))
    van.say('\0\0\0')
    van.say('fixof van-1\n')
    await until(() => expect(van.heard).toEqual(['ok\n']))
    const garbage = (await count('decode_errors_total', { protocol: 'talk', reason: 'malformed' })) - errors
    expect([await empty(), await long(), garbage]).toEqual([1, 1, 1])
  })

  it('after a fault in a decoder are served as before', async () => {
    const shared = gateway()
    const take: Gateway['ingest']['take'] = async (frame, session, protocol) => {
      if (frame.toString() === 'mute\n') throw new RangeError('a fault of ours')
      return shared.ingest.take(frame, session, protocol)
    }
    const { port } = await listen({ ...shared, ingest: { ...shared.ingest, take } })
    const van = await device(port)
    van.say('mute\n')
    van.say('fixof van-1\n')
    await until(() => expect(van.heard).toEqual(['ok\n']))
    expect(await count('in_flight_bytes')).toBe(0)
  })

  it('are dropped under pressure', async () => {
    const refused = await refusals('overload')
    const shared = gateway({ pressure: new Backpressure({ highMark: 10 }) })
    const { port } = await listen(shared)
    const [first, second] = [await device(port), await device(port)]
    shared.store = 'waits'
    first.say('fixof van-1\n')
    await until(() => expect(shared.pressure.isHigh).toBe(true))
    second.say('fixof 007\n')
    await until(async () => expect(await refused()).toBe(1))
    shared.store = 'takes'
    await until(() => expect(first.heard).toEqual(['ok\n']))
    second.say('fixof 007\n')
    await until(() => expect(second.heard).toEqual(['ok\n']))
    expect(shared.stored).toHaveLength(2)
  })

  it('count as pressure more by their frames than by their bytes', async () => {
    const shared = gateway({ pressure: new Backpressure({ highMark: 30_000 }) })
    const { port } = await listen(shared)
    const van = await device(port)
    van.say('id van-1\n')
    await until(() => expect(van.heard).toEqual(['hi\n']))
    shared.store = 'waits'
    van.say('mute\n'.repeat(10))
    await until(() => expect(shared.pressure.isHigh).toBe(true))
    expect(await count('in_flight_bytes')).toBe(50)
    shared.store = 'takes'
    await until(() => expect(shared.pressure.isHigh).toBe(false))
  })
})

describe('UDP sessions', () => {
  it('are forgotten after idle_timeout', async () => {
    const shared = gateway({ limits: { idle_timeout: 100 } })
    const sessions: unknown[] = []
    const take: Gateway['ingest']['take'] = (frame, session, protocol) => {
      if (!sessions.includes(session)) sessions.push(session)
      return shared.ingest.take(frame, session, protocol)
    }
    const { port } = await listen({ ...shared, ingest: { ...shared.ingest, take } })
    const van = await device(port)
    van.say('id van-1\n')
    await until(() => expect(van.heard).toHaveLength(1))
    const since = Date.now()
    await until(() => expect(Date.now() - since).toBeGreaterThan(1300))
    van.say('id van-1\n')
    await until(() => expect(van.heard).toHaveLength(2))
    expect(sessions).toHaveLength(2)
  })

  it('are at most max_connections: the oldest is forgotten', async () => {
    const { port } = await listen(gateway({ limits: { max_connections: 2 } }))
    const [first, second, third] = [await device(port), await device(port), await device(port)]
    first.say('id van-1\n')
    await until(() => expect(first.heard).toEqual(['hi\n']))
    third.say('id 8168000008\n')
    await until(() => expect(third.heard).toEqual(['hi\n']))
    second.say('id 007\n')
    await until(() => expect(second.heard).toEqual(['hi\n']))
    first.say('fix 1\n')
    second.say('fix 2\n')
    await until(() => expect(second.heard).toEqual(['hi\n']))
    first.say('id van-1\n')
    await until(() => expect(first.heard).toEqual(['hi\n', 'hi\n']))
  })
})

describe('forged UDP sources', () => {
  it('push out no identified session', async () => {
    const { port } = await listen(gateway({ limits: { max_connections: 2 } }))
    const van = await device(port)
    van.say('id van-1\n')
    await until(() => expect(van.heard).toEqual(['hi\n']))
    const refused = await refusals('unknown_device')
    for (let i = 0; i < 5; i++) (await device(port)).say('fix\n')
    await until(async () => expect(await refused()).toBe(5))
    van.say('fix 1\n')
    await until(() => expect(van.heard).toEqual(['hi\n', 'ok 1\n']))
  })

  it('with port 0 are dropped, as they cannot be answered', () => {
    const shared = gateway()
    expect(dropReason(Buffer.from('fix\n'), { port: 0 }, shared)).toBe('no_source_port')
    expect(dropReason(Buffer.from('fix\n'), { port: 1 }, shared)).toBeUndefined()
  })
})

describe('closing a UDP listener', () => {
  it('ends a UDP listener after the given time although a fix is not stored', async () => {
    const shared = gateway()
    const listener = await listenUdp(AT, shared)
    const van = await device(listener.port)
    shared.store = 'waits'
    van.say('fixof van-1\n')
    await until(async () => expect(await count('in_flight_bytes')).toBe(12))
    await listener.close(50)
    shared.store = 'takes'
    await until(async () => expect(await count('in_flight_bytes')).toBe(0))
    expect([van.heard, shared.stored.length]).toEqual([[], 1])
  })

  it('stores and answers what was read before a UDP listener ends', async () => {
    const shared = gateway()
    const listener = await listenUdp(AT, shared)
    const van = await device(listener.port)
    shared.store = 'waits'
    van.say('fixof van-1\n')
    await until(async () => expect(await count('in_flight_bytes')).toBe(12))
    const closed = listener.close()
    shared.store = 'takes'
    await closed
    await until(() => expect(van.heard).toEqual(['ok\n']))
  })

  it('reports why a UDP port cannot be opened', async () => {
    const { port } = await listen(gateway())
    await expect(listenUdp({ ...AT, port }, gateway())).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})
