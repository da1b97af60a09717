import type { FastifyReply, FastifyRequest } from 'fastify'
import { pino } from 'pino'
import { describe, expect, it, vi } from 'vitest'
import { parkedOperations } from '../../src/admin/lanes.ts'
import { EVERYTHING } from '../../src/admin/scope.ts'
import { keys, NOT_CURRENT } from '../../src/store/index.ts'
import { adminFixture, refuse, store, TOKEN, workerOf } from '../support/admin.ts'

const admin = adminFixture()
const INSTANT = expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]{12}Z$/) as string

interface Listed {
  readonly results: {
    readonly courier_id: string
    readonly route_id: string
    readonly parked?: { readonly at: string; readonly next_try_at?: string }
  }[]
  readonly next_page_token?: string
}

async function list(query = ''): Promise<Listed> {
  const { status, json } = await admin.ask(`/admin/parked${query}`)
  expect(status).toBe(200)
  return json as Listed
}

/** Parks lane 42/1 with 3 fixes; in 42/2, 43/1 and 43/3 two of three fixes are refused. */
async function park(): Promise<void> {
  const { leases, lease } = workerOf(admin.redis)
  for (const lane of ['7/42/1', '7/42/2', '7/43/1', '7/43/3']) await store(admin.redis, lane, { count: 3 })
  await leases.park(await lease('7/42/1'), { status: 403, message: 'the route is not yours' })
  for (const lane of ['7/42/2', '7/43/1', '7/43/3'])
    await refuse(admin.redis, lane, 2, { status: 422, message: 'accuracy: no' })
}

/** Reads an entry of the refused records of a lane, without the record itself. */
function refusedAt(at: number): Buffer {
  const header = JSON.stringify({ status: 422, message: 'no', at, count: 1 })
  const length = Buffer.alloc(4)
  length.writeUInt32BE(header.length)
  return Buffer.concat([length, Buffer.from(header)])
}

it('GET /admin/parked lists nothing if nothing was refused', async () => {
  await store(admin.redis, '7/42/1')
  expect(await list()).toEqual({ results: [] })
})

it('GET /admin/parked lists each lane with its reason, its next probe, and its refused positions by answer', async () => {
  await park()
  await refuse(admin.redis, '7/42/2', 1, { status: 413, message: 'too much "of it"' })
  const { results } = await list('?courier_id=42')
  expect(results).toEqual([
    {
      company_id: '7',
      courier_id: '42',
      route_id: '1',
      fixes: 3,
      parked: {
        status: 403,
        message: 'the route is not yours',
        tries: 1,
        at: INSTANT,
        since_at: INSTANT,
        next_try_at: INSTANT,
      },
      refused: [],
    },
    {
      company_id: '7',
      courier_id: '42',
      route_id: '2',
      fixes: 3,
      refused: [
        { status: 422, message: 'accuracy: no', at: INSTANT, first_at: INSTANT, count: 2 },
        { status: 413, message: 'too much "of it"', at: INSTANT, first_at: INSTANT, count: 1 },
      ],
    },
  ])
  const [{ parked }] = results
  expect(Date.parse(parked?.next_try_at ?? '') - Date.parse(parked?.at ?? '')).toBe(15_000)
})

it('GET /admin/parked shows no next probe while a lane is being probed', async () => {
  await park()
  await workerOf(admin.redis).lease('7/42/1')
  expect((await list('?route_id=1&courier_id=42')).results[0].parked).not.toHaveProperty('next_try_at')
})

it.each([
  ['', ['42/1', '42/2', '43/1', '43/3']],
  ['?courier_id=42', ['42/1', '42/2']],
  ['?route_id=1', ['42/1', '43/1']],
  ['?courier_id=43&route_id=1', ['43/1']],
  ['?courier_id=44', []],
  ['?courier_id=4', []],
])('GET /admin/parked lists the lanes of %s', async (query, lanes) => {
  await park()
  expect((await list(query)).results.map(({ courier_id, route_id }) => `${courier_id}/${route_id}`)).toEqual(lanes)
})

it('GET /admin/parked lists parked lanes in pages', async () => {
  await park()
  const first = await list('?max_results=3')
  expect(first.results.length).toBe(3)
  const second = await list(`?max_results=3&page_token=${first.next_page_token}`)
  expect([second.results.map(({ route_id }) => route_id), second.next_page_token]).toEqual([['3'], undefined])
})

