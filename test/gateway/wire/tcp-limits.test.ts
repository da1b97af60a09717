import { expect, it } from 'vitest'
import { Backpressure } from '../../../src/gateway/admit/backpressure.ts'
import type { Outcome } from '../../../src/gateway/outcome.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import {
  count,
  dial,
  type Gateway,
  gateway,
  open,
  openConnections,
  refusals,
  stopTime,
  talk,
  until,
} from '../../support/listen.ts'

const AT = { host: '127.0.0.1', port: 0, protocol: talk }
const listen = (shared: Gateway, protocol = talk) => open(listenTcp({ ...AT, protocol }, shared))

it('sends an unknown device its refusal over TCP, then ends the connection', async () => {
  const { port } = await listen(gateway())
  const peer = await dial(port)
  peer.say('id nobody\n')
  await until(() => expect(peer.over).toBe(true))
  expect(peer.heard).toBe('no\n')
})

it('stores about 16 KiB of frames of a TCP connection at once, so that others need not wait for more', async () => {
  const shared = gateway({ limits: { max_frame_bytes: 65_536 } })
  const { port } = await listen(shared)
  const van = await dial(port)
  van.say('id van-1\n')
  await until(() => expect(van.heard).toBe('hi\n'))
  shared.store = 'waits'
  van.say(`fix 1${' '.repeat(2994)}\n`.repeat(10))
  await until(async () => expect(await count('in_flight_bytes')).toBe(18_000))
  shared.store = 'takes'
  await until(() => expect(van.heard).toBe(`hi\n${'ok 1\n'.repeat(10)}`))
})

