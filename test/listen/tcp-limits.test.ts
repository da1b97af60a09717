import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/ingest/index.ts'
import { createPressure } from '../../src/listen/pressure.ts'
import { listenTcp } from '../../src/listen/tcp.ts'
import { count, dial, type Gateway, gateway, open, openConnections, refusals, talk, until } from './fixture.ts'

const AT = { host: '127.0.0.1', port: 0, protocol: talk }
const listen = (shared: Gateway, protocol = talk) => open(listenTcp({ ...AT, protocol }, shared))

describe('refusing', () => {
  it('gives an unknown device its refusal, then ends', async () => {
    const { port } = await listen(gateway())
    const peer = await dial(port)
    peer.say('id nobody\n')
    await until(() => expect(peer.over).toBe(true))
    expect(peer.heard).toBe('no\n')
  })

  it('ingests nothing of a connection after its refusal', async () => {
    const frames: string[] = []
    const first = Promise.withResolvers<void>()
    const ingest: Gateway['ingest'] = async (frame) => {
      frames.push(frame.toString())
      if (frames.length === 1) await first.promise
      return { status: 'refused', reason: 'unknown_device', refusal: Buffer.from('no\n') }
    }
    const { port } = await listen({ ...gateway(), ingest })
    const peer = await dial(port)
    peer.say('id nobody\n')
    await until(() => expect(frames).toEqual(['id nobody\n']))
    peer.say('fix 1\n')
    await until(() => expect(peer.socket.bytesWritten).toBe(16))
    await new Promise(setImmediate)
    first.resolve()
    await until(() => expect(peer.over).toBe(true))
    expect(peer.heard).toBe('no\n')
    expect(frames).toEqual(['id nobody\n'])
  })

  it('refuses a wrong secret', async () => {
    const refused = await refusals('wrong_secret')
    const { port } = await listen(gateway())
    const peer = await dial(port)
    peer.say('id locked guess\n')
    await until(() => expect(peer.over).toBe(true))
    expect([peer.heard, await refused()]).toEqual(['no\n', 1])
  })

  it('ends without an answer where a fix cannot be stored', async () => {
    const shared = gateway()
    const { port } = await listen(shared)
    const peer = await dial(port)
    peer.say('id van-1\n')
    await until(() => expect(peer.heard).toBe('hi\n'))
    shared.store = 'fails'
    peer.say('fix 1\n')
    await until(() => expect(peer.over).toBe(true))
    expect(peer.heard).toBe('hi\n')
  })

  it('ends where data has no end of line: 100 MB', async () => {
    const refused = await refusals('frame_too_long')
    const { port } = await listen(gateway())
    const peer = await dial(port)
    const megabyte = Buffer.alloc(1 << 20, 'x')
    for (let sent = 0; sent < 100 && !peer.over; sent++)
      if (!peer.socket.write(megabyte))
        await Promise.race([
          new Promise((resolve) => peer.socket.once('drain', resolve)),
          new Promise((resolve) => peer.socket.once('close', resolve)),
        ])
    await until(() => expect(peer.over).toBe(true))
    expect(await refused()).toBe(1)
    expect(peer.socket.bytesWritten).toBeLessThan(100 << 20)
  })

  it('ends where only noise comes', async () => {
    const refused = await refusals('noise')
    const { port } = await listen(gateway())
    const peer = await dial(port)
    peer.say('?\n'.repeat(3000))
    await until(() => expect(peer.over).toBe(true))
    expect(await refused()).toBe(1)
  })

  it('forgives noise between good frames', async () => {
    const { port } = await listen(gateway())
    const peer = await dial(port)
    const much = `${'?\n'.repeat(1000)}fix\n`
    peer.say('id van-1\n')
    for (let i = 1; i <= 5; i++) {
      peer.say(much)
      await until(() => expect(peer.heard).toBe(`hi\n${'ok\n'.repeat(i)}`))
    }
  })

  it('ends where answers are not read', async () => {
    const refused = await refusals('not_reading')
    const { port } = await listen({ ...gateway(), ingest: answerMuch })
    const peer = await dial(port)
    peer.socket.pause()
    peer.say('fix\n'.repeat(64))
    await until(async () => expect(await refused()).toBe(1))
  })
})

