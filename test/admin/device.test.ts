import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Said } from '../../protocols/kit/index.ts'
import { Conversation } from '../../src/gateway/conversation.ts'
import type { FrameNotes } from '../../src/gateway/heard.ts'
import { keys } from '../../src/store/index.ts'

import { adminFixture, hold, store, TOKEN, VAN_14_LANE, workerOf } from '../support/admin.ts'
import { beatingHeardBook } from '../support/beat.ts'

const admin = adminFixture()
const INSTANT = expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]{12}Z$/) as string
const FIX = { time: Date.UTC(2026, 10, 20, 8, 14, 2, 500), latitude: 52.5163, longitude: 13.3777, valid: true }
const REMOTE = '10.1.2.3:40001'

async function deviceNow(id: string): Promise<Record<string, unknown>> {
  const { status, json } = await admin.ask(`/admin/devices/${id}`)
  expect(status).toBe(200)
  return json as Record<string, unknown>
}

/** Returns a gateway's record of a device that sent over `transport` some ms ago, and its session. */
function gateway(transport: 'tcp' | 'udp' | 'http' | 'mqtt', device = '0356307042441013', agoMs = 0) {
  const heard = beatingHeardBook(admin.redis)
  const session = Object.assign(new Conversation(transport, REMOTE, { device }), { now: Date.now() - agoMs })
  heard.of(device).spoke(session, 'teltonika')
  return { heard, session, stored: (last: Parameters<FrameNotes['stored']>[0]) => heard.of(device).stored(last) }
}

it('GET /admin/devices/{id} shows the entry and the lane of a device that never sent anything', async () => {
  expect(await deviceNow('0356307042441013')).toEqual({
    id: '0356307042441013',
    name: 'Van 12',
    company_id: '7',
    courier_id: '42',
    route_id: '1001',
    model: 'FMB920',
    condition: 'never',
    findings: [],
    problem: expect.objectContaining({ code: 'never' }) as object,
    secret: true,
    source: 'devices.yaml:2',
    lane: {
      company_id: '7',
      courier_id: '42',
      route_id: '1001',
      waiting: 0,
      source: 'devices.yaml:2',
    },
    configured: true,
    held: [],
    state: 'never',
    events: [],
  })
})

it('GET /admin/devices/{id} shows the route that a line assigns now', async () => {
  expect(await deviceNow('356307042441014')).toMatchObject({
    time_zone: '+03:00',
    secret: false,
    lane: VAN_14_LANE,
  })
})

it('GET /admin/devices/{id} shows the waiting fixes of its lane, the last push, and why the lane is parked', async () => {
  const receivedAt = Date.UTC(2026, 10, 20, 8, 14, 2)
  await store(admin.redis, '7/42/1001', { count: 3, receivedAt })
  const { leases, lease } = workerOf(admin.redis)
  await leases.park(await lease('7/42/1001'), { status: 404, message: 'no such route' })
  expect((await deviceNow('356307042441013')).lane).toMatchObject({
    waiting: 3,
    oldest_at: '2026-11-20T08:14:02.000Z',
    last_push: { at: INSTANT, status: 404 },
    parked: { status: 404, message: 'no such route', tries: 1, at: INSTANT, since_at: INSTANT },
  })
})

it.each(['356307042441013', '00356307042441013'])(
  'GET /admin/devices/{id} finds a device as %s, with or without leading zeros',
  async (id) => {
    expect((await deviceNow(id)).id).toBe('0356307042441013')
  },
)

it('GET /admin/devices/{id} finds a device with any id, and answers its exact id', async () => {
  expect(await deviceNow('van%2F15')).toMatchObject({
    id: 'van/15',
    courier_id: '9223372036854775807',
    route_id: '9007199254740993',
  })
})

it.each(['1', '__proto__', '..%2F..%2Fx', 'x'.repeat(64)])(
  'GET /admin/devices/{id} answers 404 for the unknown device %s',
  async (id) => {
    const { status, json } = await admin.ask(`/admin/devices/${id}`)
    expect([status, json]).toEqual([404, { message: 'no device with this id is configured: add it to devices.yaml' }])
  },
)