it('takes no frame of a TCP connection after a refusal', async () => {
  const frames: string[] = []
  const first = Promise.withResolvers<void>()
  const take: Gateway['ingest']['take'] = async (frame) => {
    frames.push((frame as Buffer).toString())
    if (frames.length === 1) await first.promise
    return { status: 'refused', reason: 'unknown_device', refusal: Buffer.from('no\n') }
  }
  const { port } = await listen({ ...gateway(), ingest: { ...gateway().ingest, take } })
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

it('refuses a wrong secret over TCP', async () => {
  const refused = await refusals('wrong_secret')
  const { port } = await listen(gateway())
  const peer = await dial(port)
  peer.say('id locked guess\n')
  await until(() => expect(peer.over).toBe(true))
  expect([peer.heard, await refused()]).toEqual(['no\n', 1])
})

it('ends a TCP connection without an answer when a fix cannot be stored', async () => {
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

it('ends a TCP connection that sends bytes without the end of a frame', async () => {
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

it('ends a TCP connection on which only noise arrives', async () => {
  const refused = await refusals('noise')
  const { port } = await listen(gateway())
  const peer = await dial(port)
  peer.say(`id van-1\n${'?\n'.repeat(3000)}`)
  await until(() => expect(peer.over).toBe(true))
  expect(await refused()).toBe(1)
})

it('keeps a TCP connection open with noise between good frames', async () => {
  const { port } = await listen(gateway())
  const peer = await dial(port)
  const much = `${'?\n'.repeat(1000)}fix\n`
  peer.say('id van-1\n')
  for (let i = 1; i <= 5; i++) {
    peer.say(much)
    await until(() => expect(peer.heard).toBe(`hi\n${'ok\n'.repeat(i)}`))
  }
})

it('ends a TCP connection whose device does not read its answers', async () => {
  const refused = await refusals('not_reading')
  const { port } = await listen({ ...gateway(), ingest: { ...gateway().ingest, take: answerMuch } })
  const peer = await dial(port)
  peer.socket.pause()
  peer.say('fix\n'.repeat(64))
  await until(async () => expect(await refused()).toBe(1))
})

const limits = { max_frame_bytes: 65_536 }

it('keeps at most 4 KB of an incomplete frame for an unidentified TCP connection', async () => {
  const refused = await refusals('frame_too_long')
  const { port } = await listen(gateway({ limits }))
  const [most, more] = [await dial(port), await dial(port)]
  most.say('x'.repeat(4096))
  more.say('x'.repeat(4097))
  await until(() => expect(more.over).toBe(true))
  most.say('\nid van-1\n')
  await until(() => expect(most.heard).toBe('hi\n'))
  expect(await refused()).toBe(1)
})

it('keeps a long frame for a device, also when it begins in the chunk of the login', async () => {
  const { port } = await listen(gateway({ limits }))
  const peer = await dial(port)
  const part = 'x'.repeat(30_000)
  peer.say(`id van-1\n${part}`)
  await until(() => expect(peer.heard).toBe('hi\n'))
  peer.say(`${part}\nfix 1\n`)
  await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
})

it('ends the unidentified TCP connection with most bytes first when all listeners together hold too many', async () => {
  const refused = await refusals('memory')
  const shared = gateway({ limits, pressure: new Backpressure({ maxPartialBytes: 24_000 }) })
  const [one, other] = [await listen(shared), await listen(shared)]
  const [hog, device, newcomer] = [await dial(one.port), await dial(one.port), await dial(other.port)]
  device.say(`id 007\n${'x'.repeat(18_000)}`)
  await until(() => expect(device.heard).toBe('hi\n'))
  hog.say('x'.repeat(4000))
  await until(() => expect(hog.socket.bytesWritten).toBe(4000))
  newcomer.say('x'.repeat(3000))
  await until(() => expect(hog.over).toBe(true))
  newcomer.say('\nid van-1\n')
  device.say('\nfix 1\n')
  await until(() => expect([newcomer.heard, device.heard]).toEqual(['hi\n', 'hi\nok 1\n']))
  expect(await refused()).toBe(1)
})

it('ends a TCP connection without a login after identify_timeout', async () => {
  const refused = await refusals('not_identified')
  const pass = stopTime()
  const { port } = await listen(gateway({ limits: { identify_timeout: 30_000 } }))
  const peer = await dial(port)
  await until(async () => expect(await openConnections('tcp')).toBe(1))
  await pass(20_000)
  expect(await refused()).toBe(0)
  await pass(20_000)
  await until(() => expect(peer.over).toBe(true))
  expect(await refused()).toBe(1)
})

it('ends a TCP connection that sends bytes now and then but no login', async () => {
  const { port } = await listen(gateway({ limits: { identify_timeout: 300 } }))
  const peer = await dial(port)
  const timer = setInterval(() => peer.say('x'), 50)
  await until(() => expect(peer.over).toBe(true))
  clearInterval(timer)
})

it('ends the TCP connection of a device that is silent for idle_timeout, and not one that speaks', async () => {
  const refused = await refusals('idle')
  const pass = stopTime()
  const { port } = await listen(gateway({ limits: { idle_timeout: 90_000 } }))
  const [silent, talking] = [await dial(port), await dial(port)]
  silent.say('id van-1\n')
  talking.say('id 007\n')
  await until(() => expect([silent.heard, talking.heard]).toEqual(['hi\n', 'hi\n']))
  await pass(80_000)
  expect(await refused()).toBe(0)
  talking.say('fix\n')
  await until(() => expect(talking.heard).toBe('hi\nok\n'))
  await pass(20_000)
  await until(() => expect(silent.over).toBe(true))
  expect([talking.over, await refused()]).toEqual([false, 1])
})

it('admits max_connections_per_ip TCP connections from an address', async () => {
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

it('admits max_connections TCP connections in all', async () => {
  const refused = await refusals('max_connections')
  const { port } = await listen(gateway({ limits: { max_connections: 1 } }))
  const first = await dial(port)
  first.say('id van-1\n')
  await until(() => expect(first.heard).toBe('hi\n'))
  const second = await dial(port)
  await until(() => expect(second.over).toBe(true))
  expect(await refused()).toBe(1)
})

it('counts open TCP connections', async () => {
  await until(async () => expect(await openConnections('tcp')).toBe(0))
  const { port } = await listen(gateway())
  const peer = await dial(port)
  await until(async () => expect(await openConnections('tcp')).toBe(1))
  peer.socket.destroy()
  await until(async () => expect(await openConnections('tcp')).toBe(0))
})

it('stops reading TCP sockets above the high mark, and reads again below the low mark', async () => {
  const shared = gateway({ pressure: new Backpressure({ highMark: 10 }) })
  const { port } = await listen(shared)
  const [first, second] = [await dial(port), await dial(port)]
  first.say('id van-1\n')
  second.say('id 007\n')
  await until(() => expect(first.heard + second.heard).toBe('hi\nhi\n'))

  shared.store = 'waits'
  first.say('fix 1\nfix 2\n')
  await until(() => expect(shared.pressure.isHigh).toBe(true))
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

it('counts a TCP frame as more than its bytes towards pressure', async () => {
  const shared = gateway({ pressure: new Backpressure({ highMark: 300_000 }) })
  const { port } = await listen(shared)
  const peer = await dial(port)
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  shared.store = 'waits'
  peer.say('mute\n'.repeat(100))
  await until(async () => expect(await count('in_flight_bytes')).toBe(500))
  expect(shared.pressure.isHigh).toBe(true)
  shared.store = 'takes'
  await until(() => expect(shared.pressure.isHigh).toBe(false))
})

it('does not count pressure as silence of a device or of an unidentified TCP connection', async () => {
  const pass = stopTime()
  const shared = gateway({
    limits: { idle_timeout: 60_000, identify_timeout: 60_000 },
    pressure: new Backpressure({ highMark: 10 }),
  })
  const { port } = await listen(shared)
  const [device, newcomer] = [await dial(port), await dial(port)]
  device.say('id van-1\n')
  await until(() => expect(device.heard).toBe('hi\n'))
  await until(async () => expect(await openConnections('tcp')).toBe(2))
  const [idle, unidentified] = [await refusals('idle'), await refusals('not_identified')]
  shared.pressure.add(10)
  await pass(80_000)
  shared.pressure.add(-10, -1)
  await pass(40_000)
  expect([await idle(), await unidentified()]).toEqual([0, 0])
  await pass(40_000)
  await until(() => expect([device.over, newcomer.over]).toEqual([true, true]))
  expect([await idle(), await unidentified()]).toEqual([1, 1])
})

it('does not count the time that a fix over TCP takes to be stored as silence', async () => {
  const idle = await refusals('idle')
  const pass = stopTime()
  const shared = gateway({ limits: { idle_timeout: 60_000 } })
  const { port } = await listen(shared)
  const peer = await dial(port)
  shared.store = 'waits'
  peer.say('id van-1\nfix 1\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(15))
  await pass(80_000)
  shared.store = 'takes'
  await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
  await pass(40_000)
  expect([peer.over, await idle()]).toEqual([false, 0])
})

it('does not count the time that TCP sockets are not read as silence', async () => {
  const pass = stopTime()
  const shared = gateway({
    limits: { idle_timeout: 60_000, identify_timeout: 60_000 },
    pressure: new Backpressure({ highMark: 5 }),
  })
  const { port } = await listen(shared)
  const first = await dial(port)
  shared.store = 'waits'
  first.say('id van-1\nfix 1\n')
  await until(() => expect(shared.pressure.isHigh).toBe(true))
  const second = await dial(port)
  second.say('id 007\nfix 2\n')
  await until(async () => expect(await openConnections('tcp')).toBe(2))
  await pass(80_000)
  shared.store = 'takes'
  await until(() => expect(first.heard).toBe('hi\nok 1\n'))
  await until(() => expect(second.heard).toBe('hi\nok 2\n'))
})

async function answerMuch(): Promise<Outcome> {
  return { status: 'stored', reply: Buffer.alloc(1 << 20) }
}
