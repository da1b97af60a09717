import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { offersOf, readOffers, redeliverAgreed, refreshOffers, takeOffers } from '../../src/roster/offers.ts'
import { Roster } from '../../src/roster/roster.ts'
import { readRosterVersion, writeRoster } from '../../src/roster/table.ts'
import { chunksOf, Leases, openCorrections, packDevice, packRecords, trimKept } from '../../src/store/index.ts'
import { Appender } from '../../src/store/index.ts'
import { Shard } from '../../src/store/shards.ts'
import { type Answer, adminFixture, READ_TOKEN, TOKEN } from '../support/admin.ts'
import { UNFILTERED } from '../support/appending.ts'

const admin = adminFixture()
const VAN_12 = '0356307042441013'
/** Unix seconds: the start of the hour three hours ago. */
const T = Math.floor(Date.now() / 3_600_000 - 3) * 3600
const at = (seconds: number) => new Date(seconds * 1000).toISOString()

interface Redeliver {
  readonly fixes: number
  readonly from?: object
  readonly to?: object
  readonly moves: readonly Record<string, unknown>[]
  readonly message: string
  readonly kept_since_at: string
}

beforeEach(async () => {
  await vi.waitFor(async () => expect((await admin.ask('/admin/routes')).json).toHaveProperty('results.0'), 30_000)
  const keep = { delivered: 48 * 3_600_000, max_memory: 0.1 }
  await admin.redis.hset(admin.redis.keyNames.keptHours, 'since', Date.now() - 24 * 3_600_000)
  await trimKept(admin.redis, keep)
})

/** Delivers fixes of Van 12 to a lane. */
function deliver(lane: string, ...timestamps: number[]): Promise<void> {
  return deliverOf(VAN_12, lane, timestamps)
}

async function deliverOf(device: string, lane: string, timestamps: readonly number[]): Promise<void> {
  const positions = timestamps.map((timestamp) => ({ timestamp, latitude: 52.5, longitude: 13.4, accuracy: 5 }))
  const records = packRecords(positions, packDevice(device), Date.now())
  const appender = new Appender(admin.redis, UNFILTERED)
  await appender.append({ parts: [{ lane, device, records }], received: positions.length, filtered: [] })
  await appender.close()
  const leases = new Leases(admin.redis, { maxPositions: 500, maxWaitMs: 0, keepMs: 48 * 3_600_000 })
  await vi.waitFor(async () => {
    const lease = (await leases.claim(10)).find((each) => each.lane === lane)
    if (!lease || !(await leases.take(lease))) throw new Error('not due yet')
    const done = { count: positions.length, status: 200, wanted: 0, atOnce: true, chunks: chunksOf(records) }
    await leases.done(lease, done)
  })
}

function send(method: string, path: string, body?: unknown, token = TOKEN): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': typeof body === 'string' ? 'text/csv' : 'application/json' }),
  }
  return admin.ask(path, { method, headers, body: typeof body === 'string' ? body : JSON.stringify(body) })
}

const assign = (body: unknown, query = '') => send('POST', `/admin/devices/Van%2012/assign?${query}`, body)
const redeliverIn = ({ json }: Answer) => (json as { redeliver?: Redeliver }).redeliver
const corrections = async () => [...(await openCorrections(admin.redis)).values()]
const FROM = { route_id: 3001, from_at: at(T), until_at: at(T + 7200) }

it('the dry run of a roster change in the past says what was delivered elsewhere, and changes nothing', async () => {
  await deliver('7/42/1001', T - 1, T, T + 60, T + 7199, T + 7200)
  const answer = await assign(FROM, 'dry_run=true')
  expect(redeliverIn(answer)).toMatchObject({
    fixes: 3,
    from: { route_id: '1001', courier_id: '42' },
    to: { route_id: '3001', courier_id: '42' },
    from_at: at(T),
    until_at: at(T + 7200),
    moves: [{ device: VAN_12, name: 'Van 12', fixes: 3, first_at: at(T), last_at: at(T + 7199) }],
    message: 'the API has no deletion: these positions stay with the route that has them as well',
  })
  expect(Date.parse(redeliverIn(answer)?.kept_since_at ?? '')).toBeLessThan(T * 1000)
  // The warning that positions are not moved would contradict the offer.
  expect((answer.json as { warnings: string[] }).warnings.join()).not.toContain('in the past')
  expect(await corrections()).toEqual([])
})

