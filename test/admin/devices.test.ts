import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it, vi } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import { keys } from '../../src/store/index.ts'
import { adminFixture, hold, READ_TOKEN, VAN_14_LANE } from '../support/admin.ts'

const admin = adminFixture()
const REMOTE = '10.1.2.3:40001'

/** Problem of a van with a route that was never heard. */
const NEVER = {
  code: 'never',
  severity: 'warning',
  link: 'connected',
  message: 'nothing of its tracker was accepted so far',
  action: 'check that its tracker has power and a SIM card, and is set to send to this server',
}

interface Listed {
  readonly results: { readonly id: string }[]
  readonly next_page_token?: string
}

async function list(query = ''): Promise<Listed> {
  const { status, json } = await admin.ask(`/admin/devices${query}`)
  expect(status).toBe(200)
  return json as Listed
}

async function ids(query = ''): Promise<string[]> {
  return (await list(query)).results.map(({ id }) => id)
}

/** Sends from the device, then ends its gateway: it is online over UDP, offline over TCP. Returns the time. */
async function speak(transport: 'tcp' | 'udp', device: string, at = Date.now()): Promise<string> {
  const heard = new HeardBook(admin.redis)
  const session = Object.assign(new Conversation(transport, REMOTE), { device, now: at })
  heard.of(device).spoke(session, 'teltonika')
  await heard.close()
  return new Date(at).toISOString()
}

// Added to the fixture: a device whose name sorts first, one without a route, and a second Van 12.
beforeAll(async () => {
  await writeFile(
    join(admin.dir, 'devices.csv'),
    'device,name,company_id,courier_id,route_id\n9,Äpfel,7,,\n10,Van 12,7,42,2\nABC,,7,,\n',
  )
  await vi.waitFor(async () => expect(await ids()).toHaveLength(6), { timeout: 30_000 })
})

it('the list of devices is ordered by name, then by id, with unnamed devices last', async () => {
  expect(await ids()).toEqual(['0356307042441013', '10', '356307042441014', '9', 'ABC', 'van/15'])
})

