import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Admin } from '../../src/admin/index.ts'
import { EVERYTHING, Scope } from '../../src/admin/scope.ts'
import type { VerifiedJson } from '../../src/admin/schemas/verify.ts'
import type { Company } from '../../src/config/schema.ts'
import type { Position, Store } from '../../src/store/index.ts'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { openBare } from '../support/admin.ts'
import { custody, deliverAll, startWorker } from '../support/delivering.ts'
import type { TestRedis } from '../support/redis.ts'
import { answering, honest, type ReadBackApi, startReadBackApi } from '../support/tracking/read-back-api.ts'
import { startService } from '../support/tracking/service.ts'
import { withRedis } from '../support/with-redis.ts'
import { pino } from 'pino'

const log: string[] = []
const logger = pino({ level: 'error' }, { write: (line) => void log.push(line) })
const KEPT_MS = 48 * 3_600_000
const COMPANIES = ['7', '8'].map((company_id): Company => {
  return { company_id, apikey: `key-${company_id}`, oauth_token: `token-${company_id}` }
})
/** Unix seconds: the last whole hour. */
const T = Math.floor(Date.now() / 3_600_000) * 3600 - 3600
const DAY = new Date(T * 1000).toISOString().slice(0, 10)
const positions = (count: number): Position[] =>
  Array.from({ length: count }, (_, index) => ({ timestamp: T + index, latitude: 52.5, longitude: 13.4, accuracy: 5 }))

const at = (second: number) => new Date((T + second) * 1000).toISOString()

let server: TestRedis
let redis: Store
withRedis((one, connection) => {
  server = one
  redis = connection
})

interface Asking {
  readonly token?: string
  readonly method?: string
  readonly language?: string
  readonly signal?: AbortSignal
}

async function openOn(baseUrl: string, keptMs = KEPT_MS) {
  const tracking = createTrackingClient({ baseUrl, timeoutMs: 5000, connections: 4 })
  const admin: Admin = await openBare({
    redis,
    logger,
    tracking: () => tracking,
    companies: () => COMPANIES,
    tokens: () => [
      { token: 'all', role: 'operate', label: 'all', scope: EVERYTHING },
      { token: 'seven', role: 'operate', label: 'seven', scope: new Scope(['7']) },
      { token: 'read-eight', role: 'read', label: 'read', scope: new Scope(['8']) },
    ],
    verify: {
      settings: { share: 0, after: 10, repair: false },
      keptMs,
      batch: { max_positions: 500, max_wait: 0 },
      gapMs: 0,
      pauseMs: 10,
    },
  })
  const apikeys = new Map(COMPANIES.map(({ company_id, apikey }) => [company_id, [apikey].flat()]))
  const stop = startWorker({ redisUrl: server.url, baseUrl, apikeys, delivered: KEPT_MS })
  return {
    async ask(query = '', { token = 'all', method = 'POST', language = 'en', signal }: Asking = {}) {
      const headers = { authorization: `Bearer ${token}`, 'accept-language': language }
      const day = query.includes('day=') ? '' : `day=${DAY}&`
      const answer = await fetch(`http://127.0.0.1:${admin.port}/admin/verify?${day}${query}`, {
        method,
        headers,
        signal,
      })
      const json = (await answer.json()) as VerifiedJson & { readonly message: string }
      return { ...json, status: answer.status }
    },
    get: async (path: string) => {
      const headers = { authorization: 'Bearer all' }
      return (await fetch(`http://127.0.0.1:${admin.port}${path}`, { headers })).text()
    },
    async close() {
      await stop()
      await admin.close()
      await tracking.close()
    },
  }
}

const BOTH = [
  { lane: '7/42/1001', device: '356307042441013', positions: positions(120) },
  { lane: '8/43/2001', device: '356307042441014', positions: positions(60) },
]

