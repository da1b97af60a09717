import { afterEach, expect, it, onTestFinished } from 'vitest'
import { Conversation } from '../../src/gateway/conversation.ts'
import type { DeviceRowJson } from '../../src/admin/schemas/devices.ts'
import { observations } from '../../src/observe/observations.ts'
import { keys } from '../../src/store/index.ts'
import { adminFixture, store, TOKEN, withProcesses, workerOf } from '../support/admin.ts'
import { type Followed, followEvents } from '../support/events.ts'
import { beatingHeardBook } from '../support/beat.ts'

const admin = adminFixture()
withProcesses(admin)
const soon = { timeout: 30_000, interval: 20 }
const open: Followed[] = []

afterEach(() => {
  for (const stream of open.splice(0)) stream.close()
})

async function follow(query = '', headers: Record<string, string> = {}): Promise<Followed> {
  const stream = await followEvents(`${admin.url}/admin/events${query}`, {
    authorization: `Bearer ${TOKEN}`,
    ...headers,
  })
  open.push(stream)
  return stream
}

/** Makes a change, which the audit log keeps. */
const change = () => admin.ask('/admin/parked?all=true', { method: 'DELETE' })
const statusIdsOf = (stream: Followed) => stream.events('status').map(({ id }) => id)
const auditsOf = (stream: Followed) => stream.events('audit').length

const rowsIn = (stream: Followed) =>
  stream.events('device').flatMap(({ data }) => (data as { results: DeviceRowJson[] }).results)
const namesIn = (stream: Followed) => rowsIn(stream).map(({ name }) => name)
const byText = (one: string, other: string) => one.localeCompare(other)
const changes = (stream: Followed) =>
  stream.events('finding').map(({ data }) => data as { code: string; change: string; ended_at?: string })

it('GET /admin/events sends the status each second, with increasing ids', async () => {
  const stream = await follow()
  expect(stream.status).toBe(200)
  await expect.poll(() => stream.events('status').length, soon).toBeGreaterThan(2)
  // A slow call to Redis is a finding for ten seconds.
  const well = expect.objectContaining({ verdict: expect.any(String), links: expect.any(Array), findings: [] })
  await expect.poll(() => stream.events('status').map(({ data }) => data), soon).toContainEqual(well)
  const numbers = stream.events('status').map(({ id = '' }) => Number(id.split('-')[1]))
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
})

it('GET /admin/events sends only the requested topics', async () => {
  const [audit, status] = await Promise.all([follow('?topics=audit,roster'), follow('?topics=status')])
  await change()
  await expect.poll(() => auditsOf(audit), soon).toBe(1)
  await expect.poll(() => status.events().length, soon).toBeGreaterThan(1)
  expect(audit.events()).toMatchObject([{ event: 'audit', data: { method: 'DELETE', operation: '/admin/parked' } }])
  expect(new Set(status.events().map(({ event }) => event))).toEqual(new Set(['status']))
})

it('GET /admin/events sends the row of a silent van when its lane is parked and when it is no longer parked', async () => {
  const stream = await follow('?topics=device')
  await store(admin.redis, '7/43/2001', { device: '356307042441014' })
  const { leases, lease } = workerOf(admin.redis)
  await leases.park(await lease('7/43/2001'), { status: 404, message: 'no such route' })
  const problems = () =>
    rowsIn(stream).flatMap(({ name, problem }) => (name === 'Van 14' ? [problem?.message ?? ''] : []))
  const refused = 'the tracking service refuses courier 43 on route 2001'
  await expect.poll(() => problems().at(-1), soon).toBe(refused)
  expect(rowsIn(stream).find(({ name, problem }) => name === 'Van 12' && problem?.code === 'lane_refused')).toBe(
    undefined,
  )
  await admin.ask('/admin/parked?all=true', { method: 'DELETE' })
  await expect.poll(() => problems().at(-1), soon).not.toBe(refused)
})

it('GET /admin/events refuses an unknown topic, and a request without a token', async () => {
  const { status, json } = await admin.ask('/admin/events?topics=status,weather')
  expect([status, json]).toMatchObject([422, { message: expect.stringContaining('expected some of status,') }])
  expect((await admin.ask('/admin/events', { headers: {} })).status).toBe(401)
})

it('GET /admin/events answers HEAD without a stream', async () => {
  const { status, headers } = await admin.ask('/admin/events', { method: 'HEAD' })
  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
})

it('GET /admin/events sends the begin and the end of a finding, also for one requested device', async () => {
  const [all, own, other] = await Promise.all(
    ['', '&device=07', '&device=8'].map((more) => follow(`?topics=finding${more}`)),
  )
  observations.note('clock_ahead', { subject: { device: '7' }, evidence: '2 h' })
  const ofClock = (stream: Followed) => changes(stream).filter(({ code }) => code === 'clock_ahead')
  await expect.poll(() => ofClock(own).length, soon).toBe(1)
  // Ends the observation.
  observations.current(Infinity)
  await expect.poll(() => ofClock(own).length, soon).toBe(2)
  expect(ofClock(own)).toMatchObject([{ change: 'begins' }, { change: 'ends', ended_at: expect.any(String) }])
  await expect.poll(() => ofClock(all).length, soon).toBe(2)
  expect(changes(other)).toEqual([])
})