it.each(['x', '0'])(
  'GET /admin/devices/{id} answers 404 for an id with a thousand times %s in front',
  async (letter) => {
    const { status, json } = await admin.ask(`/admin/devices/${letter.repeat(1000)}356307042441014`)
    expect([status, json]).toEqual([404, { message: 'no id of a device has more than 64 bytes' }])
  },
)

it('GET /admin/devices/{id} shows what the device last said beside its positions, and since when', async () => {
  const { heard } = gateway('tcp')
  const says = (said: Said, agoMs: number) => {
    const time = Date.UTC(2026, 10, 20, 8) - agoMs
    heard.of('0356307042441013').said(said, { at: time, cameAt: time })
  }
  says({ ignition: true, moving: true, driver: '0001A2', alarms: ['sos'] }, 60_000)
  says({ ignition: false, external_voltage: 12.4, alarms: ['power_cut'] }, 30_000)
  says({ ignition: false, external_voltage: 12.5, battery_percent: 80, charging: false }, 0)
  await heard.close()
  const said = {
    ignition: { value: false, since_at: '2026-11-20T07:59:30.000Z' },
    moving: { value: true, since_at: '2026-11-20T07:59:00.000Z' },
    charging: { value: false, since_at: '2026-11-20T08:00:00.000Z' },
    external_voltage: { value: 12.5, since_at: '2026-11-20T08:00:00.000Z' },
    battery_percent: { value: 80, since_at: '2026-11-20T08:00:00.000Z' },
    driver: { value: '0001A2', since_at: '2026-11-20T07:59:00.000Z' },
    alarms: [
      { alarm: 'power_cut', at: '2026-11-20T07:59:30.000Z' },
      { alarm: 'sos', at: '2026-11-20T07:59:00.000Z' },
    ],
  }
  expect((await deviceNow('356307042441013')).said).toEqual(said)
  const { json: chain } = await admin.ask('/admin/devices/356307042441013/chain')
  const { json: list } = await admin.ask('/admin/devices?q=Van%2012')
  expect([chain, list]).toMatchObject([{ device: { said } }, { results: [{ said }] }])
})

it('GET /admin/devices/{id} shows the connection, the last fix, and why the latest fix was filtered', async () => {
  const { heard, session, stored } = gateway('tcp')
  stored({
    fix: { at: session.now, fix: { ...FIX, speed: 13.9, heading: 271, altitude: 34, satellites: 9 } },
    filtered: { reason: 'out_of_range', at: session.now + 1, fix: { ...FIX, latitude: NaN, hdop: 0.9 } },
  })
  await expect.poll(() => admin.redis.hlen(keys.devices), { timeout: 30_000 }).toBe(1)
  const at = new Date(session.now).toISOString()
  const contact = { protocol: 'teltonika', transport: 'tcp', remote: REMOTE }
  expect(await deviceNow('356307042441013')).toMatchObject({
    state: 'online',
    last_heard: { at, ...contact },
    connection: { ...contact, connected_at: new Date(session.connectedAt).toISOString() },
  })
  const { last_fix, last_filtered } = await deviceNow('356307042441013')
  expect(last_fix).toEqual({
    time_at: '2026-11-20T08:14:02.500Z',
    lat: 52.5163,
    lon: 13.3777,
    valid: true,
    altitude: 34,
    speed: 13.9,
    heading: 271,
    satellites: 9,
    received_at: at,
  })
  expect(last_filtered).toEqual({
    reason: 'out_of_range',
    at: new Date(session.now + 1).toISOString(),
    fix: { time_at: '2026-11-20T08:14:02.500Z', lon: 13.3777, valid: true, hdop: 0.9 },
  })
  await heard.close()
})

it('GET /admin/devices/{id} shows a device as offline after its connection has ended', async () => {
  const { heard, session } = gateway('mqtt')
  heard.gone(session)
  await heard.close()
  const device = await deviceNow('356307042441013')
  expect(device.state).toBe('offline')
  expect(device).not.toHaveProperty('connection')
  expect(device.last_heard).toEqual({ at: INSTANT, protocol: 'teltonika', transport: 'mqtt', remote: REMOTE })
})

