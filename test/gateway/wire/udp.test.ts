import { expect, it } from 'vitest'
import gt06 from '../../../protocols/gt06/index.ts'
import { loadProtocol } from '../../../protocols/index.ts'
import type { Protocol } from '../../../protocols/kit/index.ts'
import wialon from '../../../protocols/wialon/index.ts'
import { Backpressure } from '../../../src/gateway/admit/backpressure.ts'
import { Flood, inNetwork } from '../../../src/gateway/admit/flood.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { dropReason, listenUdp } from '../../../src/gateway/wire/udp.ts'
import { observations } from '../../../src/observe/observations.ts'
import { count, dial, type Gateway, gateway, open, refusals, talk, until } from '../../support/listen.ts'
import { frameOf } from '../../support/own-frames.ts'
import { casesOf } from '../../support/protocol-cases.ts'
import { inEnglish } from '../../support/texts.ts'
import { datagramPeer } from '../../support/udp.ts'

const AT = { host: '127.0.0.1', port: 0, protocol: talk }
const listen = (shared: Gateway) => open(listenUdp(AT, shared))

it('answers a datagram once it is stored', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const van = await datagramPeer(port)
  shared.store = 'waits'
  van.say('fixof van-1\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(12))
  expect(van.heard).toEqual([])
  shared.store = 'takes'
  await until(() => expect(van.heard).toEqual(['ok\n']))
  expect(shared.places).toEqual(['7/42/1001'])
})

it('datagrams from one address and port share a session', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const [van, other] = [await datagramPeer(port), await datagramPeer(port)]
  van.say('id van-1\n')
  await until(() => expect(van.heard).toEqual(['hi\n']))
  van.say('fix 1\n')
  other.say('fix 2\n')
  await until(() => expect(van.heard).toEqual(['hi\n', 'ok 1\n']))
  await until(async () => expect(await count('in_flight_bytes')).toBe(0))
  expect([other.heard, shared.stored.length]).toEqual([[], 1])
})

it('answers each of several frames in a datagram', async () => {
  const { port } = await listen(gateway())
  const van = await datagramPeer(port)
  van.say('id van-1\nfix 1\n?\nfix 2')
  await until(() => expect(van.heard).toEqual(['hi\n', 'ok 1\n', 'ok 2\n']))
})

it.for(['astra', 'atrack', 'cellocator', 'dsf22', 'gator', 'gl200', 'gosafe', 'wondex'])(
  'answers each of several frames of %s in a datagram',
  async (name) => {
    const { frames = [] } = (await casesOf(name)).frames.find(({ transport }) => transport === 'udp') ?? {}
    const shared = gateway()
    const [{ device = '' }] = frames
    await shared.configure({
      id: device,
      company_id: '7',
      courier_id: '42',
      route_id: '1001',
      source: 'devices.yaml',
    })
    const { port } = await open(listenUdp({ ...AT, protocol: await loadProtocol(name) }, shared))
    const van = await datagramPeer(port)
    van.say(Buffer.concat(frames.map((each) => frameOf(each) as Buffer)))
    await until(() => expect(shared.stored).toHaveLength(frames.filter(({ fixes }) => fixes).length))
    const answers = frames.flatMap(({ reply }) => (reply === undefined ? [] : String(reply)))
    await until(() => expect(van.heard).toEqual(answers))
  },
)

it('counts a datagram in which no frame begins as one frame, unless it is blank', async () => {
  const errors = await count('decode_errors_total', { protocol: 'gator' })
  const frames = await count('frames_total', { transport: 'udp' })
  const { port } = await open(listenUdp({ ...AT, protocol: await loadProtocol('gator') }, gateway()))
  const van = await datagramPeer(port)
  van.say('\r\n')
  van.say('no frame')
  await until(async () => expect((await count('decode_errors_total', { protocol: 'gator' })) - errors).toBe(1))
  expect((await count('frames_total', { transport: 'udp' })) - frames).toBe(1)
})

it('does not answer a datagram that cannot be stored, and stores it when it is sent again', async () => {
  const shared = gateway()
  const { port } = await listen(shared)
  const van = await datagramPeer(port)
  shared.store = 'fails'
  van.say('fixof van-1\n')
  van.say('id van-1\n')
  await until(() => expect(van.heard).toEqual(['hi\n']))
  shared.store = 'takes'
  van.say('fixof van-1\n')
  await until(() => expect(van.heard).toEqual(['hi\n', 'ok\n']))
})

