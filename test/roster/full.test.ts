import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLogger } from '../../src/observe/log.ts'
import { Replica } from '../../src/roster/replica.ts'
import { readRosterVersion } from '../../src/roster/table.ts'
import { adminFixture, TOKEN } from '../support/admin.ts'

const fixture = adminFixture()
const logger = createLogger('test', { level: 'fatal', format: 'json' })
const HEADER = 'device,courier_id,route_id,from,until\n'
const ROUTES = '/admin/routes?company_id=7&from=2026-11-20&until=2026-11-21&force=true'

async function put(route: string): Promise<number> {
  const body = `${HEADER}Van 14,43,${route},2026-11-20 06:00,2026-11-20 20:00\n`
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/csv' }
  return (await fixture.ask(ROUTES, { method: 'PUT', headers, body })).status
}

const maxMemory = (bytes: number) => fixture.redis.config('SET', 'maxmemory', bytes)

beforeEach(async () => {
  expect(await put('5')).toBe(200)
  await maxMemory(1)
})
afterEach(() => maxMemory(256 * 1024 * 1024))

it('the roster is read while the memory of Redis is full', async () => {
  await expect(fixture.redis.set('more', 'x')).rejects.toThrow('OOM')
  const replica = new Replica(fixture.redis, logger)
  await replica.first
  replica.close()
  expect(Array.from(replica.roster.assignments(), ([, { route_id }]) => route_id).toSorted()).toEqual(['2001', '5'])
})

it('a full Redis refuses writes to the roster, which then changes nothing', async () => {
  const before = await readRosterVersion(fixture.redis)
  const { status, json } = await fixture.ask('/admin/devices/356307042441014', { method: 'DELETE' })
  expect([status, json]).toEqual([503, { message: expect.stringContaining('the memory of Redis is full: ') }])
  expect([await put('6'), await readRosterVersion(fixture.redis)]).toEqual([503, before])
  await maxMemory(256 * 1024 * 1024)
  expect(await put('6')).toBe(200)
})