it('GET /admin/devices/{id} shows a device as offline when its gateway is silent for five seconds', async () => {
  const { heard } = gateway('tcp')
  await expect.poll(() => admin.redis.hlen(keys.devices), { timeout: 30_000 }).toBe(1)
  const [sign] = await admin.redis.keys(keys.gateway('*'))
  // A gateway renews its sign of life each second.
  await expect.poll(() => admin.redis.pttl(sign), { timeout: 30_000 }).toBeGreaterThan(3000)
  expect(await admin.redis.pttl(sign)).toBeLessThanOrEqual(5000)
  expect((await deviceNow('356307042441013')).state).toBe('online')
  await heard.close()
  expect(await admin.redis.exists(sign)).toBe(0)
  const device = await deviceNow('356307042441013')
  expect([device.state, 'connection' in device]).toEqual(['offline', false])
})

it.each(['udp', 'http'] as const)(
  'GET /admin/devices/{id} shows a device over %s as online while it sends something from time to time',
  async (transport) => {
    const { heard } = gateway(transport, undefined, 14 * 60_000)
    await expect.poll(() => admin.redis.hlen(keys.devices), { timeout: 30_000 }).toBe(1)
    const device = await deviceNow('356307042441013')
    expect([device.state, 'connection' in device]).toEqual(['online', false])
    await heard.close()
  },
)

it('GET /admin/devices/{id} shows a device over UDP as offline after limits.idle_timeout', async () => {
  const { heard } = gateway('udp', undefined, 16 * 60_000)
  await heard.close()
  expect((await deviceNow('356307042441013')).state).toBe('offline')
})

it('GET /admin/devices/{id} keeps the last fix when another gateway hears the device without one', async () => {
  const first = gateway('tcp')
  first.stored({ fix: { at: first.session.now, fix: FIX } })
  await first.heard.close()
  await gateway('tcp').heard.close()
  expect((await deviceNow('356307042441013')).last_fix).toMatchObject({ lat: 52.5163 })
})

it('GET /admin/devices/{id} shows what was heard from a device that is no longer configured', async () => {
  const { heard, session } = gateway('udp', '0077')
  await heard.close()
  const contact = { protocol: 'teltonika', transport: 'udp', remote: REMOTE }
  expect(await deviceNow('0077')).toEqual({
    condition: 'unknown',
    findings: [],
    id: '0077',
    configured: false,
    held: [],
    state: 'online',
    last_heard: { at: new Date(session.now).toISOString(), ...contact },
    events: [],
  })
})

it('GET /admin/devices/{id} shows a device that was configured a moment ago', async () => {
  await writeFile(join(admin.dir, 'devices.csv'), 'device,company_id\n"356307042441099",7\n')
  await expect.poll(async () => (await admin.ask('/admin/devices/356307042441099')).status).toBe(200)
  const device = await deviceNow('356307042441099')
  expect(device).toEqual({
    condition: 'never',
    findings: [],
    id: '356307042441099',
    company_id: '7',
    secret: false,
    source: 'devices.csv:2',
    configured: true,
    held: [],
    state: 'never',
    events: [],
  })
})

