import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { keys } from '../../src/store/index.ts'
import { TOKEN, adminFixture } from '../support/admin.ts'
import { followEvents } from '../support/events.ts'
import { listening } from '../support/listening.ts'

/** A tracking API without positions. */
const api = createServer((_request, response) => response.setHeader('content-type', 'application/json').end('[]'))
const admin = adminFixture({
  baseUrl: `http://127.0.0.1:${await listening(api)}`,
  companies: ', { company_id: 8, apikey: another-apikey }',
  devices: 'other-1: { name: Other Van, company_id: 8 }\n',
  gateway: `admin:
  port: 0
  log_reads: true
  tokens: [${TOKEN}, { token: canary-of-seven, name: seven, companies: [7] }, { token: canary-read, name: reader, role: read }]
`,
})
const [VAN, ALL] = ['356307042441014', 'admin.tokens[0]']
const soon = { timeout: 30_000, interval: 50 }

afterAll(() => void api.close())

const as = (token: string, path: string, method = 'GET') =>
  admin.ask(path, { method, headers: { authorization: `Bearer ${token}` } })

/** Returns the entries of the log without their times, oldest first. */
async function reads(token = TOKEN): Promise<object[]> {
  const { results } = (await as(token, '/admin/reads')).json as { results: { id: string; at: string }[] }
  for (const { id, at } of results) expect(Date.parse(at)).toBe(Number.parseInt(id, 10))
  return results.map(({ id: _id, at: _at, ...entry }) => entry).toReversed()
}

it('the log of reads has one entry for each caller, operation and van, however often it is read', async () => {
  for (let count = 0; count < 3; count++) await as(TOKEN, `/admin/devices/${VAN}`)
  await as('canary-of-seven', `/admin/devices/${VAN}`)
  await as(TOKEN, `/admin/devices/${VAN}/history`)
  await as(TOKEN, '/admin/devices/other-1')
  expect(await reads()).toEqual([
    { token: ALL, operation: 'GET /admin/devices/{id}', device: VAN, companies: ['7'] },
    { token: 'seven', operation: 'GET /admin/devices/{id}', device: VAN, companies: ['7'] },
    { token: ALL, operation: 'GET /admin/devices/{id}/history', device: VAN, companies: ['7'] },
    { token: ALL, operation: 'GET /admin/devices/{id}', device: 'other-1', companies: ['8'] },
  ])
  // Ten minutes later.
  for (const noted of await admin.redis.zrange(keys.readsNoted, '0', '1'))
    await admin.redis.zincrby(keys.readsNoted, -600_000, noted)
  for (const token of [TOKEN, 'canary-of-seven']) await as(token, `/admin/devices/${VAN}`)
  await as(TOKEN, `/admin/devices/${VAN}/history`)
  expect((await reads()).slice(4)).toMatchObject([{ token: ALL }, { token: 'seven' }])
  expect(await admin.redis.zcard(keys.readsNoted)).toBe(4)
})

it('the log of reads remembers at most 50,000 reads', async () => {
  const now = Date.now()
  const many = Array.from({ length: 50_100 }, (_, n) => [String(now + n), `read-${n}`]).flat()
  await admin.redis.zadd(keys.readsNoted, ...many)
  await as(TOKEN, '/admin/days?route_id=5')
  expect(await reads()).toHaveLength(1)
  expect(await admin.redis.zcard(keys.readsNoted)).toBe(50_000)
  expect(await admin.redis.pttl(keys.readsNoted)).toBeGreaterThan(0)
})

it('the log of reads names the companies or the route of a list', async () => {
  await as('canary-read', '/admin/devices')
  await as('canary-of-seven', '/admin/devices?q=Van')
  await as(TOKEN, '/admin/days?company_id=8&route_id=9')
  await admin.ask('/admin/days?company_id=7', { headers: { authorization: `Bearer ${TOKEN}`, accept: 'text/csv' } })
  await as(TOKEN, '/api/v2/companies/7/routes/2001/courier-positions?from=1&to=2')
  const relayed = 'GET /api/v2/companies/{company_id}/routes/{route_id}/courier-positions'
  expect(await reads()).toEqual([
    { token: 'reader', operation: 'GET /admin/devices' },
    { token: 'seven', operation: 'GET /admin/devices', companies: ['7'] },
    { token: ALL, operation: 'GET /admin/days', route_id: '9', companies: ['8'] },
    { token: ALL, operation: 'GET /admin/days', companies: ['7'] },
    { token: ALL, operation: relayed, route_id: '2001', companies: ['7'] },
  ])
})