it('the list of devices shows the entry and the present lane of each device', async () => {
  const { results } = await list()
  expect(results[0]).toEqual({
    id: '0356307042441013',
    name: 'Van 12',
    configured: true,
    company_id: '7',
    courier_id: '42',
    route_id: '1001',
    mapping: 'mapped',
    lane: { company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:2' },
    state: 'never',
    condition: 'never',
    findings: [],
    problem: NEVER,
  })
  expect(results[2]).toEqual({
    id: '356307042441014',
    name: 'Van 14',
    configured: true,
    company_id: '7',
    courier_id: '43',
    mapping: 'mapped',
    lane: VAN_14_LANE,
    state: 'never',
    condition: 'never',
    findings: [],
    problem: NEVER,
  })
  expect(results[4]).toEqual({
    id: 'ABC',
    configured: true,
    company_id: '7',
    mapping: 'no_route',
    state: 'never',
    condition: 'never',
    findings: [],
  })
  expect(results[5]).toMatchObject({
    courier_id: '9223372036854775807',
    lane: { courier_id: '9223372036854775807', route_id: '9007199254740993' },
  })
})

it('the list of devices shows the last contact and the number of held fixes', async () => {
  const at = await speak('udp', '9')
  await hold(admin.redis, 'no_route', '9', { count: 3 })
  await hold(admin.redis, 'clock', '9', { count: 2 })
  expect((await list('?q=pfel')).results).toEqual([
    {
      id: '9',
      name: 'Äpfel',
      configured: true,
      company_id: '7',
      mapping: 'no_route',
      state: 'online',
      condition: 'no_route',
      last_heard: { at, protocol: 'teltonika', transport: 'udp', remote: REMOTE },
      held: 5,
      findings: [],
    },
  ])
})

it('the list of devices includes unconfigured devices that were heard or have held fixes', async () => {
  await hold(admin.redis, 'unknown', '77', { count: 2 })
  const at = await speak('udp', '0078')
  expect((await list('?mapping=unmapped')).results).toEqual([
    {
      id: '0078',
      configured: false,
      mapping: 'unmapped',
      state: 'online',
      condition: 'unknown',
      last_heard: { at, protocol: 'teltonika', transport: 'udp', remote: REMOTE },
      findings: [],
    },
    {
      id: '77',
      configured: false,
      mapping: 'unmapped',
      condition: 'unknown',
      held: 2,
      findings: ['unknown_device'],
      problem: expect.objectContaining({
        code: 'unknown_device',
        message: 'sends positions, and is not named yet: they are held back',
      }) as object,
    },
  ])
})

it('the list of devices shows when an unconfigured device that sends was last heard', async () => {
  await hold(admin.redis, 'unknown', '77')
  const arrival = { at: 1_700_000_000_000, address: REMOTE, transport: 'tcp', protocol: 'teltonika', evidence: [] }
  await admin.redis.hset(keys.arrivedDevices, '77', JSON.stringify({ ...arrival, device: '77' }))
  const last_heard = { at: '2023-11-14T22:13:20.000Z', protocol: 'teltonika', transport: 'tcp', remote: REMOTE }
  expect((await list('?mapping=unmapped')).results).toMatchObject([{ id: '77', last_heard }])
})

it('the list of devices shows a device once, with or without leading zeros', async () => {
  await hold(admin.redis, 'unknown', '356307042441013')
  await hold(admin.redis, 'no_route', '0356307042441013', { count: 2 })
  await hold(admin.redis, 'unknown', '5')
  await speak('udp', '05', Date.now() - 1)
  await speak('tcp', '005')
  const { results } = await list()
  expect(results.map(({ id }) => id)).toHaveLength(7)
  expect(results[0]).toMatchObject({ id: '0356307042441013', mapping: 'mapped', held: 3 })
  expect(results.find(({ id }) => id === '005')).toMatchObject({ configured: false, state: 'offline', held: 1 })
})

it('the list of devices can be read with a read token', async () => {
  const { status } = await admin.ask('/admin/devices', { headers: { authorization: `Bearer ${READ_TOKEN}` } })
  expect(status).toBe(200)
})

it.each([
  ['?mapping=mapped', ['0356307042441013', '10', '356307042441014', 'van/15']],
  ['?mapping=no_route', ['9', 'ABC']],
  ['?mapping=unmapped', ['77']],
  ['?state=online', ['10']],
  ['?state=offline', ['9']],
  ['?state=never', ['0356307042441013', '356307042441014', 'ABC', 'van/15']],
  ['?state=never&mapping=no_route', ['ABC']],
  ['?state=online&mapping=no_route', []],
  ['?q=vAn', ['0356307042441013', '10', '356307042441014', 'van/15']],
  ['?q=%C3%A4PF', ['9']],
  ['?q=7042', ['0356307042441013', '356307042441014']],
  ['?q=abc', ['ABC']],
  ['?q=', ['0356307042441013', '10', '356307042441014', '9', '77', 'ABC', 'van/15']],
  ['?q=.*', []],
  ['?q=van&state=never&mapping=mapped', ['0356307042441013', '356307042441014', 'van/15']],
])('the query %s finds %j in the list of devices', async (query, expected) => {
  await hold(admin.redis, 'unknown', '77')
  await speak('tcp', '9')
  await speak('udp', '10')
  expect(await ids(query)).toEqual(expected)
})

it.each([
  ['?state=on', 'state: expected online, offline or never'],
  ['?state=', 'state: expected online, offline or never'],
  ['?mapping=none', 'mapping: expected mapped, unmapped or no_route'],
  ['?mapping=mapped&mapping=unmapped', 'mapping: expected mapped, unmapped or no_route'],
  ['?q=a&q=b', 'q: expected one text'],
  ['?max_results=0', 'max_results: expected a whole number from 1 to 1000'],
  ['?max_results=1&max_results=2', 'max_results: expected a whole number from 1 to 1000'],
  ['?page_token=a&page_token=b', 'page_token: expected one next_page_token'],
])('the list of devices answers 422 to the query %s and says what is expected', async (query, message) => {
  const { status, json } = await admin.ask(`/admin/devices${query}`)
  expect([status, json]).toMatchObject([422, { message }])
})

it('the list of devices continues after the last device of a page, whatever was added meanwhile', async () => {
  const first = await list('?max_results=2')
  await hold(admin.redis, 'unknown', '77')
  const second = await list(`?max_results=3&page_token=${first.next_page_token}`)
  const last = await list(`?page_token=${second.next_page_token}`)
  const pages = [first, second, last].map(({ results }) => results.map(({ id }) => id))
  expect(pages).toEqual([
    ['0356307042441013', '10'],
    ['356307042441014', '9', '77'],
    ['ABC', 'van/15'],
  ])
  expect(last).not.toHaveProperty('next_page_token')
})

it('the list of devices answers 400 to a page token of another list', async () => {
  const { status } = await admin.ask(
    `/admin/devices?page_token=${Buffer.from('["parked",0,"x"]').toString('base64url')}`,
  )
  expect(status).toBe(400)
})
