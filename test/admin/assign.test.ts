import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { type Answer, adminFixture, READ_TOKEN, TOKEN, VAN_14_LANE } from '../support/admin.ts'
import { SheetDate, sheetFiles, zip } from '../support/xlsx.ts'

const admin = adminFixture()
const DAY = 'from=2099-11-20&until=2099-11-21'
const HEADER = 'device,courier_id,route_id,from,until\n'
const NOON = '2099-11-20 12:00'
const VAN_12 = '0356307042441013'
const VAN_14 = '356307042441014'

beforeEach(() => vi.waitFor(async () => expect(await listed()).toHaveLength(1), { timeout: 30_000 }))

type Line = Readonly<Record<'device' | 'courier_id' | 'route_id' | 'from_at' | 'until_at' | 'source', string>>

async function listed(query = ''): Promise<Line[]> {
  return ((await admin.ask(`/admin/routes?${query}`)).json as { results: Line[] }).results
}

/** Returns the lines in effect at a time, as `device route`. */
async function routesAt(time: string): Promise<string[]> {
  return (await listed(`at=${encodeURIComponent(time)}`))
    .map(({ device, route_id }) => `${device} ${route_id}`)
    .toSorted()
}

function send(method: string, path: string, body?: unknown, token = TOKEN): Promise<Answer> {
  const type = typeof body === 'string' ? 'text/csv' : 'application/json'
  const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }) }
  return admin.ask(path, { method, headers, body: typeof body === 'string' ? body : JSON.stringify(body) })
}

const put = (body: string, query = `company_id=7&${DAY}`) => send('PUT', `/admin/routes?${query}`, HEADER + body)
const assign = (device: string, body: unknown, query = '') =>
  send('POST', `/admin/devices/${encodeURIComponent(device)}/assign?${query}`, body)
const unassign = (device: string, body?: unknown, query = '') =>
  send('POST', `/admin/devices/${encodeURIComponent(device)}/unassign?${query}`, body)
const undo = (id: unknown, query = '') => send('POST', `/admin/roster/undo?put=${String(id)}&${query}`)
const idOf = ({ json }: Answer) => (json as { put: string }).put
const results = async () => ((await admin.ask('/admin/roster')).json as { results: Record<string, unknown>[] }).results
const putResults = async () => (await results()).filter(({ kind }) => kind === 'put')

const BEFORE = `${VAN_14} 2001`

it('POST /admin/devices/{id}/assign gives a device a route until the end of the local day', async () => {
  const answer = await assign('Van 12', { route_id: 3001, from_at: NOON })
  expect(answer).toMatchObject({
    status: 200,
    json: {
      added: 1,
      removed: 0,
      takes: [],
      put: expect.stringMatching(/^\d{13}$/),
      text: 'Van 12 gets route 3001 (courier 42) from 2099-11-20 12:00 to 2099-11-21 00:00 (UTC).',
    },
  })
  expect(await routesAt('2099-11-20 11:59')).toEqual([BEFORE])
  expect(await routesAt(NOON)).toEqual([`${VAN_12} 3001`, BEFORE])
  expect(await routesAt('2099-11-21 00:00')).toEqual([BEFORE])
})

it('POST /admin/devices/{id}/assign begins now if no time is given, with the given courier', async () => {
  const before = Math.floor(Date.now() / 1000)
  await assign(VAN_14, { route_id: '3002', courier_id: '99', until_at: '2099-01-01' })
  const [line] = (await listed()).filter(({ route_id }) => route_id === '3002')
  expect(line).toMatchObject({ device: VAN_14, courier_id: '99', until_at: '2099-01-01T00:00:00.000Z' })
  expect(Date.parse(line.from_at) / 1000).toBeGreaterThanOrEqual(before)
  expect(Date.parse(line.from_at)).toBeLessThanOrEqual(Date.now())
})