it('GET /admin/events sends who arrives, and who is heard again', async () => {
  const stream = await follow('?topics=arrival')
  const arrival = { at: Date.now(), address: '10.0.0.1:5', transport: 'tcp', port: 5000, evidence: [] }
  await admin.redis.lpush(keys.arrivals, JSON.stringify({ ...arrival, bytes: '2424' }))
  await admin.redis.hset(keys.arrivedDevices, '77', JSON.stringify({ ...arrival, device: '77' }))
  const devices = () => stream.events('arrival').map(({ data }) => (data as { device?: string }).device ?? '')
  await expect.poll(() => devices().toSorted(byText), soon).toEqual(['', '77'])
  expect(JSON.stringify(stream.events('arrival'))).not.toContain('2424')
  await admin.redis.hset(keys.arrivedDevices, '77', JSON.stringify({ ...arrival, at: arrival.at + 1, device: '77' }))
  await expect.poll(() => devices().toSorted(byText), soon).toEqual(['', '77', '77'])
})

it('GET /admin/events sends the rows of changed devices at most once a second, also for one requested device', async () => {
  const [all, own] = await Promise.all([follow('?topics=device'), follow('?topics=device&device=356307042441013')])
  const heard = beatingHeardBook(admin.redis)
  onTestFinished(() => heard.close())
  const hear = (device: string) =>
    heard.of(device).spoke(Object.assign(new Conversation('tcp', '10.1.2.3:4'), { device }), 'teltonika')
  hear('0356307042441013')
  hear('356307042441014')
  await expect.poll(() => namesIn(all), soon).toEqual(expect.arrayContaining(['Van 12', 'Van 14']))
  await expect.poll(() => namesIn(own), soon).toContain('Van 12')
  expect(namesIn(own)).not.toContain('Van 14')
  expect(rowsIn(own)[0]).toMatchObject({
    configured: true,
    condition: expect.any(String),
    findings: expect.any(Array),
  })
})

it('GET /admin/events sends the result of a put', async () => {
  const stream = await follow('?topics=roster')
  const lines = 'device,courier_id,route_id,from,until\nVan 12,42,9,2026-11-20 06:00,2026-11-20 20:00\n'
  const query = 'company_id=7&from=2026-11-20&until=2026-11-21'
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/csv' }
  const { status } = await admin.ask(`/admin/routes?${query}`, { method: 'PUT', headers, body: lines })
  expect(status).toBe(200)
  const results = () => stream.events('roster').map(({ data }) => data)
  await expect.poll(() => results().length, soon).toBeGreaterThan(0)
  expect(results()).toMatchObject([{ kind: 'put', company_id: '7', added: 1, removed: 0 }])
})

it('GET /admin/events sends a resuming reader the missed events once, by the header or the query', async () => {
  const first = await follow('?topics=audit')
  await change()
  await expect.poll(() => auditsOf(first), soon).toBe(1)
  first.close()
  await change()
  await change()
  const lastId = first.lastId() ?? ''
  const again = await Promise.all([
    follow('?topics=audit', { 'last-event-id': lastId }),
    follow(`?topics=audit&last_event_id=${lastId}`),
  ])
  for (const stream of again) {
    await expect.poll(() => auditsOf(stream), soon).toBe(2)
    expect(stream.events('reset')).toEqual([])
  }
  await change()
  for (const stream of again) await expect.poll(() => auditsOf(stream), soon).toBe(3)
  const ids = [first, again[0]].flatMap((stream) => stream.events('audit').map(({ id }) => id))
  expect(new Set(ids).size).toBe(4)
})

it('GET /admin/events can be resumed before any event was sent', async () => {
  const first = await follow('?topics=audit')
  await expect.poll(() => first.lastId(), soon).toBeDefined()
  first.close()
  await change()
  const again = await follow('?topics=audit', { 'last-event-id': first.lastId() ?? '' })
  await expect.poll(() => auditsOf(again), soon).toBe(1)
})

it('GET /admin/events resets a reader whose missed events are not known', async () => {
  for (const id of ['0123456789ab-7', 'x', '-', `${(await follow()).lastId()?.split('-')[0]}-999999`]) {
    const stream = await follow('?topics=audit', { 'last-event-id': id })
    await expect.poll(() => stream.events('reset').length, soon).toBe(1)
  }
})

it('GET /admin/events refuses the 201st stream until another one closes, and sends all the same', async () => {
  const streams = await Promise.all(Array.from({ length: 200 }, () => follow('?topics=status')))
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))
  const refused = await admin.ask('/admin/events')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10'])
  for (const stream of streams) await expect.poll(() => stream.events('status').length, soon).toBeGreaterThan(0)
  const common = () => streams.map(statusIdsOf).reduce((some, ids) => some.filter((id) => ids.includes(id)))
  await expect.poll(() => common().length, soon).toBeGreaterThan(0)
  streams[0].close()
  await expect.poll(async () => (await follow()).status, soon).toBe(200)
})
