import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../../../src/sandbox/tracking/database.ts'
import { SELECT_PAGE } from '../../../src/sandbox/tracking/positions.ts'
import { MAX_ID, startService } from '../../support/tracking/service.ts'

const service = await startService()
const impatient = await startService({ databaseFile: service.databaseFile, timeLimitMs: 1 })
const FROM = 1_700_000_000

interface Query {
  company?: string
  route?: string
  from?: string | number
  to?: string | number
  authorization?: string
}

function read({ company = '7', route = '1001', authorization = 'OAuth token-7', ...interval }: Query) {
  const query = Object.entries(interval)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
  const headers: Record<string, string> = authorization ? { authorization } : {}
  return service.send(`/api/v2/companies/${company}/routes/${route}/courier-positions?${query}`, { headers })
}

async function push(positions: object[], lane = { courier: '42', route: '1001', apikey: 'key-7' }): Promise<void> {
  const body = JSON.stringify({ positions })
  const path = `/api/v1/couriers/${lane.courier}/routes/${lane.route}/push-positions-v3?apikey=${lane.apikey}`
  const answer = await service.send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect(answer.status).toBe(200)
}

function at(timestamp: number, lat = 1.5, lon = 2.25): object {
  return { accuracy: 5, point: { lat, lon }, timestamp }
}

function times(json: unknown): number[] {
  return (json as { timestamp: number }[]).map(({ timestamp }) => timestamp)
}

it('reads positions with exactly the fields of the interface', async () => {
  const before = Math.floor(Date.now() / 1_000)
  await push([at(FROM, -0.000001, 179.9999999)])
  const answer = await read({ from: FROM, to: FROM })
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  const [{ server_timestamp, ...rest }] = answer.json as { server_timestamp: number }[]
  expect(rest).toEqual({ lat: -0.000001, lon: 179.9999999, timestamp: FROM })
  expect(Number.isInteger(server_timestamp)).toBe(true)
  expect(server_timestamp - before).toBeLessThanOrEqual(30)
  expect(server_timestamp).toBeGreaterThanOrEqual(before)
})

it('reads positions in order of timestamp, then of arrival', async () => {
  const start = FROM + 10_000
  await push([at(start + 2, 3), at(start, 9), at(start + 1)])
  await push([at(start, 1), at(start + 2, 1)])
  const { json } = await read({ from: start, to: start + 2 })
  expect((json as { timestamp: number; lat: number }[]).map(({ timestamp, lat }) => [timestamp - start, lat])).toEqual([
    [0, 9],
    [0, 1],
    [1, 1.5],
    [2, 3],
    [2, 1],
  ])
})

it('reads the positions of both ends of the interval and none beyond', async () => {
  const start = FROM + 20_000
  await push([start - 1, start, start + 7_200, start + 7_201].map((time) => at(time)))
  expect(times((await read({ from: start, to: start + 7_200 })).json)).toEqual([start, start + 7_200])
})

it('reads the positions of one route and company only', async () => {
  const start = FROM + 40_000
  await push([at(start)])
  await push([at(start)], { courier: '41', route: '1002', apikey: 'key-7' })
  await push([at(start)], { courier: '43', route: '2001', apikey: 'key-8' })
  expect((await read({ from: start, to: start })).json).toHaveLength(1)
})

it('reads more than one page of positions without gaps or repeats', async () => {
  const start = FROM + 50_000
  const pushed = Array.from({ length: 6_000 }, (_, i) => at(start + Math.floor(i / 2_500), i / 100, i / 100))
  for (let i = 0; i < pushed.length; i += 1_000) await push(pushed.slice(i, i + 1_000))
  const { json } = await read({ from: start, to: start + 10 })
  expect((json as { lon: number }[]).map(({ lon }) => lon)).toEqual(pushed.map((_, i) => i / 100))
})

it('reads 64-bit ids and timestamps exactly', async () => {
  const big = '9007199254740993'
  const path = `/api/v1/couriers/${MAX_ID}/routes/${MAX_ID}/push-positions-v3?apikey=key-max`
  const body = `{"positions":[{"accuracy":1,"point":{"lat":1,"lon":1},"timestamp":${big}}]}`
  await service.send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const answer = await read({ company: MAX_ID, route: MAX_ID, authorization: 'OAuth token-max', from: big, to: big })
  expect(answer.text).toContain(`"timestamp":${big},`)
})