it('answers a datagram of an unknown device with the refusal of the protocol', async () => {
  const refused = await refusals('unknown_device')
  const { port } = await listen(gateway())
  const van = await datagramPeer(port)
  van.say('id nobody\n')
  await until(() => expect(van.heard).toEqual(['no\n']))
  expect(await refused()).toBe(1)
})

it('counts datagrams that are empty, too long or garbage, and serves others', async () => {
  const [empty, long] = [await refusals('empty_datagram'), await refusals('frame_too_long')]
  const errors = await count('decode_errors_total', { protocol: 'talk', reason: 'malformed' })
  const { port } = await listen(gateway())
  const van = await datagramPeer(port)
  van.say('')
  van.say('x'.repeat(4097))
  van.say('\0\0\0')
  van.say('fixof van-1\n')
  await until(() => expect(van.heard).toEqual(['ok\n']))
  const garbage = (await count('decode_errors_total', { protocol: 'talk', reason: 'malformed' })) - errors
  expect([await empty(), await long(), garbage]).toEqual([1, 1, 1])
})

it('serves datagrams after a fault in handling another one', async () => {
  const shared = gateway()
  const take: Gateway['ingest']['take'] = async (frame, session, protocol) => {
    if ((frame as Buffer).toString() === 'mute\n') throw new RangeError('a fault of ours')
    return shared.ingest.take(frame, session, protocol)
  }
  const { port } = await listen({ ...shared, ingest: { ...shared.ingest, take } })
  const van = await datagramPeer(port)
  van.say('mute\n')
  van.say('fixof van-1\n')
  await until(() => expect(van.heard).toEqual(['ok\n']))
  expect(await count('in_flight_bytes')).toBe(0)
})