it('GET /admin/parked counts more refused positions of a lane than are read at once', async () => {
  await store(admin.redis, '7/42/1', { count: 450 })
  for (let n = 0; n < 3; n++) await refuse(admin.redis, '7/42/1', 150, { status: 422, message: `${n % 2}` })
  expect(await list()).toMatchObject({
    results: [
      {
        fixes: 450,
        refused: [
          { message: '0', count: 300 },
          { message: '1', count: 150 },
        ],
      },
    ],
  })
})

it('GET /admin/parked shows the first and the last time of equal answers', async () => {
  await store(admin.redis, '7/42/1', { count: 2 })
  await admin.redis.rpush(keys.refused('7/42/1'), ...[1_000, 61_000, 121_000].map(refusedAt))
  await admin.redis.zadd(keys.refusedLanes, 1, '7/42/1')
  expect(await list()).toMatchObject({
    results: [
      {
        fixes: 3,
        refused: [{ at: '1970-01-01T00:02:01.000Z', first_at: '1970-01-01T00:00:01.000Z', count: 3 }],
      },
    ],
  })
})

describe('POST /admin/parked/retry', () => {
  const retry = (query: string) => admin.ask(`/admin/parked/retry${query}`, { ...POST })
  const POST = { method: 'POST', headers: { authorization: 'Bearer another-token' } }

  it.each([
    ['?all=true', 9],
    ['?courier_id=42', 5],
    ['?route_id=1', 5],
    ['?courier_id=42&route_id=1', 3],
    ['?all=true&courier_id=43', 4],
    ['?courier_id=44', 0],
  ])('POST /admin/parked/retry%s retries %i positions', async (query, retried) => {
    await park()
    const { status, json } = await retry(query)
    expect([status, json]).toEqual([200, { retried }])
  })

  it('POST /admin/parked/retry makes a parked lane due at once, and puts refused records behind waiting ones', async () => {
    await park()
    expect((await retry('?courier_id=42')).json).toEqual({ retried: 5 })
    expect(await admin.redis.llen(keys.lane('7/42/2'))).toBe(3)
    expect(await admin.redis.exists(keys.refused('7/42/2'))).toBe(0)
    for (const lane of ['7/42/1', '7/42/2'])
      expect(Number(await admin.redis.zscore(keys.schedule, lane))).toBeLessThanOrEqual(Date.now())
    expect((await list()).results.map(({ courier_id }) => courier_id)).toEqual(['42', '43', '43'])
  })

  it('POST /admin/parked/retry moves refused positions to the lane that they belong to now', async () => {
    await store(admin.redis, '7/42/2', { count: 3, device: '0356307042441013' })
    await refuse(admin.redis, '7/42/2', 2, { status: 422, message: 'no' })
    expect((await retry('?route_id=2')).json).toEqual({ retried: 2 })
    const lengths = await Promise.all(['7/42/2', '7/42/1001'].map((lane) => admin.redis.llen(keys.lane(lane))))
    expect(lengths).toEqual([1, 2])
  })

  it('POST /admin/parked/retry answers 503 and changes nothing while the roster is not up to date', async () => {
    await park()
    const logger = pino({ enabled: false })
    const operations = parkedOperations({ redis: admin.redis, place: () => NOT_CURRENT, logger })
    const retryOperation = operations.find(({ path }) => path === '/admin/parked/retry')
    const request = { query: { all: 'true' } } as FastifyRequest
    await expect(retryOperation?.handle(request, {} as FastifyReply, EVERYTHING)).rejects.toMatchObject({
      code: 503,
      message: expect.stringMatching(/^the roster of the admin process is not current/) as string,
    })
    expect((await list()).results).toHaveLength(4)
    expect(Number(await admin.redis.zscore(keys.schedule, '7/42/1'))).toBeGreaterThan(Date.now())
  })

  it.each(['', '?all=false', '?courier=42'])('POST /admin/parked/retry answers 422 to "%s"', async (query) => {
    await park()
    const { status, json } = await retry(query)
    expect([status, json]).toEqual([
      422,
      { message: 'say what is to be tried again: courier_id, route_id or both, or all=true' },
    ])
  })

  it.each(['courier_id=x', 'route_id=9223372036854775808', 'courier_id=', 'courier_id=042'])(
    'POST /admin/parked/retry answers 422 to %s',
    async (query) => {
      const [path] = query.split('=')
      const message = 'expected an integer of 64 bits in decimal digits'
      const { status, json } = await retry(`?${query}`)
      expect([status, json]).toEqual([422, { message: `${path}: ${message}`, errors: [{ path, message }] }])
    },
  )

  it('POST /admin/parked/retry accepts an empty body of any type', async () => {
    const headers = { ...POST.headers, 'content-type': 'application/json' }
    const { status, json } = await admin.ask('/admin/parked/retry?all=true', { method: 'POST', headers })
    expect([status, json]).toEqual([200, { retried: 0 }])
  })
})

