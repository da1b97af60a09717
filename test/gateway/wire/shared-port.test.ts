import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { BoundSocket, connect, createServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { freePort, type Listener } from '../../../src/gateway/wire/listener.ts'
import { listenMqtt } from '../../../src/gateway/wire/mqtt.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { listenUdp } from '../../../src/gateway/wire/udp.ts'
import { dial, type Gateway, gateway, open, talk, until } from '../../support/listen.ts'
import { protocolNamed } from '../../support/mqtt.ts'
import { datagramPeer } from '../../support/udp.ts'

const HOST = '127.0.0.1'
const AT = { host: HOST, protocol: talk, isShared: true }
type Listen = (port: number, shared: Gateway, fds?: number[]) => Promise<Listener>

const LISTEN = {
  tcp: (port, shared, fds?) => listenTcp({ ...AT, port, fds }, shared),
  http: (port, shared, fds?) => listenHttp({ ...AT, port, fds }, shared),
  mqtt: (port, shared, fds?) => listenMqtt({ ...AT, port, fds }, { ...shared, protocolNamed }),
  udp: (port, shared) => listenUdp({ ...AT, port }, shared),
} satisfies Record<string, Listen>

/** Two gateways on one port. */
async function two(listen: Listen, options: Parameters<typeof gateway>[0] = {}) {
  const gateways = [gateway(options), gateway(options)]
  const first = await open(listen(0, gateways[0]))
  const second = await open(listen(first.port, gateways[1]))
  return { gateways, port: first.port, listeners: [first, second] }
}

it('two gateways on one port take each datagram of a peer at the same gateway, and share the peers', async () => {
  const { gateways, port } = await two(LISTEN.udp)
  const peers = await Promise.all(Array.from({ length: 40 }, () => datagramPeer(port)))
  for (const peer of peers) peer.say('id van-1\n')
  await until(() => expect(peers.every(({ heard }) => heard.length === 1)).toBe(true))
  // Only the gateway that took the login knows the device of a fix.
  for (const round of [1, 2, 3]) {
    for (const peer of peers) peer.say(`fix ${round}\n`)
    await until(() => expect(peers.every(({ heard }) => heard.at(-1) === `ok ${round}\n`)).toBe(true))
  }
  expect(gateways.every(({ stored }) => stored.length > 0)).toBe(true)
  expect(gateways[0].stored.length + gateways[1].stored.length).toBe(120)
})

it('two gateways on one port share the connections', async () => {
  const { gateways, port } = await two(LISTEN.tcp)
  const vans = await Promise.all(Array.from({ length: 40 }, () => dial(port)))
  for (const van of vans) van.say('id van-1\nfix\n')
  await until(() => expect(vans.every(({ heard }) => heard === 'hi\nok\n')).toBe(true))
  expect(gateways.every(({ stored }) => stored.length > 0)).toBe(true)
})

it('a gateway takes all connections of a shared port when the other one ends', async () => {
  const { gateways, port, listeners } = await two(LISTEN.tcp)
  await listeners[0].close()
  const vans = await Promise.all(Array.from({ length: 20 }, () => dial(port)))
  for (const van of vans) van.say('id van-1\nfix\n')
  await until(() => expect(vans.every(({ heard }) => heard === 'hi\nok\n')).toBe(true))
  expect(gateways.map(({ stored }) => stored.length)).toEqual([0, 20])
})

it('a gateway that shares its port accepts several connections in one turn of the event loop', async () => {
  const shared = gateway()
  const { port } = await open(LISTEN.tcp(0, shared))
  const place = `:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`
  await until(() => expect(readFileSync('/proc/net/tcp', 'utf8').split(place).length - 1).toBeGreaterThan(1))
  const vans = Array.from({ length: 64 }, () => connect(port, HOST))
  onTestFinished(() => vans.forEach((van) => void van.destroy()))
  await new Promise((resolve) => process.nextTick(resolve))
  // The system connects them all before the gateway has a turn.
  const connected = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, '0')} 0100007F:[0-9A-F]{4} 01`, 'g')
  const isConnected = () => readFileSync('/proc/net/tcp', 'utf8').match(connected)?.length === vans.length
  for (const since = performance.now(); performance.now() - since < 30_000 && !isConnected(); );
  let turns = 0
  for (; shared.connectionLimits.open.all < vans.length; turns++) await setImmediate()
  expect(turns).toBeLessThan(vans.length)
})

it.each(['tcp', 'http', 'mqtt', 'udp'] as const)(
  'a port that is to be shared is not free while a gateway has it: %s',
  async (transport) => {
    const { port } = await open(LISTEN[transport](0, gateway()))
    const place = { transport: transport === 'udp' ? 'udp' : 'tcp', host: HOST, port } as const
    await expect(freePort(place)).rejects.toMatchObject({ code: 'EADDRINUSE', port })
  },
)

it.each(['tcp', 'udp'] as const)(
  'a port that is to be shared is not free while another program has it: %s',
  async (transport) => {
    const port = await taken(transport)
    await expect(freePort({ transport, host: HOST, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await expect(LISTEN[transport](port, gateway())).rejects.toMatchObject({ code: 'EADDRINUSE' })
  },
)

it.each(['tcp', 'udp'] as const)('chooses a free port if the port to be shared is 0: %s', async (transport) => {
  const port = await freePort({ transport, host: HOST, port: 0 })
  expect(port).toBeGreaterThan(0)
  expect((await open(LISTEN[transport](port, gateway()))).port).toBe(port)
})

// The listener closes the descriptor.
it.each(['tcp', 'http', 'mqtt'] as const)(
  'accepts connections on a socket that is bound already: %s',
  async (transport) => {
    const bound = new BoundSocket({ host: HOST })
    const { port } = bound.address()
    const listener = await open(LISTEN[transport](port, gateway(), [bound.fd()]))
    expect(listener.port).toBe(port)
    expect((await dial(port)).over).toBe(false)
  },
)

it('refuses a bound socket with its address if another program already listens there', async () => {
  const bound = new BoundSocket({ host: HOST })
  const { port } = bound.address()
  const other = createServer().listen(port, HOST)
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const refusal = { code: 'EADDRINUSE', address: HOST, port }
  await expect(LISTEN.tcp(port, gateway(), [bound.fd()])).rejects.toMatchObject(refusal)
})

/** A port that another program has, which does not share it. */
async function taken(transport: 'tcp' | 'udp'): Promise<number> {
  const program = transport === 'udp' ? createSocket('udp4').bind(0, HOST) : createServer().listen(0, HOST)
  onTestFinished(() => void program.close())
  await once(program, 'listening')
  return (program.address() as { port: number }).port
}
