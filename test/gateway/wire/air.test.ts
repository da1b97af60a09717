import { once } from 'node:events'
import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { networksOf } from '../../../src/domain/networks.ts'
import { OpenNotes } from '../../../src/gateway/day-book.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { listenUdp } from '../../../src/gateway/wire/udp.ts'
import { CertificateMaker, type Issued } from '../../support/certificates.ts'
import { dial, type Gateway, gateway, open, talk, until, untilHeard } from '../../support/listen.ts'
import { client, listen as listenMqtt, position, TOPIC } from '../../support/mqtt.ts'
import { dialTls, tlsWith } from '../../support/tls.ts'
import { datagramPeer } from '../../support/udp.ts'

/*
 * `real`: the bytes that Linux counted on a loopback that carried nothing else, in a network namespace without TCP timestamps
 * (`unshare -n`, net.ipv4.tcp_timestamps=0, /proc/net/dev) while the same was sent.
 */

const AT = { host: '127.0.0.1', port: 0, protocol: talk }
const LONG = 'x'.repeat(40)

let certificates: CertificateMaker
let server: Issued
beforeAll(async () => {
  certificates = await CertificateMaker.create()
  server = await certificates.server('server')
})
afterAll(() => certificates.remove())

/** A gateway, and the data volume that it notes for a device. */
function noting(more: Partial<Gateway> = {}) {
  const devices = new Map<string, OpenNotes>()
  const of = (device: string) => {
    const notes = devices.get(device) ?? new OpenNotes()
    devices.set(device, notes)
    return notes
  }
  return { shared: { ...gateway({ days: { of } }), ...more }, airOf: (device: string) => devices.get(device)?.air }
}

function about(real: number) {
  return { asymmetricMatch: (bytes: number) => Math.abs(bytes / real - 1) < 0.1 }
}

it('the data volume counts a connection for each fix over TCP', async () => {
  const { shared, airOf } = noting()
  const { port } = await open(listenTcp(AT, shared))
  for (let fix = 1; fix <= 10; fix++) {
    const peer = await dial(port)
    peer.say(`fixof van-1 ${LONG}\n`)
    await untilHeard(peer, () => peer.heard === 'ok\n')
    peer.socket.end()
    await until(() => expect(shared.goneDevices).toHaveLength(fix))
  }
  expect(airOf('van-1')).toMatchObject({ bytes: about(4800), connections: 10, fixes: 10 })
})

it('the data volume counts fixes over a lasting connection, and its end', async () => {
  const { shared, airOf } = noting()
  const { port } = await open(listenTcp(AT, shared))
  const peer = await dial(port)
  peer.say('id van-1\n')
  await untilHeard(peer, () => peer.heard === 'hi\n')
  for (let fix = 1; fix <= 50; fix++) {
    peer.say(`fix ${fix} ${LONG}\n`)
    await until(() => expect(peer.heard.split('ok')).toHaveLength(fix + 1))
  }
  peer.socket.end()
  await until(() => expect(shared.goneDevices).toHaveLength(1))
  expect(airOf('van-1')).toMatchObject({ bytes: about(11_168), connections: 1, fixes: 50 })
})

it.for([
  ['TLSv1.2', 2423],
  ['TLSv1.3', 5051],
] as const)('the data volume counts the handshake of %s', async ([version, real]) => {
  const { shared, airOf } = noting()
  const { port } = await open(listenTcp({ ...AT, tls: tlsWith(server) }, shared))
  const peer = await dialTls(port, { ca: server.cert, minVersion: version, maxVersion: version })
  for (let fix = 1; fix <= 3; fix++) {
    peer.say(`fixof van-1 ${LONG}\n`)
    await untilHeard(peer, () => peer.heard === 'ok\n'.repeat(fix))
  }
  peer.socket.end()
  await until(() => expect(shared.goneDevices).toHaveLength(1))
  expect(airOf('van-1')).toMatchObject({ bytes: about(real), connections: 1, fixes: 3 })
})

it('the data volume counts datagrams, which are no connection', async () => {
  const { shared, airOf } = noting()
  const { port } = await open(listenUdp(AT, shared))
  const peer = await datagramPeer(port)
  for (let fix = 1; fix <= 10; fix++) {
    const answered = peer.answered()
    peer.say(`fixof van-1 ${LONG}\n`)
    await answered
  }
  await until(() => expect(airOf('van-1')).toMatchObject({ bytes: 1120, connections: 0, fixes: 10 }))
})

it('the data volume counts MQTT with its login and the end', async () => {
  const { shared, airOf } = noting()
  const { port } = await listenMqtt(shared)
  const device = await client(port)
  for (let fix = 1; fix <= 20; fix++) await device.publishAsync(TOPIC, position(), { qos: 1 })
  await device.endAsync()
  await until(() => expect(shared.goneDevices).toHaveLength(1))
  expect(airOf('van-1')).toMatchObject({ bytes: about(4346), connections: 1, fixes: 20 })
})

/** Sends a fix of a device in a request with a connection of its own. */
async function post(port: number, device: string, headers: Record<string, string> = {}) {
  const path = `/fixof%20${device}`
  const asked = request({ port, host: '127.0.0.1', path, agent: false, headers }).end()
  const [response] = await once(asked, 'response')
  await once(response.resume(), 'close')
}

it('the data volume counts a connection for each HTTP request', async () => {
  const { shared, airOf } = noting()
  const { port } = await open(listenHttp(AT, shared))
  for (let fix = 1; fix <= 10; fix++) await post(port, 'van-1', { 'user-agent': 'x'.repeat(50) })
  await until(() => expect(airOf('van-1')).toMatchObject({ bytes: about(6580), connections: 10, fixes: 10 }))
})

it('the data volume of devices behind a proxy or a relay is not counted', async () => {
  const { shared, airOf } = noting({ trustedProxies: networksOf(['127.0.0.1']) })
  const http = await open(listenHttp(AT, shared))
  await post(http.port, 'van-1', { 'x-forwarded-for': '192.0.2.1' })
  const tcp = await open(listenTcp(AT, shared))
  const peer = await dial(tcp.port)
  peer.say('relay van-1 007\n')
  await untilHeard(peer, () => peer.heard === 'ok\n')
  peer.socket.end()
  await until(() => expect(shared.goneDevices).toHaveLength(1))
  expect(shared.stored).toHaveLength(3)
  expect([airOf('van-1'), airOf('007')]).toEqual([undefined, undefined])
})

it('the data volume of a connection that several devices use is no longer counted', async () => {
  const { shared, airOf } = noting()
  const { port } = await open(listenTcp(AT, shared))
  const peer = await dial(port)
  for (const [index, device] of ['van-1', '007', 'van-1'].entries()) {
    peer.say(`fixof ${device}\n`)
    await untilHeard(peer, () => peer.heard === 'ok\n'.repeat(index + 1))
  }
  expect([airOf('van-1')?.fixes, airOf('007')]).toEqual([1, undefined])
})

it('the data volume of a sender with a wrong secret is not counted', async () => {
  const { shared, airOf } = noting()
  const { port } = await open(listenTcp(AT, shared))
  const peer = await dial(port)
  peer.say('fixof locked wrong\n')
  await until(() => expect(peer.over).toBe(true))
  peer.socket.destroy()
  await until(() => expect(shared.goneDevices).toHaveLength(1))
  expect(airOf('locked')).toBeUndefined()
})
