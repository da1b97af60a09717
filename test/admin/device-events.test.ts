import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import mqtt, { type MqttClient } from 'mqtt'
import { expect, it, onTestFinished } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import type { Role } from '../../src/process/role.ts'
import { startGateway } from '../../src/process/roles/gateway.ts'
import { followConfig } from '../../src/process/roles/live.ts'
import { adminFixture, TOKEN } from '../support/admin.ts'

const admin = adminFixture({
  gateway: `
admin: { port: 0, tokens: [${TOKEN}] }
listeners:
  - { transport: tcp, protocol: h02, port: 0, host: 127.0.0.1 }
  - { transport: http, protocol: osmand, port: 0, host: 127.0.0.1 }
mqtt: { broker: { host: 127.0.0.1, port: 0 } }
`,
})
/** Has a secret, and a route by its entry. */
const VAN_12 = '0356307042441013'
/** Reports local time, and has a route by a line. */
const VAN_14 = '356307042441014'
const VAN_15 = 'van%2F15'
const ROUTED_12 = { event: 'routed', company_id: '7', courier_id: '42', route_id: '1001' }
const ROUTED_14 = { event: 'routed', company_id: '7', courier_id: '43', route_id: '2001' }
const ROUTED_15 = {
  event: 'routed',
  company_id: '7',
  courier_id: '9223372036854775807',
  route_id: '9007199254740993',
}
const INSTANT = expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]{12}Z$/) as string
const REMOTE = expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string
const CONNECTED_14 = { event: 'connected', protocol: 'h02', transport: 'tcp', remote: REMOTE }
const soon = { timeout: 30_000 }

/** Starts a whole gateway with the configuration of the fixture. */
async function gateway(): Promise<Role> {
  const live = await followConfig({ dir: admin.dir, protocols: protocolPorts, role: 'gateway', followsFiles: true })
  const role = await startGateway(live, { redisServer: admin.server.url, ports: {} })
  onTestFinished(() => role.close())
  return role
}

interface Event {
  readonly at: string
  readonly event: string
}

async function eventsOf(id: string): Promise<Event[]> {
  const { status, json } = await admin.ask(`/admin/devices/${id}`)
  expect(status).toBe(200)
  return (json as { events: Event[] }).events
}

/** Waits until the device has these events, latest first, each with its time. */
async function happens(id: string, ...events: object[]): Promise<void> {
  const expected = events.map((event) => ({ at: INSTANT, ...event }))
  await expect.poll(() => eventsOf(id), soon).toEqual(expected)
  const instants = (await eventsOf(id)).map(({ at }) => at)
  expect(instants).toEqual(instants.toSorted().toReversed())
}