describe('DELETE /admin/parked', () => {
  const remove = (query: string) => admin.ask(`/admin/parked${query}`, { ...DELETE })
  const DELETE = { method: 'DELETE', headers: { authorization: `Bearer ${TOKEN}` } }

  it.each([
    ['?all=true', 9, 0],
    ['?courier_id=42', 5, 4],
    ['?route_id=1', 5, 4],
    ['?courier_id=42&route_id=1', 3, 6],
    ['?courier_id=44', 0, 9],
  ])('DELETE /admin/parked%s deletes %i positions', async (query, deleted, left) => {
    await park()
    const { status, json } = await remove(query)
    expect([status, json]).toEqual([200, { deleted }])
    const { parked, custody } = (await admin.ask('/admin/status')).json as {
      parked: { fixes: number }
      custody: Record<string, number>
    }
    expect([parked.fixes, custody.discarded, custody.difference]).toEqual([left, deleted, 0])
  })

  it('DELETE /admin/parked keeps the waiting fixes behind refused positions', async () => {
    await park()
    await remove('?courier_id=42&route_id=2')
    expect(await admin.redis.llen(keys.lane('7/42/2'))).toBe(1)
    expect(await admin.redis.exists(keys.refused('7/42/2'))).toBe(0)
  })

  it('DELETE /admin/parked waits for a running probe, then deletes the whole parked lane', async () => {
    await store(admin.redis, '7/42/1', { count: 450 })
    const { leases, lease } = workerOf(admin.redis)
    await leases.park(await lease('7/42/1'), { status: 403, message: 'no' })
    const probe = await lease('7/42/1')
    const removing = remove('?all=true')
    await vi.waitFor(async () => expect(await leases.park(probe, { status: 403, message: 'no' })).toBe(true))
    expect((await removing).json).toEqual({ deleted: 450 })
    expect(await leases.done(probe, { count: 1, status: 200, wanted: 0, atOnce: false })).toBeUndefined()
    expect((await admin.ask('/admin/status')).json).toMatchObject({
      parked: { fixes: 0, lanes: 0 },
      custody: { received: 450, delivered: 0, discarded: 450, difference: 0 },
    })
  })

  it('DELETE /admin/parked keeps a lane whose running probe succeeds', async () => {
    await store(admin.redis, '7/42/1', { count: 3 })
    const { leases, lease } = workerOf(admin.redis)
    await leases.park(await lease('7/42/1'), { status: 403, message: 'no' })
    const probe = await lease('7/42/1')
    const removing = remove('?all=true')
    await new Promise((resolve) => setTimeout(resolve, 300))
    await leases.done(probe, { count: 1, status: 200, wanted: 0, atOnce: false })
    expect((await removing).json).toEqual({ deleted: 0 })
    expect(await admin.redis.llen(keys.lane('7/42/1'))).toBe(2)
    expect((await admin.ask('/admin/status')).json).toMatchObject({
      waiting: { fixes: 2 },
      custody: { received: 3, delivered: 1, discarded: 0, difference: 0 },
    })
  })

  it.each(['', '?all=false'])('DELETE /admin/parked answers 422 to "%s" and deletes nothing', async (query) => {
    await park()
    const { status, json } = await remove(query)
    expect([status, json]).toEqual([
      422,
      { message: 'say what is to be deleted: courier_id, route_id or both, or all=true' },
    ])
    expect((await list()).results).toHaveLength(4)
  })
})
