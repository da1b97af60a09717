import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type Answer, adminFixture, READ_TOKEN, TOKEN } from '../support/admin.ts'

const SEVEN = 'canary-token-of-seven'
const NINE = 'canary-token-of-nine'
const admin = adminFixture({
  gateway: `
admin:
  tokens:
    - ${TOKEN}
    - { token: ${READ_TOKEN}, role: read }
    - { token: ${SEVEN}, companies: [7] }
    - { token: ${NINE}, companies: [9] }
`,
  companies: ', { company_id: 9, apikey: canary-apikey-9 }',
  devices: `
"100": { name: Van 1, company_id: 7, courier_id: 41 }
"200": { name: Van 2, company_id: 7, courier_id: 51 }
"201": { name: Van 2, company_id: 7, courier_id: 51 }
"300": { name: Van 3, company_id: 7, courier_id: 61, route_id: 3000 }
"400": { name: Van 4, company_id: 7, courier_id: 71 }
"900": { name: Van 9, company_id: 9, courier_id: 91 }
`,
})
const DAY = 'from=2099-11-20&until=2099-11-21'
const SIX = '2099-11-20 06:00'
const NOON = '2099-11-20 12:00'
const LATER = '2099-11-20 20:00'

beforeEach(() => vi.waitFor(async () => expect(await listed()).toHaveLength(1), { timeout: 30_000 }))

type Line = Readonly<Record<'device' | 'name' | 'courier_id' | 'route_id' | 'from_at' | 'until_at' | 'source', string>>

async function listed(query = ''): Promise<Line[]> {
  return ((await admin.ask(`/admin/routes?${query}`)).json as { results: Line[] }).results
}

/** Returns the lines of numbered vans in effect at a time, as `device route courier`. */
async function drivenAt(time: string): Promise<string[]> {
  return (await listed(`at=${encodeURIComponent(time)}`))
    .filter(({ device }) => device.length === 3)
    .map(({ device, route_id, courier_id }) => `${device} ${route_id} ${courier_id}`)
    .toSorted()
}

function send(method: string, path: string, body?: unknown, token = TOKEN): Promise<Answer> {
  const type = typeof body === 'string' ? 'text/csv' : 'application/json'
  const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }) }
  return admin.ask(path, { method, headers, body: typeof body === 'string' ? body : JSON.stringify(body) })
}

const put = (...lines: string[]) =>
  send('PUT', `/admin/routes?company_id=7&${DAY}`, ['device,route_id,from,until', ...lines].join('\n'))
const swap = (device: string, body: unknown, query = '', token = TOKEN) =>
  send('POST', `/admin/devices/${encodeURIComponent(device)}/swap?${query}`, body, token)
const undo = (id: unknown, token = TOKEN) => send('POST', `/admin/roster/undo?put=${String(id)}`, undefined, token)
const idOf = ({ json }: Answer) => (json as { put: string }).put

const ONE = `Van 1,1101,${SIX},${LATER}`
const TWO = `Van 2,2101,2099-11-20 08:00,2099-11-20 18:00`

it('POST /admin/devices/{id}/swap exchanges routes and couriers from a time until the end of the local day', async () => {
  await put(ONE, TWO)
  const answer = await swap('Van 1', { with: 'Van 2', from_at: NOON })
  expect(answer).toMatchObject({
    status: 200,
    json: {
      takes: [],
      warnings: [],
      text: 'Van 1 gets route 2101 (courier 51) from 2099-11-20 12:00 to 18:00; Van 2 gets route 1101 (courier 41) from 2099-11-20 12:00 to 20:00 (UTC).',
      put: expect.stringMatching(/^\d{13}$/),
    },
  })
  expect(await drivenAt('2099-11-20 11:59')).toEqual(['100 1101 41', '200 2101 51', '201 2101 51'])
  expect(await drivenAt(NOON)).toEqual(['100 2101 51', '200 1101 41', '201 1101 41'])
  expect(await drivenAt('2099-11-20 19:00')).toEqual(['200 1101 41', '201 1101 41'])
  expect(await drivenAt(LATER)).toEqual([])
})

it('POST /admin/devices/{id}/swap exchanges back at until_at, and keeps what is before and after', async () => {
  await put(ONE, `Van 4,4001,${SIX},${LATER}`)
  await swap('Van 1', { with: 'Van 4', from_at: NOON, until_at: '2099-11-20 14:00' })
  const [before, within] = [
    ['100 1101 41', '400 4001 71'],
    ['100 4001 71', '400 1101 41'],
  ]
  expect(await drivenAt('2099-11-20 11:00')).toEqual(before)
  expect(await drivenAt('2099-11-20 13:59')).toEqual(within)
  expect(await drivenAt('2099-11-20 14:00')).toEqual(before)
})