it('the log of reads has the configured id of a van, with or without leading zeros in the request', async () => {
  for (const zeros of [0, 2, 49]) await as(TOKEN, `/admin/devices/${'0'.repeat(zeros)}${VAN}`)
  await as(TOKEN, '/admin/devices/356307042441013')
  expect(await reads()).toMatchObject([{ device: VAN }, { device: '0356307042441013' }])
  expect(await reads()).toHaveLength(2)
})

it('the log of reads ignores parameters that an operation does not have', async () => {
  await as(TOKEN, `/admin/devices?device=${VAN}&id=${VAN}&route_id=9&company_id=7`)
  await as(TOKEN, `/admin/devices/other-1?device=${VAN}&route_id=9&company_id=7`)
  expect(await reads()).toEqual([
    { token: ALL, operation: 'GET /admin/devices' },
    { token: ALL, operation: 'GET /admin/devices/{id}', device: 'other-1', companies: ['8'] },
  ])
})

it('the log of reads has an entry for an event stream with positions, but none for one without', async () => {
  const headers = { authorization: 'Bearer canary-read' }
  for (const topics of ['status,audit', 'status,device', 'arrival']) {
    const stream = await followEvents(`${admin.url}/admin/events?topics=${topics}&device=${VAN}`, headers)
    onTestFinished(() => stream.close())
  }
  const entry = { token: 'reader', operation: 'GET /admin/events', device: VAN, companies: ['7'] }
  expect(await reads()).toEqual([entry])
})

it('the log of reads has no entry for a refusal, a HEAD, or an answer without positions', async () => {
  expect((await as(TOKEN, '/admin/devices/unknown')).status).toBe(404)
  expect((await as('canary-of-seven', '/admin/devices/other-1')).status).toBe(404)
  expect((await as('wrong', '/admin/devices')).status).toBe(401)
  expect((await as(TOKEN, '/admin/devices', 'HEAD')).status).toBe(200)
  await as(TOKEN, '/admin/status')
  await as(TOKEN, '/admin/audit')
  expect(await reads()).toEqual([])
})

it('the log of reads shows a company token only reads of its companies, and is not part of the audit log', async () => {
  await as(TOKEN, `/admin/devices/${VAN}`)
  await as(TOKEN, '/admin/devices/other-1')
  await as(TOKEN, '/admin/devices')
  expect(await reads('canary-of-seven')).toMatchObject([{ device: VAN }])
  expect(await reads()).toHaveLength(3)
  expect((await as(TOKEN, '/admin/audit')).json).toEqual({ results: [] })
})

it('the log of reads has pages', async () => {
  for (const device of [VAN, 'other-1', 'van%2F15']) await as(TOKEN, `/admin/devices/${device}`)
  const found: unknown[] = []
  for (let token = ''; ; ) {
    const { json } = await as(TOKEN, `/admin/reads?max_results=1${token}`)
    const { results, next_page_token } = json as { results: { device: string }[]; next_page_token?: string }
    found.push(...results.map(({ device }) => device))
    if (next_page_token === undefined) break
    token = `&page_token=${next_page_token}`
  }
  expect(found).toEqual(['van/15', 'other-1', VAN])
  expect((await as(TOKEN, '/admin/reads?page_token=x')).status).toBe(400)
})

it('the log of reads is switched off and on by admin.log_reads without a restart', async () => {
  const file = join(admin.dir, 'gateway.yaml')
  const yaml = await readFile(file, 'utf8')
  onTestFinished(() => writeFile(file, yaml))
  await writeFile(file, yaml.replace('log_reads: true', 'log_reads: false'))
  await expect.poll(() => admin.live.admin().log_reads, soon).toBe(false)
  await as(TOKEN, `/admin/devices/${VAN}`)
  expect(await reads()).toEqual([])
  const stream = await followEvents(`${admin.url}/admin/events`, { authorization: 'Bearer canary-read' })
  onTestFinished(() => stream.close())
  await writeFile(file, yaml)
  await expect.poll(() => admin.live.admin().log_reads, soon).toBe(true)
  await as(TOKEN, `/admin/devices/${VAN}`)
  // The stream was open before.
  await expect.poll(() => reads(), soon).toHaveLength(2)
})