it('a roster change in the past delivers again only on request, and notes it in the audit log', async () => {
  await deliver('7/42/1001', T, T + 60)
  await assign(FROM)
  expect(await corrections()).toEqual([])
  await assign({ ...FROM, route_id: 3002 }, 'redeliver=true')
  expect(await corrections()).toMatchObject([{ device: VAN_12, from: T * 1000, until: (T + 7200) * 1000 }])
  const audit = (await admin.ask('/admin/audit')).json as { results: { summary?: Record<string, unknown> }[] }
  expect(audit.results[0].summary).toMatchObject({
    redelivered: 2,
    moves: `${VAN_12}: 2 from 7/42/1001 to 7/42/3002`,
  })
})

it('a roster change that continues delivers again up to the time when every gateway has it', async () => {
  await deliver('7/42/1001', T)
  const before = Date.now()
  const soon = Math.floor(before / 1000) + 3600
  await assign({ ...FROM, until_at: at(soon) }, 'redeliver=true')
  const [{ until }] = await corrections()
  expect(until - before).toBeGreaterThan(3000)
  expect(until).toBeLessThan(soon * 1000)
})

it('a roster change delivers nothing again after its own end', async () => {
  await deliver('7/42/1001', T)
  const soon = Math.floor(Date.now() / 1000) + 4
  await assign({ ...FROM, until_at: at(soon) }, 'redeliver=true')
  expect(await corrections()).toMatchObject([{ until: soon * 1000 }])
})

it('a roster change of only the future offers no redelivery', async () => {
  await deliver('7/42/1001', T)
  const answer = await assign({ route_id: 3001, from_at: at(Date.now() / 1000 + 3600) }, 'dry_run=true')
  expect(answer.status).toBe(200)
  expect(redeliverIn(answer)).toBeUndefined()
})

it('put lines and an undone put offer a redelivery like an assignment', async () => {
  await deliver('7/42/1001', T, T + 60)
  const lines = `device,courier_id,route_id,from,until\nVan 12,42,3001,${at(T)},${at(T + 7200)}\n`
  const query = `company_id=7&from=${at(T)}&until=${at(T + 7200)}`
  const trial = await send('PUT', `/admin/routes?${query}&dry_run=true`, lines)
  expect(redeliverIn(trial)).toMatchObject({ fixes: 2, to: { route_id: '3001' } })
  const put = await send('PUT', `/admin/routes?${query}&redeliver=true`, lines)
  expect(await corrections()).toHaveLength(1)
  await deliver('7/42/3001', T, T + 60)
  const undo = `/admin/roster/undo?put=${(put.json as { put: string }).put}`
  const back = await send('POST', `${undo}&dry_run=true`)
  // The old route has these positions already.
  expect(redeliverIn(back)).toMatchObject({
    fixes: 0,
    message: 'no kept position of these times has to be delivered once more',
  })
  expect((await send('POST', `${undo}&redeliver=true`)).status).toBe(200)
})

it('a roster change offers no redelivery if no delivered fixes are kept', async () => {
  await deliver('7/42/1001', T)
  await admin.redis.hdel(admin.redis.keyNames.keptHours, 'since')
  expect(redeliverIn(await assign(FROM, 'dry_run=true'))).toBeUndefined()
})

const line = (route: number) => `device,courier_id,route_id,from,until\nVan 12,42,${route},${at(T)},${at(T + 7200)}\n`
const write = (text: string) => writeFile(join(admin.dir, 'routes.csv'), text)
const offered = async () => {
  const { json } = await admin.ask('/admin/findings')
  const all = (json as { results: Record<string, unknown>[] }).results
  return all.filter(({ code, ended_at }) => code === 'redelivery_offered' && ended_at === undefined)
}
const inEffect = () => ({
  roster: admin.live.directory(),
  version: admin.live.version(),
  keepMs: 48 * 3_600_000,
})
/** Redis carries out the next write to the roster, but the connection is lost before its answer. */
function loseAnswerOfWrite(): void {
  const { run } = Shard.prototype
  const broken = vi.spyOn(Shard.prototype, 'run').mockImplementation(async function (this: Shard, ...call) {
    const answer = await run.apply(this, call)
    if (call[0] !== 'roster') return answer
    broken.mockRestore()
    throw new Error('Connection is closed.')
  })
}
const decide = (method: string) => send(method, '/admin/roster/redeliver?company_id=7')
const SOON = { timeout: 30_000, interval: 100 }

