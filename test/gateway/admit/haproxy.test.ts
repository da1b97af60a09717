import { once } from 'node:events'
import { connect as dialFrom, type Socket } from 'node:net'
import { MqttClient } from 'mqtt'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { networksOf } from '../../../src/domain/networks.ts'
import { listenMqtt } from '../../../src/gateway/wire/mqtt.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { CertificateMaker, type Issued } from '../../support/certificates.ts'
import { findProgram, type Program } from '../../support/debian-program.mjs'
import { freePorts } from '../../support/free-ports.ts'
import { startHaproxy } from '../../support/haproxy.ts'
import { type Gateway, gateway, open, talk, until } from '../../support/listen.ts'
import { position, protocolNamed, TOPIC } from '../../support/mqtt.ts'
import { dialTls, tlsWith } from '../../support/tls.ts'

/** An address of this machine by which the proxy and its client differ. */
const CLIENT = '127.0.0.77'

let haproxy: Program | undefined
let certificates: CertificateMaker
let server: Issued

beforeAll(async () => {
  haproxy = await findProgram('haproxy')
  certificates = await CertificateMaker.create()
  server = await certificates.server('server')
}, 300_000)
afterAll(() => certificates.remove())

/** A gateway that trusts only the proxy, and the sender addresses of its messages. */
function witness() {
  const shared = gateway()
  const seen: string[] = []
  const ingest: Gateway['ingest'] = {
    ...shared.ingest,
    take: (frame, session, protocol) => {
      seen.push(session.remote)
      return shared.ingest.take(frame, session, protocol)
    },
  }
  return { shared: { ...shared, ingest, trustedProxies: networksOf(['127.0.0.1']) }, seen }
}

/** Connects from `CLIENT` once the proxy listens. */
async function connectThrough(port: number): Promise<Socket> {
  let socket: Socket | undefined
  await until(async () => {
    const trying = dialFrom({ host: '127.0.0.1', port, localAddress: CLIENT })
    await once(trying, 'connect')
    socket = trying
  })
  onTestFinished(() => void socket?.destroy())
  return socket as Socket
}

describe('a real HAProxy', () => {
  beforeEach(({ skip }) => skip(!haproxy, 'there is no haproxy, and apt cannot fetch it'))

  it.each([
    ['version 1', 'send-proxy'],
    ['version 2', 'send-proxy-v2'],
    ['version 2 with TLVs', 'send-proxy-v2 proxy-v2-options unique-id,crc32c'],
  ])('HAProxy with PROXY %s hands on the client address for TCP, TLS and MQTT', async (_, options) => {
    const { shared, seen } = witness()
    const endpoint = { host: '127.0.0.1', port: 0, proxy_protocol: true }
    const tcp = await open(listenTcp({ ...endpoint, protocol: talk }, shared))
    const tls = await open(listenTcp({ ...endpoint, protocol: talk, tls: tlsWith(server) }, shared))
    const broker = await open(listenMqtt(endpoint, { ...shared, protocolNamed }))
    const ports = await freePorts(3)
    const ways = [tcp, tls, broker].map(({ port: to }, index) => ({ port: ports[index], to, options }))
    await startHaproxy(haproxy!, ways)

    const plain = await connectThrough(ways[0].port)
    let heard = ''
    plain.on('data', (bytes: Buffer) => (heard += bytes.toString()))
    plain.write('id van-1\nfix 1\n')
    await until(() => expect(heard).toBe('hi\nok 1\n'))
    expect(seen.splice(0)).toEqual(Array(2).fill(`${CLIENT}:${plain.localPort}`))

    const below = await connectThrough(ways[1].port)
    const { localPort } = below
    const secure = await dialTls(0, { ca: server.cert, socket: below })
    secure.say('id van-1\n')
    await until(() => expect(secure.heard).toBe('hi\n'))
    expect(seen.splice(0)).toEqual([`${CLIENT}:${localPort}`])

    const stream = () => dialFrom({ host: '127.0.0.1', port: ways[2].port, localAddress: CLIENT })
    const client = new MqttClient(stream, { username: 'van-1', reconnectPeriod: 50 })
    onTestFinished(() => void client.end(true))
    client.on('error', () => {})
    await client.publishAsync(TOPIC, position(), { qos: 1 })
    expect(seen).toEqual([expect.stringMatching(/^127\.0\.0\.77:\d+$/)])
    await client.endAsync(true)
  })

  it('refuses an HAProxy that is no trusted proxy', async () => {
    const shared = { ...gateway(), trustedProxies: networksOf(['192.0.2.1']) }
    const { port: to } = await open(
      listenTcp({ host: '127.0.0.1', port: 0, protocol: talk, proxy_protocol: true }, shared),
    )
    const [port] = await freePorts(1)
    await startHaproxy(haproxy!, [{ port, to, options: 'send-proxy-v2' }])
    const socket = await connectThrough(port)
    // The connection may be reset, because its bytes were never read.
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    socket.resume().write('id van-1\n')
    await closed
    expect(socket.bytesRead).toBe(0)
  })
})