it('drops datagrams under pressure', async () => {
  const refused = await refusals('overload')
  const shared = gateway({ pressure: new Backpressure({ highMark: 10 }) })
  const { port } = await listen(shared)
  const [first, second] = [await datagramPeer(port), await datagramPeer(port)]
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

it('drops datagrams while 128 KiB of them wait and Redis stores some, and still reads connections', async () => {
  const refused = await refusals('overload')
  const shared = gateway({ limits: { max_frame_bytes: 65_536 } })
  const [{ port }, tcp] = [await listen(shared), await open(listenTcp(AT, shared))]
  const [van, other] = [await datagramPeer(port), await dial(tcp.port)]
  shared.store = 'waits'
  for (let sent = 1; sent <= 3; sent++) {
    van.say('fixof van-1\n'.repeat(4000))
    await until(async () => expect(await count('in_flight_bytes')).toBe(sent * 48_000))
  }
  await until(async () => {
    storeOne(shared.pressure)
    van.say('id nobody\n')
    expect(await refused()).toBeGreaterThan(0)
  })
  other.say('id 007\n')
  await until(() => expect(other.heard).toBe('hi\n'))
  // After a moment without Redis, new datagrams wait for it.
  await until(() => expect(shared.pressure.hasManyDatagrams(false)).toBe(false))
  await until(() => {
    van.say('id van-1\n')
    expect(van.heard.at(-1)).toBe('hi\n')
  })
  shared.store = 'takes'
  await until(async () => expect(await count('in_flight_bytes')).toBe(0))
})

it('counts datagrams as pressure more by their frames than by their bytes', async () => {
  const shared = gateway({ pressure: new Backpressure({ highMark: 30_000 }) })
  const { port } = await listen(shared)
  const van = await datagramPeer(port)
  van.say('id van-1\n')
  await until(() => expect(van.heard).toEqual(['hi\n']))
  shared.store = 'waits'
  van.say('mute\n'.repeat(10))
  await until(() => expect(shared.pressure.isHigh).toBe(true))
  expect(await count('in_flight_bytes')).toBe(50)
  shared.store = 'takes'
  await until(() => expect(shared.pressure.isHigh).toBe(false))
})

it('forgets a UDP session after idle_timeout', async () => {
  const shared = gateway({ limits: { idle_timeout: 100 } })
  const sessions: unknown[] = []
  const take: Gateway['ingest']['take'] = (frame, session, protocol) => {
    if (!sessions.includes(session)) sessions.push(session)
    return shared.ingest.take(frame, session, protocol)
  }
  const { port } = await listen({ ...shared, ingest: { ...shared.ingest, take } })
  const van = await datagramPeer(port)
  van.say('id van-1\n')
  await until(() => expect(van.heard).toHaveLength(1))
  const since = Date.now()
  await until(() => expect(Date.now() - since).toBeGreaterThan(1300))
  van.say('id van-1\n')
  await until(() => expect(van.heard).toHaveLength(2))
  expect(sessions).toHaveLength(2)
})

it('keeps at most max_connections UDP sessions, and forgets the oldest', async () => {
  const { port } = await listen(gateway({ limits: { max_connections: 2 } }))
  const [first, second, third] = [await datagramPeer(port), await datagramPeer(port), await datagramPeer(port)]
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

const claimsOf = (device: string) =>
  inEnglish(observations.current()).filter(({ code, subject }) => code === 'claimed_twice' && subject.device === device)

/** A van that relies on its address, which a forger uses as well: both send from one socket. */
async function relyingVan(id: string, options: Parameters<typeof gateway>[0] = {}) {
  const shared = gateway(options)
  for (const [device, company_id] of [
    [id, '7'],
    [`thief-of-${id}`, '8'],
  ])
    await shared.configure({ id: device, company_id, courier_id: '1', route_id: '1', source: 'devices.yaml:9' })
  const { heard, say } = await datagramPeer((await listen(shared)).port)
  const asked = async (text: string, answer: string) => {
    const before = heard.length
    say(text)
    await until(() => expect(heard.slice(before)).toEqual([answer]))
  }
  await asked(`id ${id}\n`, 'hi\n')
  await asked('fix 1\n', 'ok 1\n')
  return { shared, heard, say, asked }
}

it.each([
  ['configured at another company', 'thief-of-van-2', 'hi\n', {}],
  ['admitted as unknown', 'nobody', 'hi\n', { admitsUnknown: true }],
  ['refused', 'nobody', 'no\n', {}],
])(
  'takes no fix without a device from a UDP address that another device uses, which is %s',
  async (_, other, answer, options) => {
    const id = 'van-2'
    const { shared, heard, say, asked } = await relyingVan(id, options)
    for (let again = 0; again < 2; again++) await asked(`id ${other}\n`, answer)
    const refused = await refusals('unknown_device')
    for (let number = 2; number < 6; number++) say(`fix ${number}\n`)
    await until(async () => expect(await refused()).toBe(4))
    expect([shared.places, heard.at(-1)]).toEqual([['7/1/1'], answer])
    // The van says again who it is.
    await asked(`id ${id}\n`, 'hi\n')
    await asked('fix 6\n', 'ok 6\n')
    expect(shared.places).toEqual(['7/1/1', '7/1/1'])
  },
)

it('reports at once that another device uses the UDP address of a van', async () => {
  const { asked } = await relyingVan('van-3')
  expect(claimsOf('van-3')).toEqual([])
  await asked('id thief-of-van-3\n', 'hi\n')
  const evidence = [expect.stringMatching(/^another device has used 127\.0\.0\.1:\d+: datagrams from there/)]
  expect(claimsOf('van-3')).toMatchObject([{ count: 1, evidence }])
})

it('reports nothing if each datagram of an address names its device, as those of a relay do', async () => {
  const shared = gateway()
  const { heard, say } = await datagramPeer((await listen(shared)).port)
  for (let round = 0; round < 5; round++) for (const id of ['van-1', '007', '8168000008']) say(`fixof ${id}\n`)
  await until(() => expect(heard).toHaveLength(15))
  expect([shared.stored.length, ['van-1', '007', '8168000008'].flatMap(claimsOf)]).toEqual([15, []])
})

it('takes a device again from its UDP address once the entry that refused it is corrected', async () => {
  const id = 'van-5'
  const { shared, say, asked } = await relyingVan(id)
  const entry = { id, company_id: '7', courier_id: '1', route_id: '1', source: 'devices.yaml:9' }
  await shared.configure({ ...entry, networks: ['192.0.2.0/24'] })
  shared.replica.version++
  const refused = await refusals('not_permitted')
  say('fix 2\n')
  await asked(`id ${id}\n`, 'no\n')
  expect(await refused()).toBe(2)
  expect(claimsOf(id)).toEqual([])
  await shared.configure(entry)
  shared.replica.version++
  await asked('fix 3\n', 'ok 3\n')
  expect(claimsOf(id)).toEqual([])
})

it('stores a fix for the device that sent it, although another one then uses its UDP address', async () => {
  const { shared, heard, say } = await relyingVan('van-4')
  shared.store = 'waits'
  say('fix 2\n')
  say('id thief-of-van-4\n')
  await until(() => expect(heard.at(-1)).toBe('hi\n'))
  shared.store = 'takes'
  await until(() => expect(heard.at(-1)).toBe('ok 2\n'))
  expect(shared.places).toEqual(['7/1/1', '7/1/1'])
})

it('datagrams from forged sources push out no identified session', async () => {
  const { port } = await listen(gateway({ limits: { max_connections: 2 } }))
  const van = await datagramPeer(port)
  van.say('id van-1\n')
  await until(() => expect(van.heard).toEqual(['hi\n']))
  const refused = await refusals('unknown_device')
  for (let i = 0; i < 5; i++) (await datagramPeer(port)).say('fix\n')
  await until(async () => expect(await refused()).toBe(5))
  van.say('fix 1\n')
  await until(() => expect(van.heard).toEqual(['hi\n', 'ok 1\n']))
})

it('drops datagrams with source port 0, which cannot be answered', () => {
  const context = { ...gateway(), ownAddresses: new Set<string>() }
  const address = '192.0.2.1'
  expect(dropReason(Buffer.from('fix\n'), { address, port: 0 }, context)).toBe('no_source_port')
  expect(dropReason(Buffer.from('fix\n'), { address, port: 1 }, context)).toBeUndefined()
})

/** A protocol whose answers are of any length: `say <n>` is answered with n bytes. */
const echoing = {
  ...talk,
  decode(frame, session) {
    const [word, length] = frame.toString().trim().split(' ')
    if (word !== 'say') return talk.decode(frame, session)
    return { fixes: [], reply: Buffer.alloc(Number(length), 'x') }
  },
} satisfies Protocol

it('never answers a datagram with more bytes than it has, all replies together', async () => {
  const refused = await refusals('reply_too_long')
  const { port } = await open(listenUdp({ ...AT, protocol: echoing }, gateway()))
  const van = await datagramPeer(port)
  van.say('id van-1\n')
  await until(() => expect(van.heard).toEqual(['hi\n']))
  van.say('say 6\nsay 6\n')
  van.say('say 6\nsay 7\n')
  van.say('say 999\n')
  await until(async () => expect(await refused()).toBe(2))
  van.say('fix 1\n')
  await until(() => expect(van.heard.at(-1)).toBe('ok 1\n'))
  expect(van.heard).toEqual(['hi\n', 'xxxxxx', 'xxxxxx', 'xxxxxx', 'ok 1\n'])
})

it.for([
  ['wialon', wialon, '#P#\r\n', '#M#hello\r\n'],
  ['gt06', gt06, '787805130001e9f10d0a', '787805230001e6df0d0a'],
] as const)('does not answer a keepalive of %s over UDP without an id', async ([, protocol, ...keepalives]) => {
  const frames = await count('frames_total', { transport: 'udp' })
  const { port } = await open(listenUdp({ ...AT, protocol }, gateway()))
  const van = await datagramPeer(port)
  for (const keepalive of keepalives) van.say(protocol === gt06 ? Buffer.from(keepalive, 'hex') : keepalive)
  await until(async () => expect((await count('frames_total', { transport: 'udp' })) - frames).toBe(2))
  await new Promise(setImmediate)
  expect(van.heard).toEqual([])
})

it('does not answer a datagram from a UDP port of its own, which would never end', async () => {
  const refused = await refusals('own_port')
  const shared = gateway()
  const { port } = await listen(shared)
  const van = await datagramPeer(port)
  shared.udpPorts.add(van.port)
  van.say('fixof van-1\n')
  await until(async () => expect(await refused()).toBe(1))
  shared.udpPorts.delete(van.port)
  van.say('fixof van-1\n')
  await until(() => expect(van.heard).toEqual(['ok\n']))
  expect(shared.stored).toHaveLength(1)
})

it('knows the UDP ports of its own listeners while they are open', async () => {
  const shared = gateway()
  const [one, other] = [await listenUdp(AT, shared), await listenUdp(AT, shared)]
  expect([...shared.udpPorts]).toEqual([one.port, other.port])
  await Promise.all([one.close(), other.close()])
  expect(shared.udpPorts.size).toBe(0)
})

it('drops a flood of datagrams from unknown peers, and answers known vans', async () => {
  const refused = await refusals('flood')
  const shared = gateway({ flood: new Flood(() => 0) })
  const { port } = await listen(shared)
  const [van, other] = [await datagramPeer(port), await datagramPeer(port)]
  van.say('id van-1\n')
  await until(() => expect(van.heard).toEqual(['hi\n']))
  shared.flood.take('unidentified', 'all networks', 60_000)
  for (let i = 0; i < 100; i++) other.say('fixof 007\n')
  await until(async () => expect(await refused()).toBe(100))
  van.say('fix 1\n')
  await until(() => expect(van.heard).toEqual(['hi\n', 'ok 1\n']))
  expect([other.heard, shared.places]).toEqual([[], ['7/42/1001']])
})

it('drops a flood of datagrams of one device in one network, from however many ports', async () => {
  const refused = await refusals('flood')
  const shared = gateway({ flood: new Flood(() => 0) })
  const { port } = await listen(shared)
  const elsewhere = await datagramPeer(port, '127.0.9.9')
  shared.flood.take('device', inNetwork('van-1', '127.0.9.0/24', true), 40_000)
  elsewhere.say('fixof van-1\n')
  for (let i = 0; i < 5; i++) (await datagramPeer(port, '127.0.9.9')).say('fixof van-1\n')
  await until(async () => expect(await refused()).toBe(6))
  const [van, other] = [await datagramPeer(port), await datagramPeer(port, '127.0.9.9')]
  van.say('fixof van-1\n')
  other.say('fixof 007\n')
  await until(() => expect([van.heard, other.heard]).toEqual([['ok\n'], ['ok\n']]))
  expect([elsewhere.heard, shared.stored.length]).toEqual([[], 2])
})

it('answers 5,000 refused datagrams of a network at once at most, and still those of other networks', async () => {
  const shared = gateway({ flood: new Flood(() => 0) })
  const { port } = await listen(shared)
  const van = await datagramPeer(port, '127.0.9.9')
  const refused = await refusals('unknown_device')
  shared.flood.take('failures', '127.0.9.0/24', 4999)
  for (let i = 0; i < 20; i++) van.say('id nobody\n')
  await until(async () => expect(await refused()).toBe(20))
  const beside = await datagramPeer(port)
  beside.say('id nobody\n')
  await until(() => expect(beside.heard).toEqual(['no\n']))
  expect(van.heard).toEqual(['no\n', 'no\n'])
})

it('serves TCP connections, whatever a flood of 6,000 datagrams says', async () => {
  const shared = gateway()
  const [{ port }, tcp] = [await listen(shared), await open(listenTcp(AT, shared))]
  const van = await dial(tcp.port)
  van.say('id van-1\n')
  const sender = await datagramPeer(port, '127.0.9.9')
  const words = ['fixof nobody\n', 'id 007 x\n', '?', 'fix\n', 'fixof 007\n', 'x'.repeat(1000)]
  const begun = await count('refused_total')
  for (let i = 0; i < 60; i++) {
    for (let j = 0; j < 100; j++) sender.say(words[j % words.length])
    van.say(`fix ${i}\n`)
    await until(() => expect(van.heard).toContain(`ok ${i}\n`))
  }
  expect([(await count('refused_total')) > begun, van.over]).toEqual([true, false])
  await until(async () => expect(await count('in_flight_bytes')).toBe(0))
})

it('closes a UDP listener after the given time although a fix is not stored', async () => {
  const shared = gateway()
  const listener = await listenUdp(AT, shared)
  const van = await datagramPeer(listener.port)
  shared.store = 'waits'
  van.say('fixof van-1\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(12))
  await listener.close(50)
  shared.store = 'takes'
  await until(async () => expect(await count('in_flight_bytes')).toBe(0))
  expect([van.heard, shared.stored.length]).toEqual([[], 1])
})

it('stores and answers what was read before a UDP listener closes', async () => {
  const shared = gateway()
  const listener = await listenUdp(AT, shared)
  const van = await datagramPeer(listener.port)
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

function storeOne(pressure: Backpressure): void {
  pressure.addDatagram(1, 1)
  pressure.addDatagram(-1, -1)
}