describe('time and number', () => {
  it('ends a connection that does not say who it is', async () => {
    const refused = await refusals('not_identified')
    const { port } = await listen(gateway({ limits: { identify_timeout: 100 } }))
    const peer = await dial(port)
    await until(() => expect(peer.over).toBe(true))
    expect(await refused()).toBe(1)
  })

  it('ends one that sends something that is no login now and then', async () => {
    const { port } = await listen(gateway({ limits: { identify_timeout: 300 } }))
    const peer = await dial(port)
    const timer = setInterval(() => peer.say('x'), 50)
    await until(() => expect(peer.over).toBe(true))
    clearInterval(timer)
  })

  it('ends a device that has long said nothing, not one that speaks', async () => {
    const refused = await refusals('idle')
    const { port } = await listen(gateway({ limits: { idle_timeout: 1500 } }))
    const [silent, talking] = [await dial(port), await dial(port)]
    silent.say('id van-1\n')
    talking.say('id 007\n')
    const timer = setInterval(() => talking.say('fix\n'), 100)
    await until(() => expect(silent.over).toBe(true))
    clearInterval(timer)
    expect([talking.over, await refused()]).toEqual([false, 1])
  })

  it('admits so many connections from an address', async () => {
    const refused = await refusals('max_per_ip')
    await until(async () => expect(await openConnections('tcp')).toBe(0))
    const { port } = await listen(gateway({ limits: { max_connections_per_ip: 2 } }))
    const [first, second] = [await dial(port), await dial(port)]
    first.say('id van-1\n')
    second.say('id 007\n')
    await until(() => expect([first.heard, second.heard]).toEqual(['hi\n', 'hi\n']))
    const third = await dial(port)
    await until(() => expect(third.over).toBe(true))
    expect(await refused()).toBe(1)

    first.socket.destroy()
    await until(async () => expect(await openConnections('tcp')).toBe(1))
    const fourth = await dial(port)
    fourth.say('id van-1\n')
    await until(() => expect(fourth.heard).toBe('hi\n'))
  })

  it('admits so many connections in all', async () => {
    const refused = await refusals('max_connections')
    const { port } = await listen(gateway({ limits: { max_connections: 1 } }))
    const first = await dial(port)
    first.say('id van-1\n')
    await until(() => expect(first.heard).toBe('hi\n'))
    const second = await dial(port)
    await until(() => expect(second.over).toBe(true))
    expect(await refused()).toBe(1)
  })

  it('counts open connections', async () => {
    await until(async () => expect(await openConnections('tcp')).toBe(0))
    const { port } = await listen(gateway())
    const peer = await dial(port)
    await until(async () => expect(await openConnections('tcp')).toBe(1))
    peer.socket.destroy()
    await until(async () => expect(await openConnections('tcp')).toBe(0))
  })
})

describe('pressure', () => {
  it('stops reading sockets above the high mark, and goes on below the low one', async () => {
    const shared = gateway({ pressure: createPressure(10, 5) })
    const { port } = await listen(shared)
    const [first, second] = [await dial(port), await dial(port)]
    first.say('id van-1\n')
    second.say('id 007\n')
    await until(() => expect(first.heard + second.heard).toBe('hi\nhi\n'))

    shared.store = 'waits'
    first.say('fix 1\nfix 2\n')
    await until(() => expect(shared.pressure.high).toBe(true))
    second.say('fix 3\n')
    const late = await dial(port)
    late.say('id van-1\n')
    await until(() => expect(late.socket.bytesWritten).toBe(9))
    await new Promise(setImmediate)
    expect(await count('in_flight_bytes')).toBe(12)

    shared.store = 'takes'
    await until(() => expect(first.heard).toBe('hi\nok 1\nok 2\n'))
    await until(() => expect([second.heard, late.heard]).toEqual(['hi\nok 3\n', 'hi\n']))
  })

  it('does not blame a device for the silence of a gateway that did not read', async () => {
    const shared = gateway({ limits: { idle_timeout: 300, identify_timeout: 300 }, pressure: createPressure(5, 1) })
    const { port } = await listen(shared)
    const first = await dial(port)
    shared.store = 'waits'
    first.say('id van-1\nfix 1\n')
    await until(() => expect(shared.pressure.high).toBe(true))
    const second = await dial(port)
    second.say('id 007\nfix 2\n')
    const since = Date.now()
    await until(() => expect(Date.now() - since).toBeGreaterThan(1500))
    shared.store = 'takes'
    await until(() => expect(first.heard).toBe('hi\nok 1\n'))
    await until(() => expect(second.heard).toBe('hi\nok 2\n'))
  })
})

async function answerMuch(): Promise<Outcome> {
  return { status: 'stored', reply: Buffer.alloc(1 << 20) }
}