/** Puts lines of company 7. */
function put(query: string, lines = '') {
  return admin.ask(`/admin/routes?company_id=7&force=true&${query}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/csv' },
    body: `device,route_id,from,until\n${lines}`,
  })
}

describe('the replaced line of a device', () => {
  const AT_ITS_BEGINNING = 'from=2020-01-01&until=2020-01-02'
  const REPLACED = { source: 'routes.csv:2' }

  it('a replaced line is shown if the device has no route without it, now and for held fixes', async () => {
    await hold(admin.redis, 'no_route', '356307042441014')
    await hold(admin.redis, 'clock', '356307042441014')
    expect((await put(AT_ITS_BEGINNING)).status).toBe(200)
    const { lane, replaced_line, held } = await deviceNow('356307042441014')
    expect([lane, replaced_line]).toEqual([undefined, REPLACED])
    expect(held).toMatchObject([{ reason: 'no_route', replaced_line: REPLACED }, { reason: 'clock' }])
    expect((held as object[])[1]).not.toHaveProperty('replaced_line')
    expect(await deviceNow('356307042441013')).not.toHaveProperty('replaced_line')
  })

  it('a replaced line is shown for the time of the held fixes, in the time zone of the device', async () => {
    await put(AT_ITS_BEGINNING)
    const before = Date.UTC(2020, 0, 1, 2, 59, 59)
    await hold(admin.redis, 'no_route', '356307042441014', { time: before })
    expect((await deviceNow('356307042441014')).held).toEqual([{ reason: 'no_route', fixes: 1, oldest_at: INSTANT }])
    await hold(admin.redis, 'no_route', '356307042441014', { time: before + 1000 })
    expect((await deviceNow('356307042441014')).held).toMatchObject([{ fixes: 2, replaced_line: REPLACED }])
  })

  it('a replaced line is not shown if another line assigns a route', async () => {
    await put(AT_ITS_BEGINNING, 'Van 14,2002,2020-01-01 06:00,2120-01-01 00:00\n')
    const device = await deviceNow('356307042441014')
    expect(device.lane).toMatchObject({ route_id: '2002' })
    expect(device).not.toHaveProperty('replaced_line')
  })

  it('a replaced line is not shown if the put was for other days', async () => {
    await put('from=2020-01-02&until=2020-01-03')
    expect(await deviceNow('356307042441014')).toMatchObject({ lane: VAN_14_LANE })
  })
})

describe('the held fixes of a device', () => {
  const ARRIVED = Date.UTC(2026, 10, 20, 8, 14, 2)
  const OLDEST_AT = '2026-11-20T08:14:02.000Z'

  it('the held fixes of a device are shown by reason, with the time of the oldest one', async () => {
    await hold(admin.redis, 'no_route', '0356307042441013', { count: 3, receivedAt: ARRIVED })
    await hold(admin.redis, 'no_route', '0356307042441013', { receivedAt: ARRIVED + 1000 })
    expect((await deviceNow('356307042441013')).held).toEqual([{ reason: 'no_route', fixes: 4, oldest_at: OLDEST_AT }])
  })

  it('fixes held before a device was configured are found under its id without leading zeros', async () => {
    await hold(admin.redis, 'clock', '356307042441013', { receivedAt: ARRIVED })
    expect((await deviceNow('0356307042441013')).held).toMatchObject([{ reason: 'clock', fixes: 1 }])
  })

  it.each([
    ['+03:00', 3 * 60],
    ['+03:00', 3 * 60 - 2],
    ['+05:45', 5 * 60 + 45 + 2],
    [undefined, 5 * 60 + 45 + 7],
    ['-03:30', -3 * 60 - 30],
    [undefined, 0],
    ['+14:00', 14 * 60],
    [undefined, 14 * 60 + 15],
  ])('the held fixes of a device show the offset %s if the newest fix is %i min ahead', async (offset, minutes) => {
    await hold(admin.redis, 'clock', '356307042441014', { receivedAt: ARRIVED, time: ARRIVED + 36_000_000 })
    await hold(admin.redis, 'clock', '356307042441014', { receivedAt: ARRIVED, time: ARRIVED + minutes * 60_000 })
    expect((await deviceNow('356307042441014')).held).toEqual([
      { reason: 'clock', fixes: 2, oldest_at: OLDEST_AT, ...(offset && { offset }) },
    ])
  })

  it('the held fixes of an unconfigured device are shown with or without leading zeros', async () => {
    await hold(admin.redis, 'unknown', '9', { count: 2, receivedAt: ARRIVED })
    await hold(admin.redis, 'clock', '9', { receivedAt: ARRIVED, time: ARRIVED + 3_600_000 })
    expect(await deviceNow('009')).toEqual({
      condition: 'unknown',
      findings: ['unknown_device'],
      problem: expect.objectContaining({ code: 'unknown_device' }) as object,
      id: '9',
      configured: false,
      held: [
        { reason: 'unknown', fixes: 2, oldest_at: OLDEST_AT },
        { reason: 'clock', fixes: 1, oldest_at: OLDEST_AT, offset: '+01:00' },
      ],
      events: [],
    })
  })
})
