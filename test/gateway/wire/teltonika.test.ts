import { request } from 'undici'
import { expect, it } from 'vitest'
import teltonika from '../../../protocols/teltonika/index.ts'
import { listenHttp } from '../../../src/gateway/wire/http.ts'
import { listenTcp } from '../../../src/gateway/wire/tcp.ts'
import { type AvlRecord, avlLogin, avlPacket, bytes } from '../../support/encode.ts'
import { dial, type Gateway, gateway, open, refusals, SECRET, until } from '../../support/listen.ts'
import { AT, client, listen as listenMqtt, refusalOf } from '../../support/mqtt.ts'

const IMEI = '352093086403655'
const LOCKED = '352093086403663'
const PLACE = { latitude: 54.697, longitude: 25.2683 }
const TOPIC = `${IMEI}/data`

/** A record that is measured now. */
const record = (): AvlRecord => ({
  ...PLACE,
  time: Date.now(),
  altitude: 100,
  angle: 90,
  satellites: 9,
  speed: 36,
  io: { 1: [], 2: [], 4: [], 8: [] },
})

/** The same as a document of Codec JSON. */
const report = () =>
  JSON.stringify({
    state: { reported: { ts: Date.now(), latlng: '54.697,25.2683', alt: 100, ang: 90, sat: 9, sp: 36, evt: 0 } },
  })

async function configured(): Promise<Gateway> {
  const shared = gateway()
  const device = { company_id: '7', courier_id: '46', route_id: '1005' }
  await shared.configure({ ...device, id: IMEI, source: 'devices.yaml:5' })
  await shared.configure({ ...device, id: LOCKED, secret: SECRET, source: 'devices.yaml:6' })
  return shared
}

async function post(port: number, path: string, body: string): Promise<number> {
  const answer = await request(`http://127.0.0.1:${port}${path}`, { method: 'POST', body })
  await answer.body.dump()
  return answer.statusCode
}

it.each([
  ['12 zeros', '000000000000000000000000'],
  ['a stray zero', '00'],
  ['a line end', '0d0a'],
])('answers Teltonika packets after %s', async (_, stray) => {
  const shared = await configured()
  const { port } = await open(listenTcp({ ...AT, protocol: teltonika }, shared))
  const peer = await dial(port)
  peer.say(avlLogin(IMEI))
  await until(() => expect(peer.heard).toBe('\x01'))
  peer.say(bytes(stray))
  peer.say(avlPacket(0x08, [record()]))
  await until(() => expect(peer.heard).toBe('\x01\0\0\0\x01'))
  peer.say(Buffer.concat([bytes(stray), avlPacket(0x8e, Array.from({ length: 20 }, record))]))
  await until(() => expect(peer.heard).toBe('\x01\0\0\0\x01\0\0\0\x14'))
  expect(shared.places).toEqual(['7/46/1005', '7/46/1005'])
})

it('answers a Teltonika login after zeros', async () => {
  const { port } = await open(listenTcp({ ...AT, protocol: teltonika }, await configured()))
  const peer = await dial(port)
  peer.say(Buffer.concat([Buffer.alloc(12), avlLogin(IMEI)]))
  await until(() => expect(peer.heard).toBe('\x01'))
})

it('ends a Teltonika connection that sends nothing but zeros', async () => {
  const refused = await refusals('noise')
  const { port } = await open(listenTcp({ ...AT, protocol: teltonika }, await configured()))
  const peer = await dial(port)
  peer.say(avlLogin(IMEI))
  await until(() => expect(peer.heard).toBe('\x01'))
  for (let i = 0; i < 10; i++) peer.say(Buffer.alloc(1000))
  await until(() => expect(peer.over).toBe(true))
  expect(await refused()).toBe(1)
})

it('answers Codec JSON over HTTP with 200 once it is stored, and with 503 if it is not', async () => {
  const shared = await configured()
  const { port } = await open(listenHttp({ ...AT, protocol: teltonika }, shared))
  expect(await post(port, `/${TOPIC}`, report())).toBe(200)
  expect(shared.places).toEqual(['7/46/1005'])
  shared.store = 'fails'
  expect(await post(port, `/${TOPIC}`, report())).toBe(503)
})

it('takes Codec JSON over HTTP only with the secret of the device', async () => {
  const shared = await configured()
  const { port } = await open(listenHttp({ ...AT, protocol: teltonika }, shared))
  expect(await post(port, `/?imei=${LOCKED}`, report())).toBe(403)
  expect(await post(port, `/?imei=${LOCKED}&token=${encodeURIComponent(SECRET)}`, report())).toBe(200)
  expect(shared.places).toEqual(['7/46/1005'])
})

it('answers 400 to Codec JSON without an IMEI', async () => {
  const { port } = await open(listenHttp({ ...AT, protocol: teltonika }, await configured()))
  expect(await post(port, '/', report())).toBe(400)
})

it('stores Codec JSON published to <imei>/data, and acknowledges it once it is stored', async () => {
  const shared = await configured()
  const van = await client((await listenMqtt(shared)).port, { username: IMEI })
  shared.store = 'waits'
  let isAcknowledged = false
  const published = van.publishAsync(TOPIC, report(), { qos: 1 }).then(() => (isAcknowledged = true))
  await until(() => expect(shared.tries).toBe(1))
  expect(isAcknowledged).toBe(false)
  shared.store = 'takes'
  await published
  expect(shared.places).toEqual(['7/46/1005'])
})

it('stores a binary Teltonika packet published to <imei>/data', async () => {
  const shared = await configured()
  const van = await client((await listenMqtt(shared)).port, { username: IMEI })
  await van.publishAsync(TOPIC, avlPacket(0x08, [record()]), { qos: 1 })
  expect(shared.places).toEqual(['7/46/1005'])
})

it('ends the MQTT connection of a Teltonika device that publishes to the topic of another device', async () => {
  const refused = await refusals('other_device')
  const shared = await configured()
  const van = await client((await listenMqtt(shared)).port, { username: IMEI })
  const closed = new Promise((resolve) => van.once('close', () => resolve(undefined)))
  van.publish(`${LOCKED}/data`, report(), { qos: 1 })
  await closed
  expect([await refused(), shared.stored]).toEqual([1, []])
})

it('refuses the MQTT login of a Teltonika device without its secret', async () => {
  const { port } = await listenMqtt(await configured())
  expect(await refusalOf(port, { username: LOCKED })).toBe(5)
  const van = await client(port, { username: LOCKED, password: SECRET })
  await van.publishAsync(`${LOCKED}/data`, report(), { qos: 1 })
})