it('a file that changes routes of the past offers a redelivery, which starts when it is accepted', async () => {
  await deliver('7/42/1001', T, T + 60)
  await write(line(3001))
  await expect.poll(offered, SOON).toMatchObject([
    {
      count: 2,
      subject: { company_id: '7' },
      message: 'positions of Van 12 went to another route than the roster says now',
      evidence: ['2 positions, by lines that routes.csv has replaced'],
    },
  ])
  expect(await corrections()).toEqual([])
  expect((await decide('POST')).json).toEqual({ fixes: 2 })
  expect(await corrections()).toMatchObject([{ device: VAN_12, from: T * 1000 }])
  await expect.poll(offered, SOON).toEqual([])
  expect((await decide('POST')).json).toEqual({ fixes: 0 })
})

it('a file that changes routes of the past offers a redelivery even if the answer of Redis to the change is lost', async () => {
  await deliver('7/42/1001', T, T + 60)
  loseAnswerOfWrite()
  await write(line(3401))
  await expect.poll(offered, SOON).toMatchObject([{ count: 2 }])
  await decide('DELETE')
  await expect.poll(offered, SOON).toEqual([])
})

it('a roster change with redeliver=true delivers again even if the answer of Redis to the change is lost', async () => {
  await deliver('7/42/1001', T, T + 60)
  loseAnswerOfWrite()
  expect((await assign({ ...FROM, route_id: 3601 }, 'redeliver=true')).status).toBe(503)
  await expect.poll(corrections, SOON).toMatchObject([{ device: VAN_12, from: T * 1000 }])
  expect(await readOffers(admin.redis)).toEqual([])
})

it('the offer of a redelivery stays if a process that has not read the file yet counts its positions again', async () => {
  await deliver('7/42/1001', T, T + 60)
  const before = { ...inEffect(), roster: new Roster(admin.live.directory()) }
  await write(line(3501))
  await expect.poll(offered, SOON).toHaveLength(1)
  expect(await refreshOffers(admin.redis, before)).toMatchObject([{ fixes: 2 }])
  expect(await readOffers(admin.redis)).toHaveLength(1)
  await decide('DELETE')
  await expect.poll(offered, SOON).toEqual([])
})

it('the offer of a redelivery stays if the van is not configured for a while', async () => {
  await deliver('7/42/1001', T, T + 60)
  await write(line(3601))
  await expect.poll(offered, SOON).toHaveLength(1)
  expect(await refreshOffers(admin.redis, { ...inEffect(), roster: new Roster() })).toMatchObject([{ fixes: 0 }])
  expect(await refreshOffers(admin.redis, inEffect())).toMatchObject([{ fixes: 2 }])
  await decide('DELETE')
  await expect.poll(offered, SOON).toEqual([])
})

it('the offer of a redelivery stays if Redis had no memory when it was accepted', async () => {
  await deliver('7/42/1001', T, T + 60)
  await write(line(3201))
  await expect.poll(offered, SOON).toHaveLength(1)
  await admin.redis.config('SET', 'maxmemory', '1')
  const { status } = await decide('POST')
  await admin.redis.config('SET', 'maxmemory', '0')
  expect(status).toBe(503)
  expect(await readOffers(admin.redis)).toHaveLength(1)
  expect((await decide('POST')).json).toEqual({ fixes: 2 })
  expect(await corrections()).toHaveLength(1)
})

it('the offer of a redelivery ends when it is declined, or when the file is corrected', async () => {
  await deliver('7/42/1001', T, T + 60)
  await write(line(3101))
  await expect.poll(offered, SOON).toHaveLength(1)
  await write(line(1001))
  await expect.poll(offered, SOON).toEqual([])
  await write(line(3002))
  await expect.poll(offered, SOON).toHaveLength(1)
  expect((await decide('DELETE')).status).toBe(200)
  await expect.poll(offered, SOON).toEqual([])
  expect(await corrections()).toEqual([])
})

/** How many positions each stored offer concerns, the fewest first. */
async function countsOfOffers(): Promise<number[]> {
  const offers = await readOffers(admin.redis)
  return offers.map(({ fixes }) => fixes).toSorted((one, other) => one - other)
}

it('a position is offered once if its route is changed twice', async () => {
  await deliver('7/42/1001', T, T + 60)
  await write(line(3001))
  await expect.poll(offered, SOON).toMatchObject([{ count: 2 }])
  await write(line(3002))
  await expect.poll(countsOfOffers, SOON).toEqual([0, 2])
  await expect.poll(offered, SOON).toMatchObject([{ count: 2 }])
  expect((await decide('POST')).json).toEqual({ fixes: 2 })
  expect(await corrections()).toHaveLength(2)
  await expect.poll(offered, SOON).toEqual([])
})