it('POST /admin/devices/{id}/assign answers 409 with the routes that another van would lose, unless it is forced', async () => {
  await put(`van/15,,1002,2099-11-20 06:00,2099-11-20 20:00\n`)
  const swap = { like: 'van/15', from_at: NOON }
  const refused = await assign('Van 14', swap)
  expect(refused).toMatchObject({
    status: 409,
    json: {
      message: 'this takes the route from van/15: nothing is changed; send it with force=true if it is meant',
      takes: [
        {
          device: 'van/15',
          route_id: '1002',
          from_at: '2099-11-20T12:00:00.000Z',
          until_at: '2099-11-20T20:00:00.000Z',
        },
      ],
    },
  })
  expect(await routesAt(NOON)).toEqual([BEFORE, 'van/15 1002'])
  expect((await assign('Van 14', swap, 'dry_run=true')).status).toBe(200)
  expect(await routesAt(NOON)).toEqual([BEFORE, 'van/15 1002'])
  expect((await assign('Van 14', swap, 'force=true')).status).toBe(200)
  expect(await routesAt('2099-11-20 11:59')).toEqual([BEFORE, 'van/15 1002'])
  expect(await routesAt(NOON)).toEqual([`${VAN_14} 1002`])
  expect(await routesAt('2099-11-20 20:00')).toEqual([BEFORE])
  const [swapped] = (await listed()).filter(({ device, route_id }) => device === VAN_14 && route_id === '1002')
  expect(swapped.courier_id).toBe('9223372036854775807')
})

it('POST /admin/devices/{id}/assign takes over the usual route of another entry for the day, and says so', async () => {
  const answer = await assign('Van 14', { like: 'Van 12', from_at: NOON })
  expect(answer).toMatchObject({
    status: 200,
    json: {
      takes: [],
      text: 'Van 14 gets route 1001 (courier 42) from 2099-11-20 12:00 to 2099-11-21 00:00 (UTC).',
      warnings: expect.arrayContaining([
        'Van 12 goes on with route 1001 by its entry, devices.yaml:2: change that where it is not meant',
        'Van 14 leaves route 2001 from 2099-11-20 12:00 to 2099-11-21 00:00',
      ]),
    },
  })
  expect(await routesAt(NOON)).toEqual([`${VAN_14} 1001`])
})

it('POST /admin/devices/{id}/assign warns of another van on the route at the same time, and of a time in the past', async () => {
  const { json } = await assign('van/15', { route_id: 2001, from_at: '2021-05-01 06:00' })
  expect(json).toMatchObject({
    warnings: [
      'this ends in the past: positions of that time that were delivered stay where they are',
      'Van 14 is on route 2001 too, besides van/15: both are pushed',
    ],
  })
})

const warningsAt = async (from_at: string, until_at: string) =>
  ((await assign('van/15', { route_id: 1001, from_at, until_at }, 'dry_run=true')).json as { warnings: string[] })
    .warnings

it('POST /admin/devices/{id}/assign does not warn of a van that drives another route than its entry says at that time', async () => {
  await put('Van 12,,77,2099-11-20 06:00,2099-11-20 20:00\n')
  expect(await warningsAt('2099-11-20 12:00', '2099-11-20 14:00')).toEqual([])
  expect(await warningsAt('2099-11-20 12:00', '2099-11-20 21:00')).toEqual([
    'Van 12 is on route 1001 too, besides van/15: both are pushed',
  ])
})

it.each([
  ['an unknown device', 'Van 99', { route_id: 1 }, 404, 'no device has the id or the name "Van 99"'],
  ['an unknown other', 'Van 12', { like: 'Van 99' }, 422, 'like: no device has the id or the name "Van 99"'],
  ['itself', 'Van 12', { like: VAN_12 }, 422, 'like: this is the same device'],
  ['neither route nor other', 'Van 12', {}, 422, 'the body: expected either route_id or like'],
  ['a courier with like', 'Van 12', { like: 'Van 14', courier_id: 1 }, 422, /courier goes with the route/],
  ['a misspelled key', 'Van 12', { route: 1 }, 422, /Unrecognized key/],
  ['an end before the beginning', 'Van 12', { route_id: 1, from_at: NOON, until_at: '2099-11-20' }, 422, /not after/],
  ['what is no time', 'Van 12', { route_id: 1, from_at: 'noon' }, 422, /from_at: expected a time/],
])('POST /admin/devices/{id}/assign refuses %s', async (_, device, body, status, message) => {
  const answer = await assign(device, body)
  expect(answer.status).toBe(status)
  expect((answer.json as { message: string }).message).toMatch(message)
})

