import { afterEach, expect, it } from 'vitest'
import { TOKEN } from '../support/admin.ts'
import { askAs, TOKEN_7, twoCompanies } from '../support/two-companies.ts'

const admin = twoCompanies()
const [one, other] = [TOKEN_7, TOKEN].map((token) => askAs(admin, token))

const WEEK = 'from=2099-11-20&until=2099-11-27'
const GOOD = 'Van 12,5001,2099-11-21T06:00:00Z,2099-11-21T20:00:00Z'
const BAD = 'Van 99,5002,2099-11-21T06:00:00Z,2099-11-21T20:00:00Z'
const SOON = { timeout: 30_000, interval: 100 }

async function put(ask: typeof one, lines: readonly string[], query = WEEK): Promise<void> {
  const body = ['device,route_id,from,until', ...lines, ''].join('\n')
  const answer = await ask(`/admin/routes?company_id=7&force=true&${query}`, { method: 'PUT', body, type: 'text/csv' })
  expect([200, 422]).toContain(answer.status)
}

/** Returns the findings about lines that are left out. */
async function leftOut(): Promise<string[]> {
  const { results } = (await admin.ask('/admin/findings')).json as { results: Found[] }
  return results.filter((each) => each.code === 'roster_rejected' && !each.ended_at).map(({ message }) => message)
}

interface Found {
  readonly code: string
  readonly ended_at?: string
  readonly message: string
}

const BY_SEVEN = 'a line of seven is left out of the roster'

afterEach(async () => {
  await put(one, [GOOD])
  await expect.poll(leftOut, SOON).toEqual([])
})

it('a line is no longer left out after another token puts everything that its roster covers', async () => {
  await put(one, [GOOD, BAD])
  await expect.poll(leftOut, SOON).toEqual([BY_SEVEN])
  await put(other, [GOOD])
  await expect.poll(leftOut, SOON).toEqual([])
})

it('a line is no longer left out after another token covers a roster of which no line was usable', async () => {
  await put(one, [BAD])
  await expect.poll(leftOut, SOON).toEqual([BY_SEVEN])
  await put(other, [GOOD])
  await expect.poll(leftOut, SOON).toEqual([])
})

it('a line stays left out after another token covers less of it, is refused, or assigns a van', async () => {
  await put(one, [GOOD, BAD])
  await expect.poll(leftOut, SOON).toEqual([BY_SEVEN])
  await put(other, [GOOD], 'from=2099-11-20&until=2099-11-22')
  await put(other, [GOOD], `${WEEK}&only_listed=true`)
  await put(other, [BAD])
  await one('/admin/devices/Van%2012/assign', {
    method: 'POST',
    body: { route_id: '5003', from_at: '2099-11-23T06:00:00Z' },
  })
  await expect.poll(leftOut, SOON).toEqual([expect.stringMatching(/^2 lines of .*, seven are left out of the roster$/)])
  await put(other, [GOOD])
  await expect.poll(leftOut, SOON).toEqual([])
})

it('a line is no longer left out after its writer puts the van again with only_listed', async () => {
  await put(one, [GOOD, BAD])
  await expect.poll(leftOut, SOON).toEqual([BY_SEVEN])
  await put(one, [GOOD], `${WEEK}&only_listed=true`)
  await expect.poll(leftOut, SOON).toEqual([])
})

it('a line is left out again if the put that covers it is undone', async () => {
  await put(one, [GOOD, BAD])
  await put(other, [])
  await expect.poll(leftOut, SOON).toEqual([])
  const { results } = (await admin.ask('/admin/roster')).json as { results: { put?: string; writer: string }[] }
  const id = results.find(({ writer, put: each }) => writer !== 'seven' && each !== undefined)?.put
  expect((await other(`/admin/roster/undo?put=${id}&force=true`, { method: 'POST' })).status).toBe(200)
  await expect.poll(leftOut, SOON).toEqual([BY_SEVEN])
})