describe('POST /admin/verify with a programmable API', () => {
  let api: ReadBackApi
  let admin: Awaited<ReturnType<typeof openOn>>
  beforeAll(async () => {
    api = await startReadBackApi()
    admin = await openOn(api.url)
  })
  afterAll(async () => {
    await admin.close()
    await api.close()
  })
  beforeEach(async () => {
    api.respond(honest)
    for (const route of ['7/1001', '7/2001', '8/2001']) api.lose(route, () => true)
    await deliverAll(redis, BOTH)
    // The API of the test assigns every push to company 7.
    api.add(
      '8/2001',
      positions(60).map(({ latitude: lat, longitude: lon, timestamp }) => ({ lat, lon, timestamp })),
    )
  })

  it('POST /admin/verify names the missing positions, and nothing else', async () => {
    expect(await admin.ask()).toMatchObject({
      status: 200,
      day: DAY,
      checked: 180,
      repaired: 0,
      missing: [],
      unknown: [],
    })
    api.lose('7/1001', ({ timestamp }) => timestamp === T + 30 || timestamp === T + 31)
    const lane = { company_id: '7', courier_id: '42', route_id: '1001', missing: 2, from_at: at(30), until_at: at(31) }
    const where = { lat: 52.5, lon: 13.4 }
    expect(await admin.ask()).toMatchObject({
      checked: 180,
      missing: [
        {
          ...lane,
          positions: [
            { at: at(30), ...where },
            { at: at(31), ...where },
          ],
        },
      ],
      unknown: [],
    })
  })

  it('POST /admin/verify makes a finding with the routes, times and numbers of missing positions', async () => {
    api.lose('7/1001', ({ timestamp }) => timestamp === T + 30)
    await admin.ask()
    const finding = async () => {
      const { results } = JSON.parse(await admin.get('/admin/findings')) as { results: { code: string }[] }
      return results.find(({ code }) => code === 'missing_at_api')
    }
    await expect.poll(finding, { timeout: 20_000 }).toMatchObject({
      severity: 'error',
      link: 'accepted',
      subject: { company_id: '7' },
      count: 1,
      message: 'the tracking API does not have 1 position of company 7 that it took, on 1 route',
      evidence: [`courier 42, route 1001: 1 of 100 compared, from ${at(30)} to ${at(30)}`],
    })
  })

  it('POST /admin/verify pushes missing positions again on request', async () => {
    api.lose('7/1001', ({ timestamp }) => timestamp === T + 30)
    expect(await admin.ask('repair=true')).toMatchObject({ repaired: 1, missing: [{ missing: 1 }] })
    await expect.poll(() => custody(redis, 'redelivered'), { interval: 20 }).toBe(1)
    expect(await admin.ask()).toMatchObject({ missing: [], checked: 180 })
  })

  it('POST /admin/verify logs no fault if its caller closes the connection before the answer', async () => {
    const leaving = new AbortController()
    api.respond((asked, response) => {
      leaving.abort()
      setTimeout(() => void honest(asked, response), 200)
    })
    await expect(admin.ask('repair=true', { signal: leaving.signal })).rejects.toThrow('abort')
    const audited = async () => ((await admin.get('/admin/audit?max_results=1')).match(/"status":(\d+)/) ?? [])[1]
    await expect.poll(audited, { timeout: 10_000 }).toBe('503')
    expect(log.join('')).not.toContain('a request to the admin port failed')
  })

  it('POST /admin/verify covers only the companies of its token, and repairs nothing for a read token', async () => {
    api.lose('7/1001', ({ timestamp }) => timestamp === T + 30)
    api.lose('8/2001', ({ timestamp }) => timestamp === T + 40)
    expect(await admin.ask('', { token: 'seven' })).toMatchObject({ checked: 120, missing: [{ company_id: '7' }] })
    expect(await admin.ask('', { token: 'read-eight' })).toMatchObject({ checked: 60, missing: [{ company_id: '8' }] })
    expect(await admin.ask('company_id=7', { token: 'read-eight' })).toMatchObject({ checked: 0, missing: [] })
    expect(await admin.ask('repair=true', { token: 'read-eight' })).toMatchObject({ status: 403 })
  })

  it('POST /admin/verify compares only one route or company on request', async () => {
    expect(await admin.ask('route_id=2001')).toMatchObject({ checked: 60 })
    expect(await admin.ask('company_id=7')).toMatchObject({ checked: 120 })
    expect(await admin.ask('day=2026-01-01')).toMatchObject({ checked: 0, kept_since_at: expect.any(String) })
  })

  it('POST /admin/verify says in the language of the request why a lane cannot be verified', async () => {
    api.respond((asked, response) => (asked.route === '7/1001' ? answering(405) : honest)(asked, response))
    const [unknown] = (await admin.ask()).unknown
    expect(unknown).toEqual({
      company_id: '7',
      fixes: 120,
      reason: 'no_operation',
      message: 'the tracking API cannot be read back: it answers 405',
    })
    expect((await admin.ask('', { language: 'de' })).unknown[0].message).toMatch(/^die Tracking-API lässt sich nicht/)
  })

  it.each([
    ['route_id=x', 422],
    ['day=yesterday', 422],
    ['day=2199-01-01', 422],
    ['repair=yes', 422],
    ['page_token=x', 400],
  ])('POST /admin/verify refuses %s', async (query, status) => expect(await admin.ask(query)).toMatchObject({ status }))
})

it('POST /admin/verify is refused if no delivered fixes are kept', async () => {
  const admin = await openOn('http://127.0.0.1:1', 0)
  expect(await admin.ask()).toMatchObject({ status: 422, message: expect.stringContaining('keep.delivered') })
  await admin.close()
})

it('POST /admin/verify finds all positions in the embedded tracking service', async () => {
  const service = await startService()
  const admin = await openOn(service.url)
  await deliverAll(redis, BOTH)
  expect(await admin.ask()).toMatchObject({ checked: 180, missing: [], unknown: [] })
  await admin.close()
})