it('assign, unassign, swap and undo refuse a misspelt dry run, and change nothing', async () => {
  await put('Van 12,,5,2099-11-20 06:00,\n')
  const message = 'dry-run: unknown: expected dry_run, force and redeliver alone'
  for (const [operation, body] of [
    ['assign', { route_id: 1 }],
    ['unassign', {}],
    ['swap', { with: 'Van 14' }],
  ] as const)
    expect(await send('POST', `/admin/devices/${VAN_12}/${operation}?dry-run=true`, body)).toMatchObject({
      status: 422,
      json: { message },
    })
  const id = idOf(await assign('Van 12', { route_id: 9, from_at: NOON }))
  expect((await undo(id, 'dry-run=true')).status).toBe(422)
  expect((await undo(id)).status).toBe(200)
})

it('POST /admin/devices/{id}/assign needs a token that may operate, except for a dry run', async () => {
  const path = `/admin/devices/${VAN_12}/assign`
  expect((await send('POST', path, { route_id: 1 }, READ_TOKEN)).status).toBe(403)
  expect((await send('POST', `${path}?dry_run=true`, { route_id: 1 }, READ_TOKEN)).status).toBe(200)
})

it('POST /admin/devices/{id}/unassign ends assignments at the given time, and removes later ones', async () => {
  await put(
    'van/15,,1002,2099-11-20 06:00,2099-11-20 20:00\nvan/15,,1003,2099-11-20 21:00,2099-11-20 22:00\nVan 12,,5,2099-11-20 06:00,\n',
  )
  const answer = await unassign('van/15', { from_at: NOON })
  expect(answer).toMatchObject({
    status: 200,
    json: {
      added: 1,
      removed: 2,
      takes: [
        { device: 'van/15', route_id: '1002' },
        { device: 'van/15', route_id: '1003' },
      ],
      text: 'van/15 loses route 1002 from 2099-11-20 12:00 to 20:00, route 1003 from 2099-11-20 21:00 to 22:00 (UTC).',
    },
  })
  expect(await routesAt('2099-11-20 11:00')).toContain('van/15 1002')
  expect(await routesAt(NOON)).toEqual([`${VAN_12} 5`, BEFORE])
  expect(await routesAt('2099-11-20 21:30')).toEqual([`${VAN_12} 5`, BEFORE])
})

it('POST /admin/devices/{id}/unassign keeps the rank of an older assignment below newer ones', async () => {
  await put('Van 14,,2002,2099-11-20 08:00,2099-11-20 10:00\n')
  await unassign('Van 14', { from_at: NOON })
  expect(await routesAt('2099-11-20 07:00')).toEqual([BEFORE])
  expect(await routesAt('2099-11-20 09:00')).toEqual([`${VAN_14} 2002`])
  expect(await routesAt('2099-11-20 11:00')).toEqual([BEFORE])
  expect(await routesAt(NOON)).toEqual([])
})

it('POST /admin/devices/{id}/unassign says where the route comes from that remains without an assignment', async () => {
  const { status, json } = await unassign('Van 12')
  expect([status, json]).toMatchObject([
    422,
    {
      message:
        'Van 12 has no line from then on that could end; its entry (devices.yaml:2) gives it route 1001 for all times: change that',
    },
  ])
})

it('POST /admin/roster/undo restores exactly the lines that a put replaced, as they were', async () => {
  const first = await put('Van 14,,2002,2099-11-20 08:00,2099-11-20 10:00\nvan/15,,9,2099-11-20 08:00,\n')
  const before = await listed()
  const second = await put('Van 12,,3,2099-11-20 06:00,\nVan 14,,2002,2099-11-20 08:00,2099-11-20 10:00\n')
  expect(await listed()).not.toEqual(before)
  const undone = await undo(idOf(second))
  expect([undone.status, undone.json]).toMatchObject([200, { added: 1, changed: 0, removed: 1, rejected: [] }])
  expect(await listed()).toEqual(before)
  expect((await undo(idOf(first))).status).toBe(200)
  expect(await listed()).toEqual([expect.objectContaining(VAN_14_LANE)])
})

