import { expect, it } from 'vitest'
import { keys, release } from '../../src/store/index.ts'
import { adminFixture, refuse, store, workerOf } from '../support/admin.ts'

const admin = adminFixture()
const OLDEST = Date.UTC(2026, 10, 20, 8, 14, 2)
const INSTANT = expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]{12}Z$/) as string

interface Listed {
  readonly results: { readonly route_id: string; readonly waiting: number }[]
  readonly next_page_token?: string
}

async function list(query = ''): Promise<Listed> {
  const { status, json } = await admin.ask(`/admin/lanes${query}`)
  expect(status).toBe(200)
  return json as Listed
}

/** Stores lanes of routes 1 to `count`: route n has n waiting fixes, and is one second younger than route n − 1. */
async function storeLanes(count: number): Promise<void> {
  for (let n = 1; n <= count; n++) await store(admin.redis, `7/42/${n}`, { count: n, receivedAt: OLDEST + n * 1000 })
}

async function pages(query: string, between: (page: Listed) => Promise<void> = async () => {}): Promise<string[][]> {
  const found: string[][] = []
  let token: string | undefined
  do {
    const page = await list(`?${query}${token === undefined ? '' : `&page_token=${token}`}`)
    found.push(page.results.map(({ route_id }) => route_id))
    await between(page)
    token = page.next_page_token
  } while (token !== undefined)
  return found
}

const tokenOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

it('the list of lanes is empty if nothing waits', async () => {
  expect(await list()).toEqual({ results: [] })
})

it('the list of lanes shows the waiting fixes, since when they wait, the last push, and why a lane is parked', async () => {
  const MAX = '9223372036854775807'
  await store(admin.redis, `7/${MAX}/9007199254740993`, { count: 3, receivedAt: OLDEST })
  await store(admin.redis, '7/42/1', { count: 2, receivedAt: OLDEST + 1 })
  await store(admin.redis, '7/42/2', { count: 1, receivedAt: OLDEST + 2 })
  const { leases, lease } = workerOf(admin.redis)
  await leases.park(await lease('7/42/1'), { status: 404, message: 'no such route' })
  await leases.retry(await lease('7/42/2'), 'timeout', { firstMs: 1000, maxMs: 1000, leastMs: 0 })

  expect(await list()).toEqual({
    results: [
      {
        company_id: '7',
        courier_id: MAX,
        route_id: '9007199254740993',
        waiting: 3,
        oldest_at: '2026-11-20T08:14:02.000Z',
      },
      {
        company_id: '7',
        courier_id: '42',
        route_id: '1',
        waiting: 2,
        oldest_at: '2026-11-20T08:14:02.001Z',
        last_push: { at: INSTANT, status: 404 },
        parked: { status: 404, message: 'no such route', tries: 1, at: INSTANT, since_at: INSTANT },
      },
      {
        company_id: '7',
        courier_id: '42',
        route_id: '2',
        waiting: 1,
        oldest_at: '2026-11-20T08:14:02.002Z',
        last_push: { at: INSTANT, status: 'timeout' },
      },
    ],
  })
})

it('the list of lanes begins with the fullest lane, or with the oldest', async () => {
  await storeLanes(3)
  expect((await list()).results.map(({ waiting }) => waiting)).toEqual([3, 2, 1])
  expect((await list('?sort=waiting')).results.map(({ waiting }) => waiting)).toEqual([3, 2, 1])
  expect((await list('?sort=oldest')).results.map(({ waiting }) => waiting)).toEqual([1, 2, 3])
})

it('the pages of the list of lanes contain each lane once', async () => {
  await storeLanes(5)
  expect(await pages('max_results=2')).toEqual([['5', '4'], ['3', '2'], ['1']])
  expect(await pages('max_results=2&sort=oldest')).toEqual([['1', '2'], ['3', '4'], ['5']])
  expect(await pages('max_results=5')).toEqual([['5', '4', '3', '2', '1']])
})

it('the list of lanes orders equal lanes by name', async () => {
  for (const route of ['3', '1', '2']) await store(admin.redis, `7/42/${route}`, { receivedAt: OLDEST })
  expect(await pages('max_results=1')).toEqual([['1'], ['2'], ['3']])
  expect(await pages('max_results=1&sort=oldest')).toEqual([['1'], ['2'], ['3']])
})

