import { afterAll, beforeAll, expect, it } from 'vitest'
import { crc16Arc } from '../../protocols/kit/index.ts'
import { dial, type Product, startProduct } from '../rig/product.ts'
import { findProgram, type Program } from '../support/debian-program.mjs'
import { bytes, u } from '../support/encode.ts'
import { freePorts } from '../support/free-ports.ts'
import { startMosquitto } from '../support/mosquitto.ts'
import { client } from '../support/mqtt.ts'
import { untilSo } from '../support/processes.ts'

/** Vans of six systems, each with its id and route. */
const VANS = ['013', '021', '039', '047', '054', '062'].map((end, index) => ({
  id: `356307042441${end}`,
  route: 9001 + index,
}))
const [TRACCAR, FLESPI, IPS, COMBINE, WEBHOOK, BINARY] = VANS
const DEVICES = VANS.map(
  ({ id, route }) => `"${id}": { company_id: 7, courier_id: ${route - 8000}, route_id: ${route} }\n`,
).join('')
const NOW = Math.floor(Date.now() / 1000) - 60
const soon = { timeout: 60_000 }
/** Ports besides the usual ones. */
const LISTENERS = [
  ['http', 'traccar'],
  ['tcp', 'wialoncombine'],
  ['tcp', 'retranslator'],
]
  .map(([transport, protocol]) => `  - { transport: ${transport}, protocol: ${protocol}, port: 0, host: 127.0.0.1 }\n`)
  .join('')

let product: Product
let brokerPort: number
let program: Program | undefined

beforeAll(async () => {
  ;[brokerPort] = await freePorts(1)
  program = await findProgram('mosquitto')
  const topics = '{ "flespi/message/gw/channels/+/{device}": flespi }'
  const bridge = `{ url: "mqtt://127.0.0.1:${brokerPort}", username: canary-token, topics: ${topics} }`
  product = await startProduct(
    { 'devices.yaml': DEVICES },
    `${LISTENERS}mqtt: { broker: null, bridges: [${bridge}] }\n`,
  )
}, 300_000)
afterAll(() => product?.end())

const delivered = async ({ route }: (typeof VANS)[number]) =>
  (await product.positions(String(route), NOW - 100, NOW + 1000)).map(({ lat, lon }) => [lat, lon])

const post = async (protocol: string, body: unknown) =>
  (
    await fetch(`http://127.0.0.1:${product.ports[`http/${protocol}`]}/`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
  ).status

it('positions that a Traccar server forwards are delivered', async () => {
  const position = {
    fixTime: new Date(NOW * 1000).toISOString(),
    valid: true,
    latitude: 54.1,
    longitude: 25.1,
    speed: 10,
  }
  expect(await post('traccar', { position, device: { uniqueId: TRACCAR.id, name: 'Van' } })).toBe(200)
  await expect.poll(() => delivered(TRACCAR), soon).toEqual([[54.1, 25.1]])
})

it('positions that flespi channels publish are delivered through a bridge', async () => {
  await startMosquitto(program as Program, brokerPort)
  const publisher = await client(brokerPort, {})
  const message = {
    ident: FLESPI.id,
    timestamp: NOW,
    'position.latitude': 54.2,
    'position.longitude': 25.2,
    'channel.id': 7,
  }
  const topic = `flespi/message/gw/channels/7/${FLESPI.id}`
  // Publishes until the bridge is subscribed.
  const published = async () => {
    await publisher.publishAsync(topic, JSON.stringify(message), { qos: 1 })
    return delivered(FLESPI)
  }
  await expect.poll(published, soon).toEqual([[54.2, 25.2]])
})

it('positions that Wialon retranslators send are delivered with three protocols', async () => {
  const at = new Date(NOW * 1000).toISOString()
  const dmy = at.slice(8, 10) + at.slice(5, 7) + at.slice(2, 4)
  const ips = await dial(product.ports['tcp/wialon'])
  ips.socket.write(`#L#${IPS.id};NA\r\n`)
  await expect.poll(() => ips.answered().toString(), soon).toContain('#AL#1')
  ips.socket.write(`#SD#${dmy};${at.slice(11, 19).replaceAll(':', '')};5418.0000;N;02518.0000;E;0;0;34;9\r\n`)
  await expect.poll(() => ips.answered().toString(), soon).toContain('#ASD#1')
  await expect.poll(() => delivered(IPS), soon).toEqual([[54.3, 25.3]])

  const combine = await dial(product.ports['tcp/wialoncombine'])
  combine.socket.write(packet(0, Buffer.concat([bytes('01 30'), u(8, Number(COMBINE.id))])))
  await expect.poll(() => combine.answered().length, soon).toBe(5)
  const place = Buffer.concat([bytes('01'), u(4, 54_400_000), u(4, 25_400_000), bytes('0024 010e 0022 08 005a')])
  combine.socket.write(packet(1, Buffer.concat([u(4, NOW), bytes('01'), place])))
  await expect.poll(() => combine.answered().length, soon).toBe(10)
  await expect.poll(() => delivered(COMBINE), soon).toEqual([[54.4, 25.4]])

  const binary = await dial(product.ports['tcp/retranslator'])
  binary.socket.write(retranslated(54.6, 25.6))
  await expect.poll(() => binary.answered().length, soon).toBe(1)
  await expect.poll(() => delivered(BINARY), soon).toEqual([[54.6, 25.6]])
})

/** Returns the JSON of an unknown provider. */
const body = (later: number) => ({
  vehicle: { imei: WEBHOOK.id },
  events: [{ when: (NOW + later) * 1000, gps: { latitude: 54.5, longitude: 25.5 + later / 100 } }],
})

it('JSON of an unknown provider is mapped and then delivered, even if it is sent again', async () => {
  expect(await post('osmand', body(0))).toBe(400)
  const unread = async () =>
    (await product.admin<{ results: { kind: string; proposal?: { mapping: object } }[] }>('/admin/mappings/unread'))
      .results
  expect(await untilSo(async () => (await unread()).length > 0, { withinMs: 60_000, everyMs: 100 })).toBe(true)
  const [{ proposal }] = await unread()
  const put = {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(proposal?.mapping),
  }
  await product.admin('/admin/mappings/provider', put)
  await expect.poll(() => post('osmand', body(0)), soon).toBe(200)
  expect(await post('osmand', body(1))).toBe(200)
  await expect
    .poll(() => delivered(WEBHOOK), soon)
    .toEqual([
      [54.5, 25.5],
      [54.5, 25.51],
    ])
})

/** A position by the binary protocol of Wialon's retranslator. */
function retranslated(latitude: number, longitude: number): Buffer {
  const place = Buffer.alloc(29)
  place.writeDoubleLE(longitude, 0)
  place.writeDoubleLE(latitude, 8)
  place[28] = 8
  const value = Buffer.concat([bytes('01 02'), Buffer.from('posinfo\0'), place])
  const content = Buffer.concat([
    Buffer.from(`${BINARY.id}\0`),
    u(4, NOW),
    u(4, 3),
    bytes('0bbb'),
    u(4, value.length),
    value,
  ])
  return Buffer.concat([u(4, content.length).toReversed(), content])
}

/** A packet of Wialon Combine. */
function packet(kind: number, content: Buffer): Buffer {
  const covered = Buffer.concat([bytes('2424'), Buffer.of(kind), u(2, 7), u(2, content.length), content])
  return Buffer.concat([covered, u(2, crc16Arc(covered))])
}