it('POST /admin/roster/undo undoes an assignment', async () => {
  await put('van/15,,1002,2099-11-20 06:00,2099-11-20 20:00\n')
  const before = await listed()
  await undo(idOf(await assign('Van 12', { like: 'van/15', from_at: NOON }, 'force=true')))
  expect(await listed()).toEqual(before)
  await undo(idOf(await unassign('Van 14', { from_at: NOON })))
  expect(await listed()).toEqual(before)
})

it('POST /admin/roster/undo answers 409 for a put that is not the latest or is undone, and 404 for an unknown one', async () => {
  const first = await put('Van 12,,1,2099-11-20 06:00,\n')
  const second = await put('Van 12,,2,2099-11-20 06:00,\n')
  const refused = await undo(idOf(first))
  expect([refused.status, refused.json]).toEqual([
    409,
    { message: `company 7 has a later put, ${idOf(second)} by admin.tokens[1]: take that back first` },
  ])
  expect((await undo(idOf(second))).status).toBe(200)
  expect(await undo(idOf(second))).toMatchObject({ status: 409, json: { message: 'this put was taken back before' } })
  expect((await undo('12345')).status).toBe(404)
  expect((await undo('x')).status).toBe(404)
})

it('POST /admin/roster/undo answers 409 if most devices would lose their route, unless it is forced', async () => {
  for (const id of [VAN_12, 'van/15'])
    expect((await send('DELETE', `/admin/devices/${encodeURIComponent(id)}`)).status).toBe(200)
  await send('PUT', '/admin/devices/900', { company_id: 7, courier_id: 5 })
  await unassign('Van 14', { from_at: '2099-11-01' })
  const last = idOf(await put('900,,1,2099-11-20 06:00,\n'))
  const { status, json } = await undo(last)
  expect([status, json]).toMatchObject([
    409,
    { message: expect.stringContaining('the only device that has one'), takes: [{ device: '900', route_id: '1' }] },
  ])
  expect((await undo(last, 'force=true&dry_run=true')).status).toBe(200)
  expect(await routesAt('2099-11-20 07:00')).toEqual(['900 1'])
  expect((await undo(last, 'force=true')).status).toBe(200)
  expect(await routesAt('2099-11-20 07:00')).toEqual([])
})

it('POST /admin/roster/undo keeps what a file has written to the same place since', async () => {
  const line = 'Van 12,42,1,2099-11-20 06:00,2099-11-20 08:00\n'
  const first = await put(line)
  const file = join(admin.dir, 'routes.csv')
  const text = await readFile(file, 'utf8')
  onTestFinished(() => writeFile(file, text))
  await writeFile(file, text + line)
  await vi.waitFor(async () => expect((await listed())[1]?.source).toBe('routes.csv:3'), { timeout: 30_000 })
  expect((await undo(idOf(first))).json).toMatchObject({ removed: 0 })
  expect(await routesAt('2099-11-20 07:00')).toContain(`${VAN_12} 1`)
})

it('POST /admin/roster/undo appears in the roster results', async () => {
  const first = await put('Van 12,,1,2099-11-20 06:00,\n')
  await undo(idOf(first))
  expect(await putResults()).toMatchObject([{ put: idOf(first), undone: true }])
})

it('GET /admin/roster has the last result of each token: writer, changes, and lines left out with the reason', async () => {
  await put('Van 12,,1,2099-11-20 06:00,\n')
  const last = await put('Van 12,,2,2099-11-20 06:00,\nVan 99,,2,2099-11-20 06:00,\n')
  expect(await putResults()).toEqual([
    {
      writer: 'admin.tokens[1]',
      by: 'admin.tokens[1]',
      kind: 'put',
      company_id: '7',
      at: expect.stringMatching(/Z$/),
      added: 0,
      changed: 1,
      removed: 0,
      rejected: [{ device: 'Van 99', line: 3, message: expect.stringContaining('Van 99') }],
      warnings: [],
      put: idOf(last),
    },
  ])
})