it('the list of lanes continues after the last page, whatever changed meanwhile', async () => {
  await storeLanes(4)
  const { leases, lease } = workerOf(admin.redis)
  const found = await pages('max_results=2', async ({ next_page_token }) => {
    if (next_page_token === undefined) return
    await store(admin.redis, '7/42/9', { count: 9, receivedAt: OLDEST })
    for (let left = 3; left > 0; left--)
      await leases.done(await lease('7/42/3'), { count: 1, status: 200, wanted: 0, atOnce: false })
  })
  expect(found).toEqual([
    ['4', '3'],
    ['2', '1'],
  ])
})

it('the list of lanes has 100 lanes on a page by default', async () => {
  await Promise.all(Array.from({ length: 101 }, (_, n) => store(admin.redis, `7/42/${n}`)))
  const { results, next_page_token } = await list()
  expect([results.length, typeof next_page_token]).toEqual([100, 'string'])
  expect((await list('?max_results=1000')).results.length).toBe(101)
})

it('the list of lanes leaves out lanes that have only refused records', async () => {
  await storeLanes(1)
  await refuse(admin.redis, '7/42/1', 1, { status: 422, message: '' })
  expect(await list()).toEqual({ results: [] })
  expect(await release(admin.redis, ['7/42/1'], () => undefined)).toBe(1)
  expect((await list()).results.map(({ route_id }) => route_id)).toEqual(['1'])
})

it.each([
  'nonsense',
  '',
  tokenOf(null),
  tokenOf(['parked', 0, '7/42/1']),
  tokenOf(['lanes by oldest', 1, '7/42/1']),
  tokenOf(['lanes by waiting', '1', '7/42/1']),
  tokenOf(['lanes by waiting', 1]),
])('the list of lanes answers 400 to the page token %j', async (page_token) => {
  const { status, json } = await admin.ask(`/admin/lanes?page_token=${page_token}`)
  expect([status, json]).toEqual([
    400,
    { message: 'page_token: not a token of this list in this order; send the next_page_token of the previous page' },
  ])
})

it.each(['0', '1001', '-1', '1.5', 'all', '', '1e2'])(
  'the list of lanes answers 422 to max_results=%s',
  async (size) => {
    const { status, json } = await admin.ask(`/admin/lanes?max_results=${size}`)
    const message = 'expected a whole number from 1 to 1000'
    expect([status, json]).toMatchObject([
      422,
      { message: `max_results: ${message}`, errors: [{ path: 'max_results', message }] },
    ])
  },
)

it('the list of lanes answers 422 to an unknown order', async () => {
  const { status, json } = await admin.ask('/admin/lanes?sort=newest')
  expect([status, json]).toEqual([
    422,
    {
      message: 'sort: expected waiting or oldest',
      errors: [{ path: 'sort', message: 'expected waiting or oldest' }],
    },
  ])
})

it('the list of lanes answers 422 to a repeated parameter', async () => {
  expect((await admin.ask('/admin/lanes?sort=oldest&sort=waiting')).status).toBe(422)
})

it('the list of lanes leaves out lanes delivered since more than 2,000 lanes were counted', async () => {
  await Promise.all(Array.from({ length: 2001 }, (_, n) => store(admin.redis, `7/42/${n + 1}`)))
  const counted = async () => ((await admin.ask('/admin/status')).json as { waiting: { lanes: number } }).waiting.lanes
  let stored = 2001
  // Waits until a new lane is not counted, because the account is an older one.
  const isOld = async () => {
    await store(admin.redis, `7/43/${++stored}`)
    return (await counted()) < stored
  }
  await expect.poll(isOld, { timeout: 30_000 }).toBe(true)
  const before = await list()
  const first = before.results[0].route_id
  await admin.redis
    .multi()
    .del(keys.lane(`7/42/${first}`))
    .zrem(keys.schedule, `7/42/${first}`)
    .exec()
  const after = (await list()).results.map(({ route_id }) => route_id)
  expect(after).not.toContain(first)
  expect(after).toContain(before.results[1].route_id)
})
