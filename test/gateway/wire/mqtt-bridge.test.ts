import { createServer } from 'node:net'
import { Aedes } from 'aedes'
import type { MqttClient } from 'mqtt'
import mqttPacket, { type Packet } from 'mqtt-packet'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openBridge } from '../../../src/gateway/wire/mqtt-bridge.ts'
import { timestampOf } from '../../../src/store/record.ts'
import { bridgeTo, opened, subscribed, troublesOf } from '../../support/bridge.ts'
import { CertificateMaker, type Issued } from '../../support/certificates.ts'
import { findProgram, type Program } from '../../support/debian-program.mjs'
import { freePorts } from '../../support/free-ports.ts'
import { count, type Gateway, gateway, refusals, SECRET, talk, until } from '../../support/listen.ts'
import { listening } from '../../support/listening.ts'
import { startMosquitto } from '../../support/mosquitto.ts'
import { client, position } from '../../support/mqtt.ts'
import { records } from '../../support/records.ts'

let program: Program | undefined
let certificates: CertificateMaker
let authority: Issued

beforeAll(async () => {
  program = await findProgram('mosquitto')
  certificates = await CertificateMaker.create()
  authority = await certificates.authority('authority')
}, 300_000)
afterAll(() => certificates.remove())

async function mosquitto(more = '') {
  const [port] = await freePorts(1)
  return startMosquitto(program as Program, port, more)
}

/** A broker that accepts a login and subscriptions, and then sends bytes. */
async function ownBroker(then: Buffer): Promise<number> {
  const server = createServer((socket) => {
    const parser = mqttPacket.parser({ protocolVersion: 5 })
    parser.on('packet', ({ cmd }) => {
      if (cmd === 'connect') socket.write(bytesOf({ cmd: 'connack', sessionPresent: false, reasonCode: 0 }))
      if (cmd === 'subscribe')
        socket.write(Buffer.concat([bytesOf({ cmd: 'suback', messageId: 1, granted: [1] }), then]))
    })
    socket.on('data', (bytes) => parser.parse(bytes)).on('error', () => {})
  })
  onTestFinished(() => void server.close())
  return listening(server)
}

function bytesOf(packet: Packet): Buffer {
  return mqttPacket.generate(packet, { protocolVersion: 5 })
}

const T0 = Math.floor(Date.now() / 1000) - 10_000

/** Publishes fixes of consecutive seconds with QoS 1. Resolves once the broker has them. */
async function publish(publisher: MqttClient, seconds: readonly number[], topic = 'fleet/van-1/pos'): Promise<void> {
  await Promise.all(seconds.map((s) => publisher.publishAsync(topic, position({ timestamp: T0 + s }), { qos: 1 })))
}

/** The seconds of the fixes that a gateway has stored, in order. */
function secondsOf({ stored }: Gateway): number[] {
  const all = stored.flatMap(({ parts }) => parts.flatMap((part) => records(part.records)))
  return all.map((record) => timestampOf(record) - T0)
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index)
}

