import { readFile, rename, writeFile } from 'node:fs/promises'
import mqtt from 'mqtt'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import osmand from '../../../protocols/osmand/index.ts'
import teltonikaProtocol from '../../../protocols/teltonika/index.ts'
import { Flood } from '../../../src/gateway/admit/flood.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenMqtt } from '../../../src/gateway/wire/mqtt.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { observations } from '../../../src/observe/observations.ts'
import { teltonika } from '../../../src/sandbox/speak/teltonika.ts'
import { CertificateMaker, type Issued } from '../../support/certificates.ts'
import {
  count,
  dial,
  type Gateway,
  gateway,
  open,
  openConnections,
  refusals,
  talk,
  until,
} from '../../support/listen.ts'
import { position, protocolNamed, TOPIC } from '../../support/mqtt.ts'
import { inEnglish } from '../../support/texts.ts'
import { dialTls, tlsWith } from '../../support/tls.ts'

const AT = { host: '127.0.0.1', port: 0, protocol: talk }

let certificates: CertificateMaker
let server: Issued
let fleet: Issued
let stranger: Issued
let van: Issued

beforeAll(async () => {
  certificates = await CertificateMaker.create()
  server = await certificates.server('server')
  fleet = await certificates.authority('fleet')
  stranger = await certificates.authority('stranger')
  van = await certificates.issue('van', { cn: 'van-1', by: fleet })
})
afterAll(() => certificates.remove())

/** A gateway, and the certificate name of each message that it takes. */
function witness() {
  const shared = gateway()
  const seen: (string | undefined)[] = []
  const { take } = shared.ingest
  const ingest: Gateway['ingest'] = {
    ...shared.ingest,
    take: (frame, session, protocol) => {
      seen.push(session.certificate)
      return take(frame, session, protocol)
    },
  }
  return { shared: Object.assign(shared, { ingest }), seen, stored: shared.stored }
}

const openTcp = (shared: Gateway, tls = tlsWith(server)) => open(listenTcp({ ...AT, name: 'tcp/talk', tls }, shared))

it('counts a TLS handshake as ten connections of its network, and begins none far above the limit', async () => {
  const ended = await refusals('flood')
  const shared = gateway({ flood: new Flood(() => 0) })
  const { port } = await openTcp(shared)
  shared.flood.take('connections', '127.0.0.0/24', 29_995)
  const peer = await dialTls(port, { ca: server.cert })
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  expect(shared.flood.take('connections', '127.0.0.0/24', 0)).toBeCloseTo(5 / 3)
  shared.flood.take('connections', '127.0.0.0/24', 1e6)
  const refused = await dialTls(port, { ca: server.cert })
  expect([refused.over, await ended()]).toEqual([true, 1])
})

it('answers a Teltonika tracker over TLS as over TCP', async () => {
  const { shared, stored } = witness()
  await shared.configure({ id: '356307042441013', company_id: '7', courier_id: '1', route_id: '2', source: 'x:1' })
  const { port } = await open(listenTcp({ ...AT, protocol: teltonikaProtocol, tls: tlsWith(server) }, shared))
  const peer = await dialTls(port, { ca: server.cert })
  peer.say(teltonika.login!('356307042441013').bytes)
  await until(() => expect(peer.heard).toBe('\x01'))
  const fix = { time: Date.now() - 1000, latitude: 52.5, longitude: 13.4, valid: true, satellites: 9 }
  for (const byte of teltonika.packet([fix], { id: '', serial: 1 }).bytes) peer.say(Buffer.of(byte))
  await until(() => expect(peer.heard).toBe('\x01\0\0\0\x01'))
  expect(stored.length).toBe(1)
  peer.socket.end()
  await until(() => expect(shared.goneDevices).toEqual(['356307042441013']))
})

it('answers a tracker over TLS before it closes, and does not wait for an unfinished handshake', async () => {
  const { shared } = witness()
  const listener = await openTcp(shared)
  const peer = await dialTls(listener.port, { ca: server.cert })
  const silent = await dial(listener.port)
  await until(async () => expect(await openConnections('tcp')).toBe(2))
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  shared.store = 'waits'
  peer.say('fix 1\n')
  await until(async () => expect(await count('in_flight_bytes')).toBe(6))
  const closed = listener.close()
  shared.store = 'takes'
  await closed
  await until(() => expect([peer.heard, peer.over, silent.over]).toEqual(['hi\nok 1\n', true, true]))
})

