import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { protocolPorts } from '../../../protocols/index.ts'
import { startGateway } from '../../../src/process/roles/gateway.ts'
import { followConfig } from '../../../src/process/roles/live.ts'
import { custodyCounters, keys, type Store, timestampOf } from '../../../src/store/index.ts'
import { type Cutting, cutting, PACKET } from '../../support/cutting.ts'
import { until } from '../../support/listen.ts'
import { client, position, TOPIC } from '../../support/mqtt.ts'
import { records } from '../../support/records.ts'
import type { TestRedis } from '../../support/redis.ts'
import { withRedis } from '../../support/with-redis.ts'

const LANE = '7/42/1001'
const DEVICES = 'van-1: { company_id: 7, courier_id: 42, route_id: 1001 }\n'
const VAN = { username: 'van-1', clientId: 'tracker', clean: false, reconnectPeriod: 10 }
/** First bytes of a PUBLISH: as it is sent first, and again, with DUP. */
const [FIRST, AGAIN] = [0x30, 0x38]
/** A port on which nobody listens. */
const NOWHERE = 1
const QOS1 = 2
const QOS2 = 4

let server: TestRedis
let redis: Store

withRedis((one, connection) => {
  server = one
  redis = connection
})

/** A gateway whose only port is the MQTT broker, and a way to it that can be cut. */
async function gateway({ filter = '' } = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-mqtt-'))
  const yaml = `
redis: { url: "${server.url}" }
data_dir: "${join(dir, 'data')}"
companies: [{ company_id: 7, apikey: key }]
listeners: []
mqtt: { broker: { host: 127.0.0.1, port: 0 } }
log: { level: fatal }
${filter}
`
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  await writeFile(join(dir, 'devices.yaml'), DEVICES)
  const start = async () => {
    const live = await followConfig({ dir, protocols: protocolPorts, role: 'gateway', followsFiles: true })
    return startGateway(live, { redisServer: server.url, ports: {} })
  }
  let role = await start()
  onTestFinished(async () => {
    await role.close()
    await rm(dir, { recursive: true })
  })
  const way = await cutting(role.ports?.mqtt ?? 0)
  return {
    way,
    configure: (devices: string) => writeFile(join(dir, 'devices.yaml'), DEVICES + devices),
    async restart() {
      // Otherwise the device would be back before the gateway has closed its ports.
      way.target = NOWHERE
      await role.close()
      role = await start()
      way.target = role.ports?.mqtt ?? 0
    },
  }
}

/** How many fixes arrived, how many of them were left out as repeats, and how many stand in the lane. */
async function account() {
  const counters = await custodyCounters(redis)
  return {
    received: counters.get('received') ?? 0,
    duplicates: counters.get('filtered:duplicate') ?? 0,
    stored: await redis.llen(keys.lane(LANE)),
  }
}

/** Publishes a fix over a way that is cut at a packet, with `meanwhile` before the device is back. */
async function publishThrough(way: Cutting, cut: number, qos: 1 | 2, meanwhile = async () => {}): Promise<void> {
  const van = await client(way.port, VAN)
  const lost = way.cutAt(cut).then(meanwhile)
  await van.publishAsync(TOPIC, position(), { qos })
  await lost
}

it('stores a position once if an MQTT device loses its connection before PUBACK and sends again', async () => {
  const { way } = await gateway()
  await publishThrough(way, PACKET.puback, 1)
  expect(way.published).toEqual([QOS1 | FIRST, QOS1 | AGAIN])
  expect(await account()).toEqual({ received: 2, duplicates: 1, stored: 1 })
})

it('stores a position twice that an MQTT device repeats if the filter of duplicates is off', async () => {
  const { way } = await gateway({ filter: 'filter: { duplicate_window: 0s }' })
  await publishThrough(way, PACKET.puback, 1)
  expect(await account()).toEqual({ received: 2, duplicates: 0, stored: 2 })
})

it('stores a position once if the gateway restarts before PUBACK', async () => {
  const { way, restart } = await gateway()
  await publishThrough(way, PACKET.puback, 1, restart)
  expect(way.published).toEqual([QOS1 | FIRST, QOS1 | AGAIN])
  expect(await account()).toEqual({ received: 2, duplicates: 1, stored: 1 })
})

it.each([
  ['PUBREC', PACKET.pubrec, [FIRST, AGAIN], { received: 2, duplicates: 1, stored: 1 }],
  ['PUBREL', PACKET.pubrel, [FIRST], { received: 1, duplicates: 0, stored: 1 }],
  ['PUBCOMP', PACKET.pubcomp, [FIRST], { received: 1, duplicates: 0, stored: 1 }],
])('stores a QoS 2 position once if its device loses the connection before %s', async (_, packet, times, stored) => {
  const { way } = await gateway()
  await publishThrough(way, packet, 2)
  expect(way.published).toEqual(times.map((flags) => QOS2 | flags))
  expect(await account()).toEqual(stored)
})

it.each([
  ['PUBREC', PACKET.pubrec, { received: 2, duplicates: 1, stored: 1 }],
  ['PUBREL', PACKET.pubrel, { received: 1, duplicates: 0, stored: 1 }],
  ['PUBCOMP', PACKET.pubcomp, { received: 1, duplicates: 0, stored: 1 }],
])('stores a QoS 2 position once if the gateway restarts before %s', async (_, packet, stored) => {
  const { way, restart } = await gateway()
  await publishThrough(way, packet, 2, restart)
  expect(await account()).toEqual(stored)
})

it('stores a position once although an MQTT device repeats it as a new one in another session', async () => {
  const { way } = await gateway()
  way.setsDup = false
  const payload = position()
  const van = await client(way.port, { ...VAN, reconnectPeriod: 0 })
  const lost = way.cutAt(PACKET.puback)
  van.publish(TOPIC, payload, { qos: 1 })
  await lost
  const again = await client(way.port, { ...VAN, clean: true, clientId: 'another' })
  await again.publishAsync(TOPIC, payload, { qos: 1 })
  expect(way.published).toEqual([QOS1 | FIRST, QOS1 | FIRST])
  expect(await account()).toEqual({ received: 2, duplicates: 1, stored: 1 })
})

it.each([
  [1, PACKET.puback],
  [2, PACKET.pubrec],
] as const)(
  'stores many positions with QoS %i once and in order if the connection is lost among them',
  async (qos, packet) => {
    const { way } = await gateway()
    const van = await client(way.port, VAN)
    const from = Math.floor(Date.now() / 1000) - 1000
    const times = Array.from({ length: 100 }, (_, n) => from + n)
    const lost = way.cutAt(packet, 30)
    await Promise.all(times.map((timestamp) => van.publishAsync(TOPIC, position({ timestamp }), { qos })))
    await lost
    expect(way.published.length).toBeGreaterThan(100)
    const stored = await redis.lrangeBuffer(keys.lane(LANE), 0, -1)
    expect(stored.flatMap(records).map(timestampOf)).toEqual(times)
  },
)

it('releases a held and repeated position once when its device is configured', async () => {
  const { way, configure } = await gateway()
  const van = await client(way.port, { ...VAN, username: 'van-2' })
  const lost = way.cutAt(PACKET.puback)
  await van.publishAsync('devices/van-2/fix', position(), { qos: 1 })
  await lost
  expect(await redis.llen(keys.held('unknown', 'van-2'))).toBe(2)
  await configure('van-2: { company_id: 7, courier_id: 42, route_id: 1001 }\n')
  await until(async () => expect(await account()).toEqual({ received: 2, duplicates: 1, stored: 1 }))
  expect(await redis.exists(keys.held('unknown', 'van-2'))).toBe(0)
})
