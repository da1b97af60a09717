import { createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { networksOf } from '../../../src/domain/networks.ts'
import { Acceptor } from '../../../src/gateway/admit/acceptor.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import type { Endpoint } from '../../../src/gateway/wire/listener.ts'
import { listenMqtt } from '../../../src/gateway/wire/mqtt.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { listenUdp } from '../../../src/gateway/wire/udp.ts'
import { observations } from '../../../src/observe/observations.ts'
import { CertificateMaker, type Issued } from '../../support/certificates.ts'
import { dial, type Gateway, gateway, open, openConnections, refusals, talk, until } from '../../support/listen.ts'
import { protocolNamed } from '../../support/mqtt.ts'
import { connack, connect, raw } from '../../support/mqtt-bytes.ts'
import { proxyV2 } from '../../support/proxy.ts'
import { inEnglish } from '../../support/texts.ts'
import { dialTls, tlsWith } from '../../support/tls.ts'

const AT = { host: '127.0.0.1', port: 0, protocol: talk }
const BEHIND = { ...AT, proxy_protocol: true }
const V1 = Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 51234 5027\r\n')
const V2 = proxyV2('2001:db8::7', 51_234, { tlvs: Buffer.from([0x20, 0, 3, 1, 2, 3]) })

/** A gateway that trusts proxies on this machine, and the sender addresses of its messages. */
function witness(trusted = ['127.0.0.0/8'], limits: Partial<Gateway['limits']> = {}) {
  const shared = gateway({ limits })
  const seen: string[] = []
  const ingest: Gateway['ingest'] = {
    ...shared.ingest,
    take: (frame, session, protocol) => {
      seen.push(session.remote)
      return shared.ingest.take(frame, session, protocol)
    },
  }
  return { shared: { ...shared, ingest, trustedProxies: networksOf(trusted) }, seen }
}

/** What the n-th client says behind a proxy. */
const saidBy = (n: number) => `PROXY TCP4 203.0.113.${n % 250} 192.0.2.1 ${n + 1} 2\r\nid van-1\n`

it.each([
  ['version 1', V1, '203.0.113.7:51234'],
  ['version 2', V2, '2001:db8::7:51234'],
])('takes the sender address from a PROXY header of %s, wherever the bytes are cut', async (_, header, remote) => {
  const { shared, seen } = witness()
  const { port } = await open(listenTcp(BEHIND, shared))
  const bytes = Buffer.concat([header, Buffer.from('id van-1\nfix 1\n')])
  for (let cut = 1; cut <= bytes.length; cut++) {
    const peer = await dial(port)
    peer.say(bytes.subarray(0, cut))
    await new Promise((resolve) => setImmediate(resolve))
    peer.say(bytes.subarray(cut))
    await until(() => expect(peer.heard).toBe('hi\nok 1\n'))
    peer.socket.destroy()
  }
  expect(new Set(seen)).toEqual(new Set([remote]))
})

it('takes the sender address from a PROXY header that arrives byte by byte', async () => {
  const { shared, seen } = witness()
  const { port } = await open(listenTcp(BEHIND, shared))
  const peer = await dial(port)
  for (const byte of Buffer.concat([V2, Buffer.from('id van-1\n')])) {
    peer.say(Buffer.of(byte))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until(() => expect(peer.heard).toBe('hi\n'))
  expect(seen).toEqual(['2001:db8::7:51234'])
})

it('uses the proxy address for a connection that the proxy opens itself', async () => {
  const { shared, seen } = witness()
  const { port } = await open(listenTcp(BEHIND, shared))
  const peer = await dial(port)
  peer.say('PROXY UNKNOWN\r\nid van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  expect(seen[0]).toMatch(/^127\.0\.0\.1:\d+$/)
})

it('ends a connection with a PROXY header from an untrusted peer', async () => {
  const refused = await refusals('proxy_header')
  const { shared, seen } = witness(['192.0.2.0/24'])
  const { port } = await open(listenTcp(BEHIND, shared))
  const peer = await dial(port)
  peer.say(V1)
  peer.say('id van-1\n')
  await until(() => expect(peer.over).toBe(true))
  expect([seen, await refused()]).toEqual([[], 1])
})

it('ends a connection whose PROXY header is wrong, cut off, or not complete within identify_timeout', async () => {
  const refused = await refusals('proxy_header')
  const { shared, seen } = witness(undefined, { identify_timeout: 300 })
  const { port } = await open(listenTcp(BEHIND, shared))
  const [other, half, silent, ended] = await Promise.all([dial(port), dial(port), dial(port), dial(port)])
  other.say('id van-1\n')
  half.say(V1.subarray(0, 20))
  ended.socket.end(V1.subarray(0, 20))
  await until(() => expect([other.over, half.over, silent.over, ended.over]).toEqual([true, true, true, true]))
  await until(async () => expect([seen, await refused()]).toEqual([[], 4]))
  await until(async () => expect(await openConnections('tcp')).toBe(0))
})

it('counts a proxied connection for the limit of its own address, not for that of the proxy', async () => {
  const refused = await refusals('max_per_ip')
  const { shared } = witness(undefined, { max_connections_per_ip: 1 })
  const { port } = await open(listenTcp(BEHIND, shared))
  const peers = await Promise.all([dial(port), dial(port), dial(port)])
  for (const [index, peer] of peers.entries())
    peer.say(`PROXY TCP4 203.0.113.${index === 2 ? 0 : index} 192.0.2.1 1 2\r\nid van-1\n`)
  await until(() => expect(peers.map(({ heard }) => heard).toSorted()).toEqual(['', 'hi\n', 'hi\n']))
  expect(await refused()).toBe(1)
})

it('ends the oldest connections above 4,096 that wait for a PROXY header, even if all come in one turn', () => {
  const { shared } = witness()
  const server = createServer()
  new Acceptor('tcp', BEHIND, shared).accept(server, () => {})
  const silent = Array.from({ length: 5000 }, () =>
    Object.assign(new Duplex({ read() {} }), { remoteAddress: '127.0.0.1', remotePort: 1 }),
  )
  onTestFinished(() => silent.forEach((socket) => socket.destroy()))
  for (const socket of silent) server.emit('connection', socket)
  expect(silent.map(({ destroyed }) => destroyed)).toEqual(silent.map((_, index) => index < 904))
})

it('serves a whole backlog of connections that is accepted before their PROXY headers arrive', async () => {
  const { shared } = witness()
  const { port } = await open(listenTcp(BEHIND, shared))
  const peers = await Promise.all(Array.from({ length: 511 }, () => dial(port)))
  // The connection that comes last is accepted last.
  const last = await dial(port)
  last.say(saidBy(511))
  await until(() => expect(last.heard).toBe('hi\n'))
  for (const [n, peer] of peers.entries()) peer.say(saidBy(n))
  await until(() => expect(peers.filter(({ heard }) => heard === 'hi\n')).toHaveLength(511))
})

it('closes the listener without waiting for a missing PROXY header', async () => {
  const { shared } = witness()
  const listener = await listenTcp(BEHIND, shared)
  const peer = await dial(listener.port)
  peer.say(V1.subarray(0, 20))
  await listener.close()
  await until(() => expect(peer.over).toBe(true))
})

describe('protocols behind a PROXY header', () => {
  let certificates: CertificateMaker
  let server: Issued
  beforeAll(async () => {
    certificates = await CertificateMaker.create()
    server = await certificates.server('server')
  })
  afterAll(() => certificates.remove())

  it('accepts TLS whose first bytes follow a PROXY header in the same packet', async () => {
    const { shared, seen } = witness()
    const { port } = await open(listenTcp({ ...BEHIND, tls: tlsWith(server) }, shared))
    for (const header of [V1, V2]) {
      const peer = await dial(port)
      const relayed = await dialTls(port, { ca: server.cert, socket: prefixed(peer.socket, header) })
      relayed.say('id van-1\n')
      await until(() => expect(relayed.heard).toBe('hi\n'))
    }
    expect(seen).toEqual(['203.0.113.7:51234', '2001:db8::7:51234'])
  })

  it('accepts HTTP requests in the same packet as a PROXY header', async () => {
    const { shared, seen } = witness()
    const { port } = await open(listenHttp(BEHIND, shared))
    const peer = await dial(port)
    const ask = 'GET /fixof%20van-1 HTTP/1.1\r\nHost: x\r\n\r\n'
    peer.say(Buffer.concat([V1, Buffer.from(ask + ask)]))
    await until(() => expect(peer.heard.match(/HTTP\/1.1 200 OK/g)?.length).toBe(2))
    peer.say(ask)
    await until(() => expect(peer.heard.match(/HTTP\/1.1 200 OK/g)?.length).toBe(3))
    expect(new Set(seen)).toEqual(new Set(['203.0.113.7:51234']))
  })

  it('accepts an MQTT CONNECT in the same packet as a PROXY header', async () => {
    const { shared } = witness()
    const endpoint = { host: '127.0.0.1', port: 0, proxy_protocol: true }
    const { port } = await open(listenMqtt(endpoint, { ...shared, protocolNamed }))
    const peer = await raw(port)
    peer.say(Buffer.concat([V2, connect({ user: 'van-1' })]))
    await until(() => expect(peer.hex).toBe(connack(0)))
  })
})

it('accepts connections from the networks of a listener, and no others', async () => {
  const refused = await refusals('network')
  const within = await open(listenTcp({ ...AT, networks: ['192.0.2.0/24', '127.0.0.1'] }, gateway()))
  const outside = await open(listenTcp({ ...AT, networks: ['192.0.2.0/24'] }, gateway()))
  const [taken, refusedPeer] = [await dial(within.port), await dial(outside.port)]
  taken.say('id van-1\n')
  await until(() => expect([taken.heard, refusedPeer.over]).toEqual(['hi\n', true]))
  expect(await refused()).toBe(1)
})

it('checks the networks of a listener against the address in the PROXY header', async () => {
  const { shared } = witness()
  const { port } = await open(listenTcp({ ...BEHIND, networks: ['203.0.113.0/24'] }, shared))
  const [inside, outside] = [await dial(port), await dial(port)]
  inside.say(Buffer.concat([V1, Buffer.from('id van-1\n')]))
  outside.say(Buffer.concat([V2, Buffer.from('id van-1\n')]))
  await until(() => expect([inside.heard, outside.over]).toEqual(['hi\n', true]))
  expect(outside.heard).toBe('')
})

it('checks the networks of a listener against the sender that a trusted proxy names in a request', async () => {
  const { shared, seen } = witness()
  const { port } = await open(listenHttp({ ...AT, networks: ['203.0.113.0/24'] }, shared))
  const status = await asking(port)
  expect(await status({ 'x-forwarded-for': '203.0.113.7' })).toBe(200)
  expect(await status({ 'x-forwarded-for': '203.0.113.7, 198.51.100.1' })).toBe(403)
  expect(await status({})).toBe(403)
  expect(seen).toEqual(['203.0.113.7:0'])
})

it('drops datagrams from outside the networks of a listener', async () => {
  const refused = await refusals('network')
  const shared = gateway()
  const { port } = await open(listenUdp({ ...AT, networks: ['192.0.2.0/24'] }, shared))
  const { createSocket } = await import('node:dgram')
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  socket.send('fixof van-1\n', port, '127.0.0.1')
  await until(async () => expect(await refused()).toBe(1))
  expect(shared.stored).toEqual([])
})

it('believes a trusted proxy, and nobody else, about the sender of an HTTP request', async () => {
  const headers = { forwarded: 'for="[2001:db8::7]:4711"' }
  const trusting = witness()
  const status = await asking((await open(listenHttp(AT, trusting.shared))).port)
  expect(await status(headers)).toBe(200)
  expect(trusting.seen).toEqual(['2001:db8::7:0'])
  const other = witness([])
  expect(await (await asking((await open(listenHttp(AT, other.shared))).port))(headers)).toBe(200)
  expect(other.seen[0]).toMatch(/^127\.0\.0\.1:[1-9]/)
})

const observed = () => inEnglish(observations.current()).filter(({ code }) => code === 'one_address')

const connectMany = async (endpoint: Endpoint & typeof AT, shared: Gateway, { header = '', isHttp = false } = {}) => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const transport = isHttp ? 'http' : 'tcp'
  await until(async () => expect(await openConnections(transport)).toBe(0))
  const { port } = await open(isHttp ? listenHttp(endpoint, shared) : listenTcp(endpoint, shared))
  for (let n = 0; n < 51; n++) (await dial(port)).say(header)
  await until(async () => expect(await openConnections(transport)).toBe(51))
  await vi.advanceTimersByTimeAsync(10_000)
}

it('reports a listener when more than 50 TCP connections come from one address', async () => {
  await connectMany({ ...AT, name: 'tcp/balanced' }, gateway())
  expect(observed()).toMatchObject([
    { subject: { listener: 'tcp/balanced' }, evidence: ['51 connections from 127.0.0.1'] },
  ])
})

it('does not report many connections from one address to a listener with PROXY headers', async () => {
  await connectMany({ ...BEHIND, name: 'tcp/proxied' }, witness().shared, { header: V1.toString() })
  expect(observed().filter(({ subject }) => subject.listener === 'tcp/proxied')).toEqual([])
})

it('reports a listener when more than 50 HTTP connections come from one address', async () => {
  await connectMany({ ...AT, name: 'http/balanced' }, gateway(), { isHttp: true })
  expect(observed().map(({ subject }) => subject.listener)).toContain('http/balanced')
})

it('does not report many HTTP connections from one trusted proxy', async () => {
  await connectMany({ ...AT, name: 'http/proxied' }, witness().shared, { isHttp: true })
  expect(observed().map(({ subject }) => subject.listener)).not.toContain('http/proxied')
})

/** A stream over the socket that sends the header in one write with its first bytes. */
function prefixed(socket: Socket, header: Buffer): Duplex {
  let before = header
  const stream = new Duplex({
    read() {},
    write(bytes: Buffer, _encoding, done) {
      socket.write(Buffer.concat([before, bytes]), done)
      before = Buffer.alloc(0)
    },
  })
  socket.on('data', (bytes) => stream.push(bytes))
  return stream
}

async function asking(port: number) {
  const dispatcher = new Agent({ connections: 1 })
  onTestFinished(() => dispatcher.destroy())
  return async (headers: Record<string, string>) => {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/fixof%20van-1`, { dispatcher, headers })
    await body.dump()
    return statusCode
  }
}
