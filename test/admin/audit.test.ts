import { once } from 'node:events'
import { connect as dial } from 'node:net'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Admin } from '../../src/admin/index.ts'
import { keys, type Store } from '../../src/store/index.ts'
import { connected, OPERATE, openBare, READ, refuse, store } from '../support/admin.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'

const RETRY = '/admin/parked/retry?all=true'
/** Refused without a request to Redis. */
const REFUSED = '/admin/parked/retry'
/** As long as a signed token can be. */
const LONG_TOKEN = 'canary'.repeat(1000)

interface Entry {
  readonly id: string
  readonly path: string
  readonly status: number
}
interface Page {
  readonly results: Entry[]
  readonly next_page_token?: string
}

let server: TestRedis
let redis: Store
let admin: Admin
let log: Record<string, unknown>[] = []

beforeAll(async () => {
  server = await startTestRedis()
  redis = await connected(server.url)
  const ofAdmin = await connected(server.url)
  admin = await openBare({
    redis: ofAdmin,
    logger: pino({ level: 'info' }, { write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>) }),
    companies: () => [{ company_id: '8', apikey: 'canary-apikey', oauth_token: LONG_TOKEN }],
  })
  const { close } = admin
  admin = { ...admin, close: () => close().finally(() => ofAdmin.disconnect()) }
})
afterAll(async () => {
  await admin.close()
  redis.disconnect()
  await server.stop()
})
beforeEach(async () => {
  await redis.flushall()
  log = []
})