it('a second POST /admin/devices/{id}/swap gives both vans back what they had', async () => {
  await put(ONE, TWO, `Van 1,1002,${LATER},2099-11-20 22:00`)
  const times = [SIX, '2099-11-20 09:00', NOON, '2099-11-20 19:00', '2099-11-20 21:00']
  const before = await Promise.all(times.map(drivenAt))
  await swap('Van 1', { with: 'Van 2', from_at: NOON })
  expect(await Promise.all(times.map(drivenAt))).not.toEqual(before)
  await swap('Van 2', { with: 'Van 1', from_at: NOON })
  expect(await Promise.all(times.map(drivenAt))).toEqual(before)
})

it('POST /admin/devices/{id}/swap exchanges the usual route of an entry only for the day', async () => {
  await put(ONE)
  const { json } = await swap('Van 1', { with: 'Van 3', from_at: NOON })
  expect(json).toMatchObject({
    takes: [],
    warnings: ['Van 3 goes on with route 3000 by its entry, devices.yaml:9: change that where it is not meant'],
    text: 'Van 1 gets route 3000 (courier 61) from 2099-11-20 12:00 to 2099-11-21 00:00; Van 3 gets route 1101 (courier 41) from 2099-11-20 12:00 to 20:00 (UTC).',
  })
  expect(await drivenAt(NOON)).toEqual(['100 3000 61', '300 1101 41'])
  expect(await drivenAt('2099-11-21 06:00')).toEqual([])
})

it('POST /admin/devices/{id}/swap does not warn of an entry whose usual route the swap covers', async () => {
  await put(ONE)
  const { json } = await swap('Van 1', { with: 'Van 3', from_at: NOON, until_at: LATER })
  expect(json).toMatchObject({ warnings: [] })
})

it.each([
  ['the first', 'Van 4', 'Van 1'],
  ['the second', 'Van 1', 'Van 4'],
])(
  'POST /admin/devices/{id}/swap answers 409 if %s gets nothing in return and one van loses its route',
  async (...how) => {
    const [, device, other] = how
    await put(ONE)
    const refused = await swap(device, { with: other, from_at: NOON })
    expect(refused).toMatchObject({
      status: 409,
      json: {
        message: 'this takes the route from Van 1: nothing is changed; send it with force=true if it is meant',
        takes: [{ device: '100', name: 'Van 1', route_id: '1101' }],
        text: 'Van 4 gets route 1101 (courier 41) from 2099-11-20 12:00 to 20:00; Van 1 loses it then (UTC).',
      },
    })
    expect(await drivenAt(NOON)).toEqual(['100 1101 41'])
    expect((await swap(device, { with: other, from_at: NOON }, 'force=true')).status).toBe(200)
    expect(await drivenAt(NOON)).toEqual(['400 1101 41'])
  },
)

it('POST /admin/devices/{id}/swap says in a dry run what it would do, and changes nothing', async () => {
  await put(ONE, TWO)
  const before = await listed()
  expect((await swap('Van 1', { with: 'Van 2', from_at: NOON }, 'dry_run=true')).json).not.toHaveProperty('put')
  expect(await listed()).toEqual(before)
})

it('POST /admin/devices/{id}/swap is undone by one undo', async () => {
  await put(ONE, TWO)
  const before = await listed()
  const { status } = await undo(idOf(await swap('Van 1', { with: 'Van 2', from_at: NOON })))
  expect(status).toBe(200)
  expect(await listed()).toEqual(before)
})

it('POST /admin/devices/{id}/swap cannot be undone before a later change is undone', async () => {
  await put(ONE, TWO)
  const swapped = idOf(await swap('Van 1', { with: 'Van 2', from_at: NOON }))
  const driven = await drivenAt(NOON)
  const later = idOf(await swap('Van 1', { with: 'Van 4', from_at: NOON }, 'force=true'))
  expect(await undo(swapped)).toMatchObject({ status: 409, json: { message: expect.stringContaining(later) } })
  expect((await undo(later)).status).toBe(200)
  expect(await drivenAt(NOON)).toEqual(driven)
  expect((await undo(swapped)).status).toBe(200)
  expect(await drivenAt(NOON)).toEqual(['100 1101 41', '200 2101 51', '201 2101 51'])
})