describe('a bridge to Mosquitto', () => {
  beforeEach(({ skip }) => skip(!program, 'there is no mosquitto, and apt cannot fetch it'))

  it.each(['5', '3.1.1'])('a bridge stores what devices publish, by topic, over MQTT %s', async (version) => {
    const { port } = await mosquitto()
    const shared = gateway()
    const topics = { 'fleet/+/pos': 'fix', 'raw/+/{device}/talk': 'talk', 'owntracks/+/#': 'owntracks' }
    const bridge = bridgeTo(port, { version, topics })
    await subscribed(bridge, shared)
    const publisher = await client(port)
    await publish(publisher, [1, 2])
    await publisher.publishAsync('raw/north/7/talk', 'fix', { qos: 1 })
    const place = JSON.stringify({ _type: 'location', tst: T0, lat: 50, lon: 8 })
    await publisher.publishAsync('owntracks/locked/phone', place, { qos: 1 })
    await until(() => expect(shared.stored).toHaveLength(4))
    expect(shared.places).toEqual(['7/42/1001', '7/42/1001', '7/43/1002', '7/44/1003'])
    expect(await count('bridge_messages_total', { bridge: bridge.name, outcome: 'stored' })).toBe(4)
  })

  it.each(['5', '3.1.1'])(
    'a bridge gets a message that is not stored yet again at the next gateway, over MQTT %s',
    async (version) => {
      const { port } = await mosquitto()
      const bridge = bridgeTo(port, { version })
      const first = gateway()
      first.store = 'waits'
      const opened1 = await subscribed(bridge, first)
      const publisher = await client(port)
      await publish(publisher, range(5))
      await until(() => expect(first.tries).toBe(5))
      await opened1.close(0)
      const second = gateway()
      const opened2 = await subscribed(bridge, second)
      await until(() => expect(secondsOf(second)).toEqual(range(5)))
      await opened2.close()
      const third = gateway()
      await subscribed(bridge, third)
      await publish(publisher, [9])
      await until(() => expect(secondsOf(third)).toEqual([9]))
    },
  )

  it('a bridge gets what was published while no gateway was running', async () => {
    const { port } = await mosquitto()
    const bridge = bridgeTo(port)
    await (await subscribed(bridge, gateway())).close()
    await publish(await client(port), range(50))
    const shared = gateway()
    await opened(bridge, shared)
    await until(() => expect(secondsOf(shared)).toEqual(range(50)))
  })

  it.each(['5', '3.1.1'])(
    'gateways of one shared group share the messages of a bridge, over MQTT %s',
    async (version) => {
      const { port } = await mosquitto()
      const [one, other] = [gateway(), gateway()]
      const bridge = bridgeTo(port, { version, shared_group: 'waybridge', name: `shared ${version}` })
      await opened(bridge, one, 0)
      await opened(bridge, other, 1)
      const publisher = await client(port)
      // Until both are subscribed, one of them gets all.
      await until(async () => {
        await publish(publisher, [-1])
        expect(Math.min(one.stored.length, other.stored.length)).toBeGreaterThan(0)
      })
      await publish(publisher, range(200))
      const all = () => [...secondsOf(one), ...secondsOf(other)].filter((second) => second >= 0)
      await until(() => expect(all().toSorted((a, b) => a - b)).toEqual(range(200)))
      expect(secondsOf(one).length).toBeGreaterThan(20)
      expect(secondsOf(other).length).toBeGreaterThan(20)
    },
  )

  it('a bridge gets messages again that could not be stored', async () => {
    const { port } = await mosquitto()
    const shared = gateway()
    const bridge = bridgeTo(port)
    await subscribed(bridge, shared)
    shared.store = 'waits'
    await publish(await client(port), range(3))
    await until(() => expect(shared.tries).toBe(3))
    // Each fails once.
    shared.store = 'fails'
    await new Promise(setImmediate)
    shared.store = 'takes'
    await until(() => expect(secondsOf(shared)).toEqual(range(3)))
    expect(await count('bridge_messages_total', { bridge: bridge.name, outcome: 'not_stored' })).toBe(3)
    expect(troublesOf(bridge)).toEqual([])
  })

  it('a bridge reads no more messages than it can store', async () => {
    const { port } = await mosquitto('max_inflight_messages 0')
    const shared = gateway()
    shared.store = 'waits'
    await subscribed(bridgeTo(port, { version: '3.1.1' }), shared)
    await publish(await client(port), range(5000))
    await until(() => expect(shared.tries).toBeGreaterThanOrEqual(1000))
    // A chunk of the socket holds some hundred messages.
    expect(shared.tries).toBeLessThan(2000)
    shared.store = 'takes'
    await until(() => expect(secondsOf(shared)).toEqual(range(5000)))
  })

  it('a bridge acknowledges messages that it refuses, and keeps those it does not understand', async () => {
    const { port } = await mosquitto()
    const shared = gateway()
    const bridge = bridgeTo(port, { topics: { 'fleet/+/pos': 'fix', 'raw/+': 'talk' }, name: 'refusing' })
    await subscribed(bridge, shared)
    const refused = await Promise.all(['unknown_device', 'other_device', 'frame_too_long'].map(refusals))
    const publisher = await client(port)
    const send = (topic: string, text: string) => publisher.publishAsync(topic, text, { qos: 1 })
    await send('fleet/van-1/pos', '{"lat":')
    await send('fleet/stranger/pos', position())
    await send('raw/van-1', 'by 007 fix')
    await send('raw/van-1', `fix ${'x'.repeat(5000)}`)
    await publish(publisher, [5])
    await until(() => expect(secondsOf(shared)).toEqual([5]))
    expect(shared.frames).toMatchObject([{ device: 'van-1', protocol: 'fix', transport: 'mqtt' }])
    expect(await Promise.all(refused.map((each) => each()))).toEqual([1, 1, 1])
    expect(await count('bridge_messages_total', { bridge: 'refusing', outcome: 'refused' })).toBe(3)
    expect(await count('bridge_messages_total', { bridge: 'refusing', outcome: 'not_stored' })).toBe(0)
  })

  it('a broker of MQTT 5 leaves out a message above 1 MB, which a bridge with 3.1.1 reports', async () => {
    const { port } = await mosquitto()
    const shared = gateway()
    const bridge = bridgeTo(port, { version: '3.1.1', name: 'large' })
    const large = Buffer.alloc(1_200_000, 0x20)
    await subscribed(bridgeTo(port), shared)
    await opened(bridge, gateway())
    await until(async () => expect(await count('bridge_connected', { bridge: 'large' })).toBe(1))
    const publisher = await client(port)
    await publisher.publishAsync('fleet/van-1/pos', large, { qos: 1 })
    await publish(publisher, [3])
    await until(() => expect(secondsOf(shared)).toEqual([3]))
    await until(() => expect(troublesOf(bridge)).toEqual(['the broker sends a message above 1 MB']))
  })

  it('a bridge accepts a device with a secret, and refuses one that may only come by another way', async () => {
    const { port } = await mosquitto()
    const shared = gateway()
    const entry = { company_id: '7', courier_id: '46', route_id: '1005', source: 'devices.yaml:9' }
    await shared.configure({ ...entry, id: 'by-tcp', transports: ['tcp'] })
    await shared.configure({ ...entry, id: 'by-network', networks: ['10.0.0.0/8', '127.0.0.0/8'] })
    await shared.configure({ ...entry, id: 'by-certificate', client_certificate: ['van'] })
    const bridge = bridgeTo(port)
    await subscribed(bridge, shared)
    const publisher = await client(port)
    const refused = await refusals('not_permitted')
    for (const id of ['by-tcp', 'by-network', 'by-certificate', 'locked'])
      await publish(publisher, [1], `fleet/${id}/pos`)
    await until(() => expect(shared.places).toEqual(['7/44/1003']))
    expect(await refused()).toBe(3)
  })

  it('a bridge reports why its login is refused, without the password', async () => {
    const broker = await mosquitto('allow_anonymous false')
    const bridge = bridgeTo(broker.port, { username: 'gateway', password: SECRET, name: 'login' })
    await opened(bridge, gateway())
    await until(() => expect(troublesOf(bridge)).toEqual([expect.stringMatching(/refuses the login: not authorised/)]))
    await broker.stop()
    await until(() => expect(troublesOf(bridge).join()).toContain('no broker listens there (ECONNREFUSED)'))
    expect(JSON.stringify(troublesOf(bridge))).not.toContain(SECRET)
  })

  describe('TLS', () => {
    let server: Issued
    let van: Issued

    beforeAll(async () => {
      server = await certificates.server('broker', { by: authority })
      van = await certificates.issue('gateway', { cn: 'gateway', by: authority })
    })

    /** A broker that wants client certificates. Its files have names without spaces. */
    async function secure() {
      const [port, tlsPort] = await freePorts(2)
      const own = `listener ${tlsPort} 127.0.0.1
cafile ${authority.files.cert}
certfile ${server.files.cert}
keyfile ${server.files.key}
require_certificate true`
      await startMosquitto(program as Program, port, own)
      return { port, url: `mqtts://localhost:${tlsPort}` }
    }

    it('a bridge presents a client certificate, and trusts the authority that tls.ca names', async () => {
      const { port, url } = await secure()
      const shared = gateway()
      const { cert, key } = van.files
      await subscribed(bridgeTo(port, { url, tls: { ca: authority.files.cert, cert, key } }), shared)
      await publish(await client(port), [1])
      await until(() => expect(secondsOf(shared)).toEqual([1]))
    })

    it('a bridge reports what is wrong with certificates', async () => {
      const { port, url } = await secure()
      const ca = authority.files.cert
      const untrusted = bridgeTo(port, { url, name: 'untrusted' })
      const anonymous = bridgeTo(port, { url, tls: { ca }, name: 'anonymous' })
      const elsewhere = bridgeTo(port, { url: url.replace('localhost', '127.0.0.2'), tls: { ca }, name: 'elsewhere' })
      const plain = bridgeTo(port, { url: `mqtts://localhost:${port}`, tls: { ca }, name: 'plain' })
      const gone = bridgeTo(port, { url, tls: { ca: `${ca}.not` }, name: 'gone' })
      for (const bridge of [untrusted, anonymous, elsewhere, plain, gone]) await opened(bridge, gateway())
      await until(() => expect(troublesOf(untrusted).join()).toMatch(/is not trusted: set tls.ca/))
      await until(() => expect(troublesOf(anonymous).join()).toMatch(/wants another client certificate/))
      await until(() => expect(troublesOf(plain).join()).toMatch(/the broker/))
      await until(() => expect(troublesOf(gone).join()).toMatch(/tls.ca: the file .* cannot be read \(ENOENT\)/))
      await until(() => expect(troublesOf(elsewhere)).not.toEqual([]))
    })
  })
})