it('reads two hours when `to` is missing', async () => {
  const start = FROM + 60_000
  await push([at(start), at(start + 7_200), at(start + 7_201)])
  expect(times((await read({ from: start })).json)).toEqual([start, start + 7_200])
})

it('reads until now when `to` is missing', async () => {
  const now = Math.floor(Date.now() / 1_000)
  await push([at(now - 60), at(now + 3_600)])
  expect(times((await read({ from: now - 60 })).json)).toEqual([now - 60])
})

it('reads nothing from a future `from` without `to`', async () => {
  const answer = await read({ from: Math.floor(Date.now() / 1_000) + 600 })
  expect([answer.status, answer.text]).toEqual([200, '[]'])
})

it.each([
  ['an unknown route', '9999'],
  ['a route of another company', '2001'],
])('reads an empty array, not 404, for %s', async (_, route) => {
  await push([at(FROM)], { courier: '43', route: '2001', apikey: 'key-8' })
  const answer = await read({ route, from: FROM, to: FROM })
  expect([answer.status, answer.text]).toEqual([200, '[]'])
})

it.each([
  ['no header', ''],
  ['a bare token', 'token-7'],
  ['Bearer', 'Bearer token-7'],
  ['no token', 'OAuth'],
  ['an unknown token', 'OAuth nobody'],
  ['an apikey', 'OAuth key-7'],
  ['two tokens', 'OAuth token-7 token-8'],
])('refuses to read with %s: 401', async (_, authorization) => {
  const answer = await read({ authorization, from: FROM, to: FROM })
  expect(answer).toMatchObject({ status: 401, json: { message: expect.any(String) } })
  expect(answer.headers['www-authenticate']).toBe('OAuth')
})

it.each([
  ['another company', '8'],
  ['an unknown company', '99'],
])('refuses to read from %s: 403', async (_, company) => {
  expect((await read({ company, from: FROM, to: FROM })).status).toBe(403)
})

it.each([
  ['a company of 20 digits', { company: '10000000000000000000' }, 'company_id'],
  ['a company that is no number', { company: 'x' }, 'company_id'],
  ['a negative company', { company: '-7' }, 'company_id'],
  ['a negative route', { route: '-1' }, 'route_id'],
  ['a route of 2^63', { route: '9223372036854775808' }, 'route_id'],
  ['a route that is no number', { route: '1e3' }, 'route_id'],
])('refuses to read for %s: 422', async (_, query, path) => {
  expect(await read({ from: FROM, to: FROM, ...query })).toMatchObject({ status: 422, json: { errors: [{ path }] } })
})

it.each([
  ['no from', { to: FROM }, 'from'],
  ['a from that is no number', { from: 'x', to: FROM }, 'from'],
  ['a from with a fraction', { from: '1.5', to: FROM }, 'from'],
  ['an empty from', { from: '', to: FROM }, 'from'],
  ['a from beyond int64', { from: '9223372036854775808' }, 'from'],
  ['an empty to', { from: FROM, to: '' }, 'to'],
  ['a to before from', { from: FROM, to: FROM - 1 }, 'to'],
  ['two hours and a second', { from: FROM, to: FROM + 7_201 }, 'to'],
])('refuses to read for %s: 400', async (_, query, path) => {
  expect(await read(query)).toMatchObject({
    status: 400,
    json: { message: expect.stringContaining(path), errors: [{ path }] },
  })
})

it('refuses to read for two `from` parameters: 400', async () => {
  const headers = { authorization: 'OAuth token-7' }
  const answer = await service.send('/api/v2/companies/7/routes/1001/courier-positions?from=1&from=2', { headers })
  expect(answer.status).toBe(400)
})

it.each([
  ['credentials before access', { authorization: 'OAuth nobody', company: '8' }, 401],
  ['credentials before a path id', { authorization: '', company: 'x' }, 401],
  ['access before input', { company: '8', route: 'x', from: 'x' }, 403],
  ['access before the interval', { company: '8' }, 403],
])('checks a request to read: %s', async (_, query, status) => {
  expect((await read(query)).status).toBe(status)
})