it('GET /admin/roster keeps a put without a usable line, but no dry run', async () => {
  expect((await put('Van 99,,2,2099-11-20 06:00,\n', `company_id=7&${DAY}&dry_run=true`)).status).toBe(422)
  expect(await putResults()).toEqual([])
  expect((await put('Van 99,,2,2099-11-20 06:00,\n')).status).toBe(422)
  expect(await putResults()).toMatchObject([{ added: 0, rejected: [{ line: 2 }] }])
})

it('GET /admin/roster keeps a put for 31 days', async () => {
  const id = String(Date.now() - 32 * 86_400_000)
  await admin.redis.hset('{wb0}:roster:results', `put 7 ${id}`, JSON.stringify({ rejected: [], warnings: [] }))
  await admin.redis.hset('{wb0}:roster:replaced', `7 ${id}`, 'text')
  expect((await put('Van 12,,1,2099-11-20 06:00,\n')).status).toBe(200)
  expect(await admin.redis.hkeys('{wb0}:roster:replaced')).not.toContain(`7 ${id}`)
  expect(await admin.redis.hkeys('{wb0}:roster:results')).not.toContain(`put 7 ${id}`)
})

it('GET /admin/roster keeps the last 20 puts of a company', async () => {
  for (let n = 0; n < 22; n++) expect((await put(`Van 12,,${n},2099-11-20 06:00,\n`)).status).toBe(200)
  expect(await admin.redis.hlen('{wb0}:roster:replaced')).toBe(20)
  expect(await routesAt('2099-11-20 07:00')).toContain(`${VAN_12} 21`)
})

it.each(['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'application/octet-stream'])(
  'PUT /admin/routes takes an .xlsx spreadsheet as %s',
  async (type) => {
    const rows = [
      ['Fahrzeug', 'Tour', 'Von'],
      ['van 12', 4001, new SheetDate('2099-11-20 06:00')],
      ['Van 99', 4002, new SheetDate('2099-11-20 06:00')],
    ]
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': type }
    const body = zip(sheetFiles(rows))
    const { status, json } = await admin.ask(`/admin/routes?company_id=7&${DAY}`, { method: 'PUT', headers, body })
    expect([status, json]).toMatchObject([200, { added: 1, rejected: [{ line: 3 }] }])
    expect(await routesAt('2099-11-20 07:00')).toEqual([`${VAN_12} 4001`, BEFORE])
    const macros = zip({ ...sheetFiles(rows), 'xl/vbaProject.bin': 'x' })
    const refused = await admin.ask(`/admin/routes?company_id=7&${DAY}`, { method: 'PUT', headers, body: macros })
    expect([refused.status, refused.json]).toEqual([
      422,
      { message: 'the spreadsheet has macros: save it as .xlsx, which has none' },
    ])
  },
)

it('PUT /admin/routes with only_listed replaces only lines of the devices in the body', async () => {
  await put('Van 12,,1,2099-11-20 06:00,\nvan/15,,2,2099-11-20 06:00,\n')
  const { json } = await put('van/15,,3,2099-11-20 06:00,\n', `company_id=7&${DAY}&only_listed=true`)
  expect(json).toMatchObject({ added: 0, changed: 1, removed: 0 })
  expect(await routesAt('2099-11-20 07:00')).toEqual([`${VAN_12} 1`, BEFORE, 'van/15 3'])
})

it('PUT /admin/routes warns of two vans on one route, and of a line in the past', async () => {
  const { json } = await put('Van 12,,77,2099-11-20 06:00,\nvan/15,,77,2099-11-20 07:00,\n')
  expect(json).toMatchObject({
    warnings: [
      {
        line: 3,
        message: `route_id: devices ${VAN_12} and van/15 are on route 77 at the same time: both are pushed`,
      },
    ],
  })
  const past = await put('Van 12,,78,2020-11-20 06:00,\n', 'company_id=7&from=2020-11-20&until=2020-11-21')
  expect(past.json).toMatchObject({
    warnings: [
      {
        line: 2,
        message: 'until: this line ended before today: only fixes of that time follow it',
      },
    ],
  })
})