it('the offer of a redelivery stays declined if its positions are counted again meanwhile', async () => {
  await deliver('7/42/1001', T, T + 60)
  await write(line(3001))
  await expect.poll(offered, SOON).toHaveLength(1)
  await deliver('7/42/1001', T + 120)
  const counting = refreshOffers(admin.redis, inEffect())
  expect(await takeOffers(admin.redis, '7', false)).toHaveLength(1)
  expect(await counting).toMatchObject([{ fixes: 3 }])
  expect(await readOffers(admin.redis)).toEqual([])
  await expect.poll(offered, SOON).toEqual([])
})

it('a changed roster.redeliver is not in effect before a restart', async () => {
  const file = join(admin.dir, 'gateway.yaml')
  const text = await readFile(file, 'utf8')
  onTestFinished(() => writeFile(file, text))
  await writeFile(file, `${text}roster: { redeliver: always }\n`)
  const waits = async () => (await admin.ask('/admin/findings')).text
  await expect.poll(waits, SOON).toContain('"evidence":["roster.redeliver"]')
  await deliver('7/42/1001', T, T + 60)
  await write(line(3301))
  await expect.poll(offered, SOON).toHaveLength(1)
  expect(await corrections()).toEqual([])
  await decide('DELETE')
  await expect.poll(offered, SOON).toEqual([])
})

it('a file offers no redelivery of positions that went to the new route anyway', async () => {
  await deliver('7/42/3001', T)
  await write(line(3001))
  await vi.waitFor(async () => {
    const { json } = await admin.ask(`/admin/routes?at=${at(T)}`)
    expect((json as { results: object[] }).results).toMatchObject([{ route_id: '3001' }])
  }, 30_000)
  expect(await offered()).toEqual([])
})

describe('roster.redeliver', () => {
  const waiting = {
    moves: [],
    interval: { from: T, until: T + 60 },
    keptSince: T * 1000,
    corrections: [{ device: VAN_12, from: T * 1000, until: (T + 60) * 1000, lanes: ['7/42/1001'] }],
  }

  it.each([
    ['always', 1],
    ['ask', 0],
    ['never', 0],
  ] as const)(
    'with roster.redeliver: %s, fixes that still wait for their old route get %i corrections',
    async (decision, count) => {
      const asOf = await readRosterVersion(admin.redis)
      const offers = offersOf(waiting, { asOf, writer: 'routes.csv', decision })
      await writeRoster(admin.redis, { files: [['test', 'test']], offers }, asOf)
      await redeliverAgreed(admin.redis)
      // The process of the fixture may have done it as well.
      const noted = new Set((await corrections()).map(({ device, from, until }) => `${device} ${from} ${until}`))
      expect(noted.size).toBe(count)
      expect(await readOffers(admin.redis)).toEqual([])
    },
  )
})

const times = { from_at: at(T), until_at: at(T + 3600) }
const redeliver = (query = '', body: unknown = times, token = TOKEN) =>
  send('POST', `/admin/devices/Van%2012/redeliver?${query}`, body, token)

it('POST /admin/devices/{id}/redeliver delivers again what the present roster assigns elsewhere', async () => {
  await deliver('7/42/9999', T, T + 60, T + 3600)
  await assign(FROM)
  expect(redeliverIn(await redeliver('dry_run=true'))).toMatchObject({ fixes: 2, to: { route_id: '3001' } })
  expect(await corrections()).toEqual([])
  expect(redeliverIn(await redeliver())).toMatchObject({ fixes: 2 })
  expect(await corrections()).toHaveLength(1)
})

it('POST /admin/devices/{id}/redeliver accepts `now` as a time', async () => {
  await deliver('7/42/9999', T, T + 60)
  await assign(FROM)
  expect(redeliverIn(await redeliver('dry_run=true', { ...times, until_at: 'now' }))).toMatchObject({ fixes: 2 })
})

it('POST /admin/devices/{id}/redeliver refuses a bad time, a misspelt dry run, an unknown device, a read token, and if nothing is kept', async () => {
  expect((await redeliver('', { ...times, until_at: times.from_at })).status).toBe(422)
  expect((await redeliver('', { from_at: 'soon', until_at: times.until_at })).status).toBe(422)
  const message = 'dry-run: unknown: expected dry_run alone'
  expect(await redeliver('dry-run=true')).toMatchObject({ status: 422, json: { message } })
  expect((await send('POST', '/admin/devices/Van%2099/redeliver', times)).status).toBe(404)
  expect((await redeliver('', times, READ_TOKEN)).status).toBe(403)
  await admin.redis.hdel(admin.redis.keyNames.keptHours, 'since')
  expect((await redeliver()).status).toBe(409)
  expect(await corrections()).toEqual([])
})