it('answers 504 when reading takes longer than the time limit', async () => {
  const start = FROM + 100_000
  const pushed = Array.from({ length: 20_000 }, (_, i) => at(start, i / 1_000, i / 1_000))
  for (let i = 0; i < pushed.length; i += 1_000) await push(pushed.slice(i, i + 1_000))
  const path = `/api/v2/companies/7/routes/1001/courier-positions?from=${start}`
  const headers = { authorization: 'OAuth token-7' }
  expect(await impatient.send(path, { headers })).toMatchObject({
    status: 504,
    json: { message: expect.any(String) },
  })
  const answer = await service.send(path, { headers })
  expect([answer.status, (answer.json as unknown[]).length]).toEqual([200, 20_000])
})

describe('the tracking service with a clock that was set back', () => {
  afterEach(() => void vi.useRealTimers())

  it('stores the time of a clock that was set back', async () => {
    const start = FROM + 200_000
    for (const [second, now] of [
      [1, start + 86_400],
      [2, start],
    ]) {
      vi.useFakeTimers({ toFake: ['Date'], now: now * 1_000 })
      await push([at(start + second)])
    }
    const answer = await read({ from: `${start}`, to: `${start + 9}` })
    expect(answer.json).toMatchObject([{ server_timestamp: start + 86_400 }, { server_timestamp: start }])
  })

  it('reads all positions that arrived in the same microsecond, page by page', async () => {
    const { databaseFile, send } = await startService()
    const database = new DatabaseSync(databaseFile)
    const insert = database.prepare(
      'INSERT INTO positions VALUES (8, 2001, 1700000000, ?, ?, ?, 5, NULL, NULL, 1e15, 1)',
    )
    const places = Array.from({ length: 4_500 }, (_, n) => [n % 2, (n % 7) / 3, n / 7] as const)
    database.exec('BEGIN')
    for (const place of places) insert.run(...place)
    database.exec('COMMIT')
    database.close()
    const path = '/api/v2/companies/8/routes/2001/courier-positions?from=1700000000&to=1700000000'
    const { json } = await send(path, { headers: { authorization: 'OAuth token-8' } })
    const found = (json as { lat: number; lon: number }[]).map(({ lat, lon }) => `${lat} ${lon}`)
    expect(found.toSorted()).toEqual(places.map(([, lat, lon]) => `${lat} ${lon}`).toSorted())
  })
})

describe('more positions than an answer can hold', () => {
  const MANY = `
    WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 700000)
    INSERT INTO positions SELECT 8, 2001, 1700000000 + n / 200, 43, n / 1e7 + 0.12345678901234, 13.12345678901234, 5, NULL, NULL, 1e15 + n, 1
    FROM count`

  it('answers 504 if there is too much to read, and serves others meanwhile', async () => {
    const { databaseFile, send } = await startService()
    const database = new DatabaseSync(databaseFile)
    database.exec(`PRAGMA synchronous = OFF; ${MANY}`)
    database.close()
    const now = { reading: true }
    const path = '/api/v2/companies/8/routes/2001/courier-positions?from=1700000000&to=1700007000'
    const reading = send(path, { headers: { authorization: 'OAuth token-8' } }).finally(() => (now.reading = false))
    let served = 0
    while (now.reading) {
      await send('/healthz')
      served++
    }
    const message = 'there is too much to read at once: ask for less'
    const { status, text } = await reading
    expect([status, text.slice(0, 100)]).toEqual([504, JSON.stringify({ message })])
    expect(served).toBeGreaterThan(5)
  })
})

it('reads positions by the key of company, route and time, without a scan', () => {
  const database = openDatabase(service.databaseFile)
  const values = { company: 7n, route: 1n, timestamp: 0n, to: 1n, received_us: -1n, courier_id: 0n, lat: 0, lon: 0 }
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${SELECT_PAGE}`).all(values)
  database.close()
  expect(plan.map(({ detail }) => detail)).toEqual([
    'SEARCH positions USING PRIMARY KEY (company_id=? AND route_id=? AND timestamp>? AND timestamp<?)',
    'USE TEMP B-TREE FOR LAST 4 TERMS OF ORDER BY',
  ])
})
