import { describe, expect, it } from 'vitest'
import { keys } from '../../src/lanes/index.ts'
import { adminFixture, store, workerOf } from './fixture.ts'

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

/** Lane 42/1 is parked whole with 3 fixes; of 42/2, 43/1 and 43/3 two of three were refused. */
async function park(): Promise<void> {
  const { leases, lease } = workerOf(admin.redis)
  for (const lane of ['7/42/1', '7/42/2', '7/43/1', '7/43/3']) await store(admin.redis, lane, { count: 3 })
  await leases.park(await lease('7/42/1'), { status: 403, message: 'the route is not yours' })
  for (const lane of ['7/42/2', '7/43/1', '7/43/3'])
    await leases.refuse(await lease(lane), 2, { status: 422, message: 'accuracy: no' })
}

describe('what is parked', () => {
  it('is nothing where nothing was refused', async () => {
    await store(admin.redis, '7/42/1')
    expect(await list()).toEqual({ results: [] })
  })

  it('is listed by lane: why it is parked whole and tried next, and what was refused, answer by answer', async () => {
    await park()
    const { leases, lease } = workerOf(admin.redis)
    await leases.refuse(await lease('7/42/2'), 1, { status: 413, message: 'too much "of it"' })
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
          { status: 422, message: 'accuracy: no', at: INSTANT, count: 2 },
          { status: 413, message: 'too much "of it"', at: INSTANT, count: 1 },
        ],
      },
    ])
    const [{ parked }] = results
    expect(Date.parse(parked?.next_try_at ?? '') - Date.parse(parked?.at ?? '')).toBe(15_000)
  })

  it('has no next try while it is being tried', async () => {
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
  ])('of %s is of these lanes', async (query, lanes) => {
    await park()
    expect((await list(query)).results.map(({ courier_id, route_id }) => `${courier_id}/${route_id}`)).toEqual(lanes)
  })

  it('comes in pages', async () => {
    await park()
    const first = await list('?max_results=3')
    expect(first.results.length).toBe(3)
    const second = await list(`?max_results=3&page_token=${first.next_page_token}`)
    expect([second.results.map(({ route_id }) => route_id), second.next_page_token]).toEqual([['3'], undefined])
  })

  it('counts more answers of one lane than are read at once', async () => {
    await store(admin.redis, '7/42/1', { count: 120 })
    const { leases, lease } = workerOf(admin.redis)
    for (let n = 0; n < 120; n++) await leases.refuse(await lease('7/42/1'), 1, { status: 422, message: String(n) })
    expect(await list()).toMatchObject({
      results: [{ fixes: 120, refused: Array.from({ length: 120 }, (_, n) => ({ message: String(n), count: 1 })) }],
    })
  })
})

describe('trying again', () => {
  const retry = (query: string) => admin.ask(`/admin/parked/retry${query}`, { ...POST })
  const POST = { method: 'POST', headers: { authorization: 'Bearer another-token' } }

  it.each([
    ['?all=true', 9],
    ['?courier_id=42', 5],
    ['?route_id=1', 5],
    ['?courier_id=42&route_id=1', 3],
    ['?all=true&courier_id=43', 4],
    ['?courier_id=44', 0],
  ])('%s concerns %i positions', async (query, retried) => {
    await park()
    const { status, json } = await retry(query)
    expect([status, json]).toEqual([200, { retried }])
  })

  it('makes the lane due at once, refused records behind what waits', async () => {
    await park()
    expect((await retry('?courier_id=42')).json).toEqual({ retried: 5 })
    expect(await admin.redis.llen(keys.lane('7/42/2'))).toBe(3)
    expect(await admin.redis.exists(keys.refused('7/42/2'))).toBe(0)
    for (const lane of ['7/42/1', '7/42/2'])
      expect(Number(await admin.redis.zscore(keys.schedule, lane))).toBeLessThanOrEqual(Date.now())
    expect((await list()).results.map(({ courier_id }) => courier_id)).toEqual(['42', '43', '43'])
  })

  it.each(['', '?all=false', '?courier=42'])('with "%s" for what is 422', async (query) => {
    await park()
    const { status, json } = await retry(query)
    expect([status, json]).toEqual([
      422,
      { message: 'say what is to be tried again: courier_id, route_id or both, or all=true' },
    ])
  })

  it.each(['courier_id=x', 'route_id=9223372036854775808', 'courier_id=', 'courier_id=042'])(
    'with %s is 422',
    async (query) => {
      const [path] = query.split('=')
      const message = 'expected an integer of 64 bits in decimal digits'
      const { status, json } = await retry(`?${query}`)
      expect([status, json]).toEqual([422, { message: `${path}: ${message}`, errors: [{ path, message }] }])
    },
  )

  it('takes an empty body of any type', async () => {
    const headers = { ...POST.headers, 'content-type': 'application/json' }
    const { status, json } = await admin.ask('/admin/parked/retry?all=true', { method: 'POST', headers })
    expect([status, json]).toEqual([200, { retried: 0 }])
  })
})