/** Connects the tracker of Van 14 over TCP. */
async function van14(role: Role): Promise<Socket> {
  const socket = connect(role.ports?.['tcp/h02'] ?? 0, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

let seconds = 0

/** Sends a fix, a second after the one before, and waits for its answer. */
async function report(socket: Socket, valid = true): Promise<void> {
  const local = new Date(Date.now() + 3 * 3_600_000 - 600_000 + 1000 * seconds++).toISOString()
  const [, year, month, day, hour, minute, second] = /^..(..)-(..)-(..)T(..):(..):(..)/.exec(local) ?? []
  const state = valid ? 'A' : 'V'
  const place = `${state},5231.2000,N,01324.3000,E,000.00,000`
  socket.write(`*HQ,${VAN_14},V1,${hour}${minute}${second},${place},${day}${month}${year},FFFFFFFF#`)
  await once(socket, 'data')
}

async function hangUp(socket: Socket): Promise<void> {
  socket.end()
  await once(socket, 'close')
}

/** Connects the phone of Van 12 over MQTT. */
function van12(role: Role, password: string): MqttClient {
  const url = `mqtt://127.0.0.1:${role.ports?.mqtt}`
  const client = mqtt.connect(url, { username: VAN_12, password, reconnectPeriod: 0 })
  onTestFinished(() => void client.end(true))
  return client.on('error', () => {})
}

/** Returns the phone of Van 12 after its login. */
async function welcomed(role: Role): Promise<MqttClient> {
  const client = van12(role, 'canary-secret')
  await new Promise((resolve) => client.once('connect', resolve))
  return client
}

function closed(client: MqttClient): Promise<void> {
  return new Promise((resolve) => client.once('close', resolve))
}

/** Sends a fix of van/15 over HTTP. */
async function fetched(role: Role): Promise<number> {
  const timestamp = Math.floor(Date.now() / 1000) - 600 + seconds++
  const url = `http://127.0.0.1:${role.ports?.['http/osmand']}/?id=${VAN_15}&lat=52.5&lon=13.4&timestamp=${timestamp}`
  return (await fetch(url)).status
}

it('the events of a device show its connection, its fixes and its disconnection, latest first', async () => {
  const role = await gateway()
  const first = await van14(role)
  await report(first)
  await report(first)
  await report(first, false)
  await hangUp(first)
  const left = { event: 'disconnected', remote: REMOTE }
  const filtered = { event: 'filtered', reason: 'invalid' }
  await happens(VAN_14, left, filtered, ROUTED_14, CONNECTED_14)
  const second = await van14(role)
  await report(second)
  await happens(VAN_14, ROUTED_14, CONNECTED_14, left, filtered, ROUTED_14, CONNECTED_14)
})

it('the events of a device show a wrong secret once, without the secret, and then what it publishes', async () => {
  const role = await gateway()
  for (const password of ['canary-wrong', 'canary-wrong-too']) await closed(van12(role, password))
  const refused = { event: 'refused', reason: 'wrong_secret' }
  await happens(VAN_12, refused)
  const client = await welcomed(role)
  await client.publishAsync(`devices/${VAN_12}/fix`, 'none', { qos: 1 })
  const fix = JSON.stringify({ lat: 52.5, lon: 13.4, timestamp: Math.floor(Date.now() / 1000) })
  await client.publishAsync(`devices/${VAN_12}/fix`, fix, { qos: 1 })
  client.publish('elsewhere', fix, { qos: 1 })
  await closed(client)
  await happens(
    VAN_12,
    { event: 'disconnected', remote: REMOTE, reason: 'unknown_topic' },
    { event: 'refused', reason: 'unknown_topic' },
    ROUTED_12,
    { event: 'misunderstood', reason: 'malformed' },
    { event: 'connected', transport: 'mqtt', remote: REMOTE },
    refused,
  )
  expect((await admin.ask(`/admin/devices/${VAN_12}`)).text).not.toContain('canary')
})

it('the events of a device show a login over MQTT, after which the device is online', async () => {
  const role = await gateway()
  const client = await welcomed(role)
  await happens(VAN_12, { event: 'connected', transport: 'mqtt', remote: REMOTE })
  const path = `/admin/devices/${VAN_12}`
  await expect.poll(async () => (await admin.ask(path)).json, soon).toMatchObject({ state: 'online' })
  const { last_heard, connection } = (await admin.ask(path)).json as Record<string, unknown>
  expect(last_heard).toEqual({ at: INSTANT, transport: 'mqtt', remote: REMOTE })
  expect(connection).toEqual({ transport: 'mqtt', remote: REMOTE, connected_at: INSTANT })
  client.end(true)
  await expect.poll(async () => (await admin.ask(path)).json, soon).toMatchObject({ state: 'offline' })
})

it('the events of a device appear once with two gateways, and not again after a restart', async () => {
  const [one, other] = [await gateway(), await gateway()]
  expect([await fetched(one), await fetched(other)]).toEqual([200, 200])
  await happens(VAN_15, ROUTED_15)
  await Promise.all([one.close(), other.close()])
  const next = await gateway()
  expect(await fetched(next)).toBe(200)
  await next.close()
  await happens(VAN_15, ROUTED_15)
})

it('the events of a device show a disconnection when its gateway ends', async () => {
  const role = await gateway()
  await report(await van14(role))
  await role.close()
  await happens(VAN_14, { event: 'disconnected', remote: REMOTE, reason: 'shutdown' }, ROUTED_14, CONNECTED_14)
})

it('the events of a device show six connections if it connects eight times with one packet each', async () => {
  const role = await gateway()
  const pair = [{ event: 'disconnected', remote: REMOTE }, CONNECTED_14]
  for (let n = 0; n < 8; n++) {
    const socket = await van14(role)
    await report(socket)
    await hangUp(socket)
  }
  await role.close()
  const later = Array.from({ length: 5 }, () => pair).flat()
  await happens(VAN_14, ...later, pair[0], ROUTED_14, pair[1])
})
