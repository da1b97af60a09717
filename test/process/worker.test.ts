import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Device } from '../../src/config/devices.ts'
import { followConfig, type Live, placeIn } from '../../src/process/roles/live.ts'
import { startWorker } from '../../src/process/roles/worker.ts'
import { type Assignment, assignmentField } from '../../src/roster/assignment.ts'
import { readRosterVersion, writeRoster } from '../../src/roster/table.ts'
import { Appender, custodyCounters, keys, packDevice, packRecords, type Store, release } from '../../src/store/index.ts'
import { ok, type Respond, startApi, status } from '../rig/api.ts'
import { UNFILTERED } from '../support/appending.ts'
import { folder } from '../support/config-folder.ts'
import { putDevice } from '../support/put-device.ts'
import type { TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const NOW = Math.floor(Date.now() / 1000)
const soon = { timeout: 30_000, interval: 20 }
const refused = status(404)

let server: TestRedis
let redis: Store
let api: Awaited<ReturnType<typeof startApi>>
let site: Site
let live: Live
let close: () => Promise<void>

withRedis((...given) => ([server, redis] = given))

interface Site {
  readonly dir: string
  write(settings?: { key7?: string; more7?: string; admin?: string }): Promise<void>
}

async function siteOf(): Promise<Site> {
  const dir = await folder({})
  const dataDir = await folder({})
  return {
    dir,
    write: ({ key7 = 'key-7', more7 = '', admin = '' } = {}) =>
      writeFile(
        join(dir, 'gateway.yaml'),
        `data_dir: ${dataDir}
companies: [{ company_id: 7, apikey: ${key7}${more7} }, { company_id: 8, apikey: key-8 }]
push: { first_delay: 20ms, max_delay: 100ms }
log: { level: fatal }
${admin}`,
      ),
  }
}

const van = (id: string, company_id: string, courier_id: string): Device => {
  return { id, company_id, courier_id, route_id: '1', source: '' }
}
const VAN_8 = van('8000', '8', '8000')

/** Stores a fix of each device in its usual lane. */
async function store(devices: readonly Device[]): Promise<void> {
  const appender = new Appender(redis, UNFILTERED)
  const position = { timestamp: NOW, latitude: 52.5, longitude: 13.4, accuracy: 5 }
  const parts = devices.map(({ id, company_id, courier_id, route_id }) => {
    const records = packRecords([position], packDevice(id), Date.now())
    return { lane: `${company_id}/${courier_id}/${route_id}`, device: id, records }
  })
  await appender.append({ parts, received: parts.length, filtered: [] })
  await appender.close()
}

/** Puts VAN_8 on a route for these hours. */
async function assign(route_id: string): Promise<void> {
  const line: Assignment = {
    device: VAN_8.id,
    courier_id: VAN_8.courier_id ?? '',
    route_id,
    from: NOW - 3600,
    until: NOW + 3600,
    source: '',
  }
  await writeRoster(redis, { assignments: [[assignmentField(line), line]] }, await readRosterVersion(redis))
}

/** Waits until this number of lanes is parked, and delays the next try of each by minutes. */
async function parkedForLong(count: number): Promise<void> {
  await expect.poll(() => redis.hlen(keys.parked), soon).toBe(count)
  const changes = redis.multi()
  for (const [lane, json] of Object.entries(await redis.hgetall(keys.parked)))
    changes
      .hset(keys.parked, lane, JSON.stringify({ ...JSON.parse(json), tries: 9 }))
      .zadd(keys.schedule, Date.now() + 300_000, lane)
  await changes.exec()
}

const delivered = async () => (await custodyCounters(redis)).get('delivered') ?? 0
const of7 = () => api.seen.filter(({ apikey }) => apikey !== 'key-8')
const of8 = () => api.seen.filter(({ apikey }) => apikey === 'key-8').map(({ lane }) => lane)
const lanesOf8: Respond = (push, response) => (push.apikey === 'key-8' ? ok : refused)(push, response)

/** Starts a worker; resolves when it has tried the parked lanes. */
beforeEach(async () => {
  api = await startApi()
  site = await siteOf()
  await site.write()
  await putDevice(redis, '7000', van('7000', '7', '7000'))
  await store([van('7000', '7', '7000')])
  await redis.hset(keys.parked, '7/7000/1', JSON.stringify({ status: 401, message: '', tries: 1, at: 0, since: 0 }))
  await parkedForLong(1)
  live = await followConfig({ dir: site.dir, protocols: null, role: 'worker', followsFiles: false })
  const worker = await startWorker(live, { redisServer: server.url, baseUrl: api.url, ports: {} })
  close = () => worker.close()
  await expect.poll(delivered, soon).toBe(1)
  await redis.del(keys.custody)
  api.respond(refused)
})
afterEach(async () => {
  await close()
  await api.close()
})

/** Parks this number of lanes of company 7, and one of company 8. */
async function parkLanes(ofCompany7: number): Promise<void> {
  const vans = Array.from({ length: ofCompany7 }, (_, n) => van(`7${n + 1}`, '7', `${n + 1}`))
  const devices = [...vans, VAN_8]
  const roster = devices.map((device) => [device.id, device] as const)
  const version = await writeRoster(redis, { devices: roster }, await readRosterVersion(redis))
  await expect.poll(() => live.complete && live.version(), soon).toBe(version)
  await store(devices)
  await parkedForLong(devices.length)
  api.seen.length = 0
}

it('ten assignments of a van try its parked lane each time, and no lane of another company', async () => {
  await parkLanes(300)
  for (let route = 2; route <= 11; route++) {
    await assign(`${route}`)
    await expect.poll(of8, soon).toContain(`8000/${route}`)
    await parkedForLong(301)
  }
  api.respond(ok)
  await assign('12')
  await expect.poll(delivered, soon).toBe(1)
  expect([of8().at(-1), of7()]).toEqual(['8000/12', []])
})

it('a parked fix stays with the company that had the device when the fix arrived', async () => {
  await parkLanes(0)
  await putDevice(redis, VAN_8.id, { ...VAN_8, company_id: '7', route_id: '2' })
  await expect.poll(() => live.directory().find(VAN_8.id)?.company_id, soon).toBe('7')
  api.respond(ok)
  await release(redis, ['8/8000/1'], placeIn(live))
  await expect.poll(delivered, soon).toBe(1)
  expect(api.seen.map(({ apikey, lane }) => `${apikey} ${lane}`)).toEqual(['key-8 8000/1'])
})

it('a new apikey of a company tries the parked lanes of that company, and no other one', async () => {
  await parkLanes(20)
  api.respond((push, response) => (push.apikey === 'new' ? ok : refused)(push, response))
  await site.write({ key7: 'new' })
  await expect.poll(delivered, soon).toBe(20)
  expect([of7().length, of8()]).toEqual([20, []])
})

it('a change of other settings tries no parked lane', async () => {
  await parkLanes(20)
  await putDevice(redis, VAN_8.id, { ...VAN_8, name: 'Van 8', time_zone: '+03:00' })
  await putDevice(redis, '71', { ...van('71', '7', '1'), secret: 'canary-secret-of-van-71' })
  let tokens = 0
  live.follow({ tokens: () => tokens++ })
  const admin = 'admin: { tokens: [another-token-of-the-admin-port] }\n'
  await site.write({ more7: ', name: Seven, oauth_token: t', admin })
  await expect.poll(() => [tokens, live.companies()[0].name], soon).toEqual([1, 'Seven'])
  api.respond(lanesOf8)
  await assign('2')
  await expect.poll(delivered, soon).toBe(1)
  expect(api.seen.map(({ lane }) => lane)).toEqual(['8000/2'])
})

it('a roster that is read again as a whole tries only the lanes whose fixes belong elsewhere', async () => {
  await parkLanes(20)
  const told: unknown[] = []
  live.follow({ roster: (changed) => told.push(changed) })
  api.respond(lanesOf8)
  await redis.xtrim(keys.roster('log'), 'MAXLEN', 0)
  await assign('2')
  await expect.poll(delivered, soon).toBe(1)
  expect([told, api.seen.map(({ lane }) => lane)]).toEqual([[undefined], ['8000/2']])
})

it('a route that changes while a parked lane is tried moves its fixes after the API has refused the lane', async () => {
  await parkLanes(1)
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  api.respond((push, response) => {
    if (push.lane === '8000/1') void answered.then(() => refused(push, response))
    else ok(push, response)
  })
  await release(redis, ['8/8000/1'], () => undefined)
  await expect.poll(of8, soon).toEqual(['8000/1'])
  await assign('2')
  await expect.poll(() => redis.hget(keys.parked, '8/8000/1'), soon).toContain('"again":true')
  answer()
  await expect.poll(delivered, soon).toBe(1)
  expect(api.seen.map(({ lane }) => lane)).toEqual(['8000/1', '8000/2'])
})

/** Gives company 7 its own API. */
async function withApi(url: string, more = ''): Promise<void> {
  await site.write({ more7: `, tracking: { base_url: "${url}"${more} }` })
  await expect.poll(() => live.companies()[0].tracking?.base_url, soon).toBe(url)
}

describe('a company that gets its own API by a reload', () => {
  let own: Awaited<ReturnType<typeof startApi>>
  beforeEach(async () => void (own = await startApi()))
  afterEach(() => own.close())

  it('a reload that gives a company its own API pushes its parked fixes there too, and no other company', async () => {
    await parkLanes(3)
    await withApi(own.url)
    await expect.poll(delivered, soon).toBe(3)
    expect(new Set(own.seen.map(({ lane }) => lane))).toEqual(new Set(['1/1', '2/1', '3/1']))
    expect(of7()).toEqual([])
    api.respond(ok)
    await site.write()
    await expect.poll(() => live.companies()[0].tracking, soon).toBeUndefined()
    await store([van('71', '7', '1')])
    await expect.poll(() => of7().length, soon).toBe(1)
    expect(own.seen).toHaveLength(3)
  })

  it('a reload with unreadable TLS files for the new API of a company pushes to no other API meanwhile', async () => {
    const next = await startApi()
    try {
      await withApi(own.url)
      api.seen.length = 0
      await store([van('71', '7', '1')])
      await expect.poll(() => own.seen.length, soon).toBe(1)
      await withApi(next.url, ', tls: { ca: missing.pem }')
      await store([van('72', '7', '2')])
      const failed = async () => (await redis.keys('*failing*')).length
      await expect.poll(failed, soon).toBeGreaterThan(0)
      expect([own.seen.length, next.seen, of7()]).toEqual([1, [], []])
      await withApi(next.url)
      await expect.poll(() => next.seen.length, soon).toBe(1)
      expect([own.seen.length, of7()]).toEqual([1, []])
    } finally {
      await next.close()
    }
  })
})
