import { expect, it } from 'vitest'
import { answering, STATUS, waybridge } from '../support/cli.ts'

const LANE = {
  company_id: '7',
  courier_id: '42',
  route_id: '1003',
  from_at: '2026-11-20T08:14:02.000Z',
  until_at: '2026-11-20T08:15:00.000Z',
  missing: 2,
  positions: [],
}
const ANSWER = { day: '2026-11-20', checked: 1000, repaired: 0, missing: [], unknown: [] }

/** Starts a port that gives these answers one after the other, and the status. */
async function answers(...some: object[]) {
  return answering(({ path }) => ({ json: path === '/admin/status' ? STATUS : some.shift() }))
}

it('verify says that nothing is missing', async () => {
  const server = await answers(ANSWER)
  const { code, out } = await waybridge(['verify', '--day', '2026-11-20', '--route', '1003', ...server.options])
  expect([code, out]).toEqual([0, '2026-11-20: the tracking API has all 1000 positions that were compared.\n'])
  expect(server.asked[0]).toMatchObject({ path: '/admin/verify', query: { day: '2026-11-20', route_id: '1003' } })
})

it('verify continues until all is compared, adds up, and ends with exit code 1 if something is missing', async () => {
  const later = { ...LANE, from_at: '2026-11-20T09:00:00.000Z', until_at: '2026-11-20T09:01:00.000Z', missing: 1 }
  const unknown = { company_id: '8', fixes: 40, reason: 'no_token', message: 'company 8 has no oauth_token' }
  const server = await answers(
    { ...ANSWER, missing: [LANE], repaired: 2, unknown: [unknown], next_page_token: 'more' },
    { ...ANSWER, missing: [later], repaired: 1, unknown: [unknown], until_at: '2026-11-20T10:00:00.000Z' },
  )
  const { code, errors, out } = await waybridge(['verify', '--repair', ...server.options])
  expect(code).toBe(1)
  expect(errors).toBe('1000 positions compared so far\n')
  expect(out.split('\n')).toEqual([
    '2026-11-20: of 2000 positions compared, 3 are missing in the tracking API:',
    expect.stringMatching(/^COMPANY +COURIER +ROUTE +MISSING +FROM +TO$/),
    expect.stringMatching(/^7 +42 +1003 +3 +2026-11-20 08:14:02Z +2026-11-20 09:01:00Z$/),
    '3 positions are pushed once more.',
    'Not known of 80 positions: company 8 has no oauth_token.',
    'Not compared: what is newer than 2026-11-20 10:00:00Z.',
    '',
  ])
  expect(server.asked[1]).toMatchObject({ query: { repair: 'true', day: '2026-11-20', page_token: 'more' } })
})

it('verify does not call an empty or an interrupted comparison complete', async () => {
  const server = await answers({ ...ANSWER, checked: 0, stopped: 'the tracking API answers 500' })
  const { code, out } = await waybridge(['verify', ...server.options])
  expect(code).toBe(0)
  expect(out).toBe('2026-11-20: nothing was compared.\nThe rest was not compared: the tracking API answers 500.\n')
})

it('verify says that nothing was compared if there was nothing to compare', async () => {
  const server = await answers({ ...ANSWER, checked: 0, kept_since_at: '2026-11-20T10:00:00.000Z' })
  expect((await waybridge(['verify', ...server.options])).out).toBe('2026-11-20: nothing was compared.\n')
})

it('verify still says after later parts of a run that an earlier part left something out', async () => {
  const stopped = 'the tracking API answers 500'
  const server = await answers({ ...ANSWER, stopped, next_page_token: 'more' }, ANSWER)
  const { out } = await waybridge(['verify', ...server.options])
  expect(out.split('\n')[1]).toBe('The rest was not compared: the tracking API answers 500.')
})

it('verify prints JSON', async () => {
  const server = await answers(ANSWER)
  const { out } = await waybridge(['verify', '--json', ...server.options])
  expect(JSON.parse(out)).toEqual(ANSWER)
})

it('verify takes yesterday as a day of the gateway', async () => {
  const server = await answers(ANSWER)
  await waybridge(['verify', '--day', 'yesterday', ...server.options])
  const { query } = server.asked.find(({ path }) => path === '/admin/verify') ?? {}
  expect(query?.day).toMatch(/^\d{4}-\d\d-\d\d$/)
})

it('verify says that positions from before they were kept were not compared', async () => {
  const server = await answers({ ...ANSWER, kept_since_at: '2026-11-20T06:00:00.000Z' })
  const { out } = await waybridge(['verify', ...server.options])
  expect(out.split('\n')[1]).toBe('Of the time before 2026-11-20 06:00:00Z only what is kept was compared.')
})