const ask = (path: string, options: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${admin.port}${path}`, { method: 'POST', headers: OPERATE, ...options })

async function list(query = ''): Promise<Page> {
  const response = await ask(`/admin/audit${query}`, { method: 'GET', headers: READ })
  expect(response.status).toBe(200)
  return (await response.json()) as Page
}

/** Returns the log lines about changes. After ten seconds the log also says that no gateway and no worker run. */
const changesLogged = () => log.filter(({ audit }) => audit)

/** Returns the entries, which must exist as soon as the requests are answered. */
async function entries(): Promise<Entry[]> {
  return (await list()).results
}

/** Requests a change while Redis is stopped; returns its status and whether it is answered before Redis continues. */
async function changeWhileRedisIsStopped() {
  log = []
  await server.kill('SIGSTOP')
  let isAnswered = false
  const answer = ask(REFUSED).finally(() => (isAnswered = true))
  await expect.poll(changesLogged).toHaveLength(1)
  await ask('/healthz', { method: 'GET' })
  const isEarly = isAnswered
  await server.kill('SIGCONT')
  return { isEarly, status: (await answer).status, logged: changesLogged().length }
}

/** Adds old entries. */
async function fill(count: number): Promise<void> {
  const earlier = redis.pipeline()
  for (let n = 1; n <= count; n++) earlier.xadd(keys.audit, `${n}-1`, 'entry', JSON.stringify({ path: `/${n}` }))
  await earlier.exec()
}

async function park(count: number): Promise<void> {
  await store(redis, '7/42/1001', { count })
  await refuse(redis, '7/42/1001', count, { status: 422, message: 'no' })
}

it('the audit log keeps the token, request, time and outcome of a change', async () => {
  await park(3)
  const before = Date.now()
  expect((await ask('/admin/parked?courier_id=42', { method: 'DELETE' })).status).toBe(200)
  const [entry, ...others] = (await entries()) as (Entry & { at: string })[]
  expect(others).toEqual([])
  expect(entry).toEqual({
    id: expect.stringMatching(/^\d{13}-0$/) as string,
    at: new Date(Number(entry.id.split('-')[0])).toISOString(),
    token: 'admin.tokens[0]',
    role: 'operate',
    method: 'DELETE',
    path: '/admin/parked?courier_id=42',
    operation: '/admin/parked',
    status: 200,
    summary: { deleted: 3 },
  })
  expect(Date.parse(entry.at)).toBeGreaterThanOrEqual(before)
  expect(Date.parse(entry.at)).toBeLessThanOrEqual(Date.now())
})

it('the audit log keeps how many positions were retried', async () => {
  await park(2)
  await ask(RETRY)
  expect(await entries()).toMatchObject([{ method: 'POST', operation: '/admin/parked/retry', summary: { retried: 2 } }])
})

it('the audit log masks an admin token in the path of a request', async () => {
  const token = READ.authorization.replace('Bearer ', '')
  await ask(`/admin/parked/retry?all=true&x=${token}`)
  await ask(`/admin/devices/${token}%2f`, { method: 'DELETE' })
  expect((await entries()).map(({ path }) => path)).toEqual([
    '/admin/devices/***%2f',
    '/admin/parked/retry?all=true&x=***',
  ])
  expect(JSON.stringify(log)).not.toContain(token)
})

it('the audit log is repeated in the process log', async () => {
  await ask(RETRY)
  const { id, ...said } = (await entries())[0] as Entry & { at?: string }
  delete said.at
  expect(id).toBeDefined()
  expect(changesLogged()).toEqual([expect.objectContaining({ audit: said, level: 30, msg: 'request for a change' })])
})

it.each([
  ['wrong input', '/admin/parked/retry?route_id=x', {}, 422],
  ['both a dry run and none', '/admin/routes?dry_run=true&dry_run=false', { method: 'PUT' }, 422],
])('the audit log keeps a change that was refused because of %s', async (_, path, options, status) => {
  expect((await ask(path, options)).status).toBe(status)
  const [entry, ...others] = await entries()
  expect([entry, others]).toEqual([expect.objectContaining({ token: 'admin.tokens[0]', path, status }), []])
  expect(entry).not.toHaveProperty('summary')
})

it.each([
  ['POST', RETRY],
  ['PUT', '/admin/routes?company_id=7'],
  ['DELETE', '/api/v1/companies/7/orders/1/items/2'],
])(
  'the audit log has no entry for a change with a read token, which is in the process log: %s %s',
  async (method, path) => {
    expect((await ask(path, { method, headers: READ })).status).toBe(403)
    expect(await entries()).toEqual([])
    expect(changesLogged()).toEqual([
      {
        ...changesLogged()[0],
        level: 30,
        audit: expect.objectContaining({ token: 'admin.tokens[1]', role: 'read', method, path, status: 403 }) as object,
      },
    ])
  },
)

it.each([
  [
    'DELETE',
    '/api/v1/companies/7/orders/1/items/2',
    '/api/v1/companies/{company_id}/orders/{order_id}/items/{item_id}',
  ],
  ['POST', '/companies/7/orders/1:return', '/companies/{company_id}/orders/{order_id}:return'],
])('the audit log keeps a relayed change: %s %s', async (method, path, operation) => {
  await ask(path, { method })
  expect(await entries()).toMatchObject([{ method, path, operation, status: 404, role: 'operate' }])
})

it('the audit log keeps a change that failed', async () => {
  await redis.hset(keys.parked, '7/42/1', 'x')
  await redis.set(keys.lane('7/42/1'), 'no list')
  expect((await ask(RETRY)).status).toBe(500)
  expect(await entries()).toMatchObject([{ status: 500, path: RETRY }])
})

it('the audit log has its entry before the change is answered', async () => {
  // Each is polled on its own: a busy machine may stop Redis for over a second, the longest time that a change waits.
  await expect.poll(changeWhileRedisIsStopped).toEqual({ isEarly: false, status: 422, logged: 1 })
})

it('the audit log keeps a change whose caller has disconnected', async () => {
  const socket = dial(admin.port, '127.0.0.1')
  await once(socket, 'connect')
  await server.kill('SIGSTOP')
  const head = 'host: x\r\nauthorization: Bearer canary-operate\r\n\r\n'
  socket.write(`GET /healthz HTTP/1.1\r\n${head}POST ${RETRY} HTTP/1.1\r\n${head}`)
  await once(socket, 'data')
  socket.destroy()
  await ask('/healthz', { method: 'GET' })
  await server.kill('SIGCONT')
  await expect.poll(entries, { timeout: 30_000 }).toMatchObject([{ status: 200, path: RETRY }])
})

it.each([
  ['a GET', '/admin/parked', { method: 'GET' }, 200],
  ['a HEAD', '/admin/parked', { method: 'HEAD' }, 200],
  ['a request without a token', RETRY, { headers: {} }, 401],
  ['a request with a wrong token', RETRY, { headers: { authorization: 'Bearer x' } }, 401],
  ['a request for an unknown path', '/admin/nothing', {}, 404],
  ['a request with an unknown method', '/admin/status', { method: 'PUT' }, 405],
  ['a dry run', '/admin/routes?dry_run=true', { method: 'PUT' }, 422],
  ['a dry run with a read token', '/admin/routes?dry_run=true', { method: 'PUT', headers: READ }, 422],
])('the audit log has no entry of %s', async (_, path, options, status) => {
  expect((await ask(path, options)).status).toBe(status)
  expect(await entries()).toEqual([])
  expect(changesLogged()).toEqual([])
})

it.each([
  ['masks secrets', `${RETRY}&token=canary-1&x=y&apikey=canary-2`, `${RETRY}&token=***&x=y&apikey=***`],
  ['stays encoded', `${RETRY}&van=M%C3%BCller&x=%1B%zz`, `${RETRY}&van=M%C3%BCller&x=%1B%zz`],
  ['masks long secrets', `${RETRY}&x=${LONG_TOKEN}`, `${RETRY}&x=***`],
  ['may consist of parameters alone', `${RETRY}&x=${'?a='.repeat(4000)}`, `${`${RETRY}&x=`.padEnd(256, '?a=')}…`],
  ['is cut when it is long', `${RETRY}&x=${'y'.repeat(10_000)}`, `${`${RETRY}&x=`.padEnd(256, 'y')}…`],
])('the path of an audit entry %s', async (_, asked, path) => {
  expect((await ask(asked)).status).toBe(200)
  expect((await entries()).map((entry) => entry.path)).toEqual([path])
})

it('an audit entry has neither the body of its request nor a token', async () => {
  const body = JSON.stringify({ secret: 'canary-body' })
  await ask(`${RETRY}&token=canary-query`, { body, headers: { ...OPERATE, 'content-type': 'application/json' } })
  const kept = JSON.stringify([await redis.xrange(keys.audit, '-', '+'), log])
  expect(kept).toContain('admin.tokens[0]')
  expect(kept).not.toContain('canary')
})

it('the audit log lists the latest entries first, page by page', async () => {
  for (const n of [1, 2, 3, 4, 5]) await ask(`${RETRY}&n=${n}`)
  const first = await list('?max_results=2')
  const second = await list(`?max_results=2&page_token=${first.next_page_token}`)
  await ask(`${RETRY}&n=6`)
  const last = await list(`?max_results=2&page_token=${second.next_page_token}`)
  const numbers = [first, second, last].map(({ results }) => results.map(({ path }) => path.at(-1)))
  expect(numbers).toEqual([['5', '4'], ['3', '2'], ['1']])
  expect(last).not.toHaveProperty('next_page_token')
  expect((await list(`?page_token=${last.results[0].id}`)).results).toEqual([])
})

it.each(['x', '1', '0-0', '-1-1', '1-2-3', '1-x', '(1-1', '99999999999999999999-1', ''])(
  'the audit log answers 400 to the page token %j',
  async (token) => {
    const response = await ask(`/admin/audit?page_token=${encodeURIComponent(token)}`, { method: 'GET' })
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        message: 'page_token: not a token of this list in this order; send the next_page_token of the previous page',
      },
    ])
  },
)

it('the audit log keeps the last 10,000 entries', async () => {
  await fill(10_000)
  await ask(RETRY)
  expect(await redis.xlen(keys.audit)).toBe(10_000)
  const [[first]] = await redis.xrange(keys.audit, '-', '+', 'COUNT', 1)
  expect([first, (await list('?max_results=1')).results[0].path]).toEqual(['2-1', RETRY])
})

/** The log line with the entry that Redis refused. */
const failure = (message: RegExp) =>
  expect.objectContaining({
    level: 50,
    msg: 'this change is missing from the audit log in Redis',
    audit: expect.objectContaining({ status: 422, path: REFUSED }) as object,
    err: expect.objectContaining({ message: expect.stringMatching(message) as string }) as object,
  }) as object

describe('the audit log while the memory of Redis is full', () => {
  afterEach(() => redis.config('SET', 'maxmemory', '256mb'))

  it('the audit log removes its oldest entry for a new one while the memory of Redis is full', async () => {
    await fill(10_000)
    await redis.config('SET', 'maxmemory', '1')
    expect((await ask(REFUSED)).status).toBe(422)
    expect([(await entries())[0], await redis.xlen(keys.audit)]).toMatchObject([{ path: REFUSED, status: 422 }, 10_000])
    expect(changesLogged().filter(({ level }) => (level as number) > 30)).toEqual([])
  })

  it('the audit log keeps the deletion of parked positions, which frees memory of Redis', async () => {
    await park(3)
    await redis.config('SET', 'maxmemory', '1')
    const answer = await ask('/admin/parked?all=true', { method: 'DELETE' })
    expect([answer.status, await answer.json()]).toEqual([200, { deleted: 3 }])
    expect(await entries()).toMatchObject([{ method: 'DELETE', status: 200, summary: { deleted: 3 } }])
  })
})

/** Resolves when the admin port has read what Redis has. */
const answers = () => expect.poll(() => ask('/admin/audit', { method: 'GET' }).then(({ status }) => status)).toBe(200)

it('a change is answered and in the process log although Redis hangs', async () => {
  await server.kill('SIGSTOP')
  expect((await ask(REFUSED)).status).toBe(422)
  await server.kill('SIGCONT')
  expect(log).toContainEqual(failure(/^Redis takes longer than a second$/))
  await answers()
})

it('a change is answered and in the process log although Redis refuses the audit entry', async () => {
  await redis.set(keys.audit, 'no stream')
  expect((await ask(REFUSED)).status).toBe(422)
  expect(log).toContainEqual(failure(/WRONGTYPE/))
})

it('a change is answered and in the process log although Redis is down', async () => {
  await server.kill('SIGKILL')
  await expect.poll(() => ask('/admin/audit', { method: 'GET' }).then(({ status }) => status)).toBe(503)
  expect((await ask(REFUSED)).status).toBe(422)
  expect(log).toContainEqual(failure(/./))
  await server.restart()
  await answers()
  await expect.poll(() => redis.status, { timeout: 30_000 }).toBe('ready')
})