it('POST /admin/devices/{id}/swap and a put at the same time take effect one after the other as a whole', async () => {
  for (let round = 0; round < 8; round++) {
    await put(ONE, `Van 4,4001,${SIX},${LATER}`)
    const work = [
      () => swap('Van 1', { with: 'Van 4', from_at: NOON }),
      () => put(`Van 1,7001,${SIX},${LATER}`, `Van 4,8001,${SIX},${LATER}`),
    ]
    const answers = await Promise.all((round % 2 === 0 ? work : work.toReversed()).map((each) => each()))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const driven = await drivenAt('2099-11-20 13:00')
    // The put replaces lines that begin within its day, those of the swap too.
    expect([
      ['100 7001 41', '400 8001 71'],
      ['100 8001 71', '400 7001 41'],
    ]).toContainEqual(driven)
  }
})

it('POST /admin/devices/{id}/swap carries out all of several swaps at the same time', async () => {
  await put(ONE, `Van 4,4001,${SIX},${LATER}`)
  const answers = await Promise.all(Array.from({ length: 5 }, () => swap('Van 1', { with: 'Van 4', from_at: NOON })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(new Set(answers.map(idOf)).size).toBe(5)
  expect(await drivenAt('2099-11-20 13:00')).toEqual(['100 4001 71', '400 1101 41'])
})

it.each([
  ['an unknown device', 'Van 99', { with: 'Van 1' }, 404, /no device has the id or the name "Van 99"/],
  ['an unknown other', 'Van 1', { with: 'Van 99' }, 422, /with: no device has the id or the name "Van 99"/],
  ['itself', 'Van 1', { with: '100' }, 422, /with: this is the same device/],
  ['a vehicle with itself', '200', { with: 'Van 2' }, 422, /with: this is the same device/],
  ['no other', 'Van 1', {}, 422, /with: expected the id or the name of the other device/],
  ['two vans without a route', 'Van 1', { with: 'Van 4', from_at: NOON }, 422, /there is nothing to swap/],
  ['an end before the beginning', 'Van 1', { with: 'Van 4', from_at: NOON, until_at: SIX }, 422, /not after/],
  ['a van of another company', 'Van 1', { with: 'Van 9' }, 422, /with: no device has the id or the name "Van 9"/],
])('POST /admin/devices/{id}/swap refuses %s', async (_, device, body, status, message) => {
  const answer = await swap(device, body)
  expect([answer.status, (answer.json as { message: string }).message]).toEqual([
    status,
    expect.stringMatching(message),
  ])
})

it('POST /admin/devices/{id}/swap is in the audit log with its token and company', async () => {
  await put(ONE, TWO)
  await swap('Van 1', { with: 'Van 2', from_at: NOON }, '', SEVEN)
  const { results } = (await admin.ask('/admin/audit?max_results=1')).json as { results: object[] }
  expect(results[0]).toMatchObject({
    token: 'admin.tokens[2]',
    operation: '/admin/devices/{id}/swap',
    companies: ['7'],
    summary: { added: expect.any(Number), removed: expect.any(Number) },
  })
})

describe('a swap by another token', () => {
  const body = { with: 'Van 2', from_at: NOON }

  it('POST /admin/devices/{id}/swap answers 403 to a token that may only read, except for a dry run', async () => {
    await put(ONE, TWO)
    const before = await listed()
    expect((await swap('Van 1', body, '', READ_TOKEN)).status).toBe(403)
    expect((await swap('Van 1', body, 'dry_run=true', READ_TOKEN)).status).toBe(200)
    expect(await listed()).toEqual(before)
  })

  it('POST /admin/devices/{id}/swap and its undo accept a token of the company', async () => {
    await put(ONE, TWO)
    const before = await listed()
    const done = await swap('Van 1', body, '', SEVEN)
    expect(done.status).toBe(200)
    expect((await undo(idOf(done), NINE)).status).toBe(404)
    expect((await undo(idOf(done), SEVEN)).status).toBe(200)
    expect(await listed()).toEqual(before)
  })

  it('POST /admin/devices/{id}/swap treats a van of another company like one that does not exist', async () => {
    await put(ONE, TWO)
    const before = await listed()
    const [hidden, missing] = await Promise.all([swap('Van 1', body, '', NINE), swap('Van 99', body, '', NINE)])
    expect([hidden.status, missing.status]).toEqual([404, 404])
    expect(hidden.text.replace('"Van 1\\"', '"Van 99\\"')).toBe(missing.text)
    for (const query of ['', 'dry_run=true', 'force=true'])
      expect((await swap('Van 9', { with: 'Van 1' }, query, NINE)).status).toBe(422)
    expect(await listed()).toEqual(before)
  })
})