it('a bridge refuses a protocol that is spoken over HTTP alone', async () => {
  const bridge = bridgeTo(1, { topics: { 'a/+': 'osmand' } })
  const made = openBridge(bridge, {
    ...gateway(),
    protocolNamed: async () => ({ ...talk, decode: undefined }),
    gateway: { installation: 'test', slot: 0 },
  })
  await expect(made).rejects.toThrow('cannot open bridge 127.0.0.1:1: osmand is spoken over HTTP alone')
})

it('a bridge reports which subscription the broker refuses', async () => {
  const broker = await Aedes.createBroker({
    authorizeSubscribe: (_client, subscription, done) =>
      done(null, subscription.topic === 'fleet/+/pos' ? null : subscription),
  })
  const server = createServer((socket) => broker.handle(socket))
  const port = await listening(server)
  onTestFinished(() => new Promise((resolve) => broker.close(() => server.close(() => resolve()))))
  const bridge = bridgeTo(port, { version: '3.1.1', topics: { 'fleet/+/pos': 'fix', 'other/+': 'fix' } })
  await opened(bridge, gateway())
  await until(() =>
    expect(troublesOf(bridge)).toEqual(['the broker refuses the subscription fleet/+/pos: unspecified error (128)']),
  )
})

it.each<Packet>([
  { cmd: 'connack', sessionPresent: false, reasonCode: 0 },
  { cmd: 'suback', messageId: 1, granted: [1] },
])('a bridge ends the connection when the broker sends $cmd again', async (packet) => {
  const bridge = bridgeTo(await ownBroker(Buffer.concat(Array.from({ length: 1000 }, () => bytesOf(packet)))))
  await opened(bridge, gateway())
  await until(() => expect(troublesOf(bridge)).toEqual([`the broker sends ${packet.cmd.toUpperCase()} unasked`]))
})

it('a bridge leaves time to others while the broker sends more packets than can be parsed', async () => {
  const pings = Buffer.alloc(640_000, bytesOf({ cmd: 'pingresp' }))
  const bridge = bridgeTo(await ownBroker(Buffer.concat([pings, bytesOf({ cmd: 'disconnect', reasonCode: 137 })])))
  await subscribed(bridge, gateway())
  let turns = 0
  const ticking = setInterval(() => turns++, 0)
  onTestFinished(() => clearInterval(ticking))
  const before = process.threadCpuUsage()
  await until(() => expect(troublesOf(bridge)).toEqual(['the broker ended the session: it is busy (137)']))
  const { user, system } = process.threadCpuUsage(before)
  expect((user + system) / 1000 / turns).toBeLessThan(15)
})

it('a bridge reports a peer that is no MQTT broker', async () => {
  const server = createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const bridge = bridgeTo(await listening(server), { name: 'http' })
  onTestFinished(() => void server.close())
  await opened(bridge, gateway())
  await until(() => expect(troublesOf(bridge)).toEqual(['the broker sends what is not MQTT']))
})