it('refuses TLS 1.1, and counts it without a line in the log', async () => {
  const lines: unknown[] = []
  const { shared } = witness()
  const logger = Object.assign(Object.create(shared.logger) as Gateway['logger'], {
    info: (...line: unknown[]) => lines.push(line),
    warn: (...line: unknown[]) => lines.push(line),
    error: (...line: unknown[]) => lines.push(line),
  })
  const refused = await refusals('tls')
  const { port } = await openTcp({ ...shared, logger })
  const old = { ca: server.cert, ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const peer = await dialTls(port, { ...old, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })
  expect(peer.failure).toMatch(/^ERR_SSL_/)
  await until(async () => expect(await refused()).toBe(1))
  expect(lines).toEqual([])
})

it.each(['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const)('accepts %s with `profile: old`', async (version) => {
  const { shared } = witness()
  const { port } = await openTcp(shared, tlsWith(server, { profile: 'old' }))
  const only = { minVersion: version, maxVersion: version }
  const peer = await dialTls(port, { ca: server.cert, ciphers: 'DEFAULT@SECLEVEL=0', ...only })
  expect(peer.socket.getProtocol()).toBe(version)
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
})

it('ends a connection to a TLS port that speaks without TLS, or that leaves at once', async () => {
  const refused = await refusals('tls')
  const { port } = await openTcp(gateway())
  const plain = await dial(port)
  plain.say('id van-1\n')
  await until(() => expect(plain.over).toBe(true))
  expect(plain.heard).not.toContain('hi')
  const leaving = await dial(port)
  leaving.socket.destroy()
  await until(async () => expect(await refused()).toBe(2))
  await until(async () => expect(await openConnections('tcp')).toBe(0))
})

it('ends a TLS handshake that takes longer than identify_timeout, even byte by byte', async () => {
  const refused = await refusals('tls')
  const { port } = await openTcp(gateway({ limits: { identify_timeout: 300 } }))
  const silent = await dial(port)
  const slow = await dial(port)
  const hello = Buffer.from('1603010200010001fc0303'.padEnd(1000, '0'), 'hex')
  let at = 0
  const dripping = setInterval(() => slow.socket.write(hello.subarray(at, ++at)), 50)
  onTestFinished(() => clearInterval(dripping))
  await until(() => expect([silent.over, slow.over]).toEqual([true, true]))
  expect(at).toBeLessThan(hello.length)
  await until(async () => expect(await refused()).toBe(2))
})

it('counts a TLS connection for the limits from its first byte on', async () => {
  const refused = await refusals('max_per_ip')
  const { port } = await openTcp(gateway({ limits: { max_connections_per_ip: 1 } }))
  const first = await dial(port)
  await until(async () => expect(await openConnections('tcp')).toBe(1))
  const second = await dial(port)
  await until(() => expect(second.over).toBe(true))
  expect([await refused(), first.over]).toEqual([1, false])
})

const names = async (issued: Issued) => {
  const { shared, seen } = witness()
  const { port } = await openTcp(shared, tlsWith(server, { client_ca: fleet.files.cert }))
  const peer = await dialTls(port, { ca: server.cert, cert: issued.cert, key: issued.key })
  peer.say('id van-1\n')
  await until(() => expect(seen.length).toBe(1))
  return seen[0]
}

it('takes the name of a client certificate from its CN', async () => expect(await names(van)).toBe('van-1'))

it('takes the name of a client certificate without a CN from its DNS name or URI', async () => {
  const dns = await certificates.issue('dns', { san: 'email:a@b.example,DNS:van-2.example,DNS:x.example', by: fleet })
  const uri = await certificates.issue('uri', { san: 'URI:urn:imei:356307042441013', by: fleet })
  expect(await names(dns)).toBe('van-2.example')
  expect(await names(uri)).toBe('urn:imei:356307042441013')
})

it('ignores a client certificate that the listener does not ask for', async () => {
  const { shared, seen } = witness()
  const { port } = await openTcp(shared)
  const peer = await dialTls(port, { ca: server.cert, cert: van.cert, key: van.key })
  peer.say('id van-1\n')
  await until(() => expect(peer.heard).toBe('hi\n'))
  expect(seen).toEqual([undefined])
})

it('recognises a client certificate again when a TLS session is resumed', async () => {
  const { shared, seen } = witness()
  const { port } = await openTcp(shared, tlsWith(server, { client_ca: fleet.files.cert }))
  const own = { ca: server.cert, cert: van.cert, key: van.key }
  const first = await dialTls(port, own)
  const session = Promise.withResolvers<Buffer>()
  first.socket.on('session', (ticket) => session.resolve(ticket))
  first.say('id van-1\n')
  const again = await dialTls(port, { ...own, session: await session.promise })
  expect(again.socket.isSessionReused()).toBe(true)
  again.say('id van-1\n')
  await until(() => expect(seen).toEqual(['van-1', 'van-1']))
})

it.each(['another authority', 'themselves', 'nobody'])('refuses client certificates signed by %s', async (signer) => {
  const refused = await refusals('tls')
  const { shared, seen } = witness()
  const { port } = await openTcp(shared, tlsWith(server, { client_ca: fleet.files.cert }))
  const by = { 'another authority': { by: stranger }, themselves: {}, nobody: undefined }[signer]
  const own = by && (await certificates.issue('forged', { cn: 'van-1', ...by }))
  const peer = await dialTls(port, { ca: server.cert, cert: own?.cert, key: own?.key })
  peer.say('id van-1\n')
  await until(() => expect(peer.over).toBe(true))
  expect([seen, await refused()]).toEqual([[], 1])
})

const query = `/?id=van-1&lat=52.5&lon=13.4&timestamp=${Math.floor(Date.now() / 1000) - 5}`

it('answers 200 to OsmAnd over HTTPS, with and without a client certificate', async () => {
  const { shared, seen, stored } = witness()
  const endpoint = { ...AT, protocol: osmand }
  const open1 = await open(listenHttp({ ...endpoint, tls: tlsWith(server) }, shared))
  const open2 = await open(listenHttp({ ...endpoint, tls: tlsWith(server, { client_ca: fleet.files.cert }) }, shared))
  for (const [port, own] of [
    [open1.port, {}],
    [open2.port, { cert: van.cert, key: van.key }],
  ] as const) {
    const dispatcher = new Agent({ connect: { ca: server.cert, ...own } })
    onTestFinished(() => dispatcher.destroy())
    for (let n = 0; n < 2; n++) {
      const { statusCode } = await request(`https://localhost:${port}${query}`, { dispatcher })
      expect(statusCode).toBe(200)
    }
  }
  expect([stored.length, seen]).toEqual([4, [undefined, undefined, 'van-1', 'van-1']])
})

it('answers 408 to a phone over HTTPS that sends its headers too slowly', async () => {
  const shared = gateway({ limits: { identify_timeout: 300 } })
  const { port } = await open(listenHttp({ ...AT, tls: tlsWith(server) }, shared))
  const peer = await dialTls(port, { ca: server.cert })
  peer.say('GET / HTTP/1.1\r\n')
  await until(() => expect(peer.over).toBe(true))
  expect(peer.heard).toMatch(/^HTTP\/1.1 408 /)
})

async function publish(port: number, own: { cert?: string; key?: string }): Promise<string> {
  const client = mqtt.connect(`mqtts://localhost:${port}`, {
    username: 'van-1',
    ca: server.cert,
    reconnectPeriod: 0,
    ...own,
  })
  onTestFinished(() => void client.end(true))
  return new Promise((resolve) => {
    client.on('error', (error) => resolve(String((error as NodeJS.ErrnoException).code)))
    client.on('close', () => resolve('closed'))
    client.on('connect', () => client.publish(TOPIC, position(), { qos: 1 }, () => resolve('acknowledged')))
  })
}

it('acknowledges a fix over MQTT with TLS, with and without client certificates', async () => {
  const { shared, seen, stored } = witness()
  const parts = { ...shared, protocolNamed }
  const at = { host: '127.0.0.1', port: 0 }
  const without = await open(listenMqtt({ ...at, tls: tlsWith(server) }, parts))
  const withOne = await open(listenMqtt({ ...at, tls: tlsWith(server, { client_ca: fleet.files.cert }) }, parts))
  expect(await publish(without.port, {})).toBe('acknowledged')
  expect(await publish(withOne.port, { cert: van.cert, key: van.key })).toBe('acknowledged')
  expect([stored.length, seen]).toEqual([2, [undefined, 'van-1']])
  expect(await publish(withOne.port, {})).not.toBe('acknowledged')
  expect(stored.length).toBe(2)
})

const observed = (code: string) =>
  inEnglish(observations.current()).find((each) => each.code === code && each.subject.listener === 'tcp/renewed')

it.for([
  ['text', '*HQ,356307042441013,V1#'],
  ['a binary login', Buffer.from('000f333536333037303432343431303133', 'hex')],
  ['another binary login', Buffer.from('78780d01035630704244101300018cdd0d0a', 'hex')],
  ['a request', 'GET / HTTP/1.1\r\n\r\n'],
] as const)('reports a sender of %s to a TLS port, and not one that breaks off a handshake', async ([name, bytes]) => {
  const listener = `tcp/plain ${name}`
  const noted = () => observations.current().filter(({ subject }) => subject.listener === listener)
  const { port } = await open(listenTcp({ ...AT, name: listener, tls: tlsWith(server) }, gateway()))
  const leaving = await dial(port)
  leaving.socket.write(Buffer.from('1603010200010001fc0303', 'hex'))
  leaving.socket.end()
  await until(() => expect(leaving.over).toBe(true))
  expect(noted()).toEqual([])
  const plain = await dial(port)
  plain.socket.write(bytes)
  await until(() => expect(noted()).toMatchObject([{ code: 'plain_to_tls', evidence: ['127.0.0.1'] }]))
})

it('replaces a certificate when its files change, and keeps the earlier one if they do not fit', async () => {
  const issued = await certificates.server('renewed', { days: 200 })
  const { port } = await open(listenTcp({ ...AT, name: 'tcp/renewed', tls: tlsWith(issued) }, gateway()))
  const staying = await dialTls(port, { ca: issued.cert })
  const serial = async () => {
    const peer = await dialTls(port, { rejectUnauthorized: false })
    return peer.socket.getPeerCertificate().serialNumber
  }
  const first = await serial()

  // Renamed into place, because a file that is written in place may be read before it is whole.
  await writeFile(`${issued.files.key}.new`, server.key)
  await rename(`${issued.files.key}.new`, issued.files.key)
  await until(() => expect(observed('certificate_refused')).toBeDefined())
  expect(observed('certificate_refused')?.evidence).toEqual([
    `the key in ${issued.files.key} does not belong to the certificate in ${issued.files.cert}`,
  ])
  expect(await serial()).toBe(first)
  await writeFile(`${issued.files.key}.new`, 'no key')
  await rename(`${issued.files.key}.new`, issued.files.key)
  const isNoKey = [expect.stringContaining('is no private key in PEM')]
  await until(() => expect(observed('certificate_refused')?.evidence).toEqual(isNoKey))

  await certificates.server('renewed', { days: 10 })
  await until(async () => expect(await serial()).not.toBe(first))
  staying.say('id van-1\n')
  await until(() => expect(staying.heard).toBe('hi\n'))
  await until(() => expect(observed('certificate_expires')).toBeDefined())
  const { cert } = issued.files
  expect(observed('certificate_expires')?.evidence[0]).toMatch(new RegExp(`^${cert} ends 20\\d\\d-\\d\\d-\\d\\dT`))
})

it('stops trusting client certificates of a replaced authority, also in resumed sessions', async () => {
  const trusted = await certificates.authority('trusted')
  const old = await certificates.issue('old', { cn: 'van-1', by: trusted })
  const tls = tlsWith(server, { client_ca: trusted.files.cert })
  const { port } = await openTcp(gateway(), tls)
  const own = { ca: server.cert, cert: old.cert, key: old.key }
  const first = await dialTls(port, own)
  const ticket = Promise.withResolvers<Buffer>()
  first.socket.on('session', (session) => ticket.resolve(session))
  first.say('id van-1\n')
  const session = await ticket.promise
  await writeFile(trusted.files.cert, await readFile(stranger.files.cert))
  await until(async () => {
    const again = await dialTls(port, { ...own, session })
    again.say('id van-1\n')
    await until(() => expect(again.over || again.heard !== '').toBe(true))
    expect(again.heard).toBe('')
  })
})
