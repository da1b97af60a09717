import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { keys } from '../../src/store/index.ts'
import { type Answer, adminFixture, DEVICES, READ_TOKEN, TOKEN, VAN_14_LANE } from '../support/admin.ts'

const admin = adminFixture()
const VAN_12 = '0356307042441013'
const VAN_14 = '356307042441014'
const DAY = 'from=2099-11-20&until=2099-11-21'
/** For a day other than today, a device must have a route on the whole day, not now. */
const FUTURE = '2099-11-20'
const HEADER = 'device,courier_id,route_id,from,until\n'
/** Line of routes.csv of the fixture. */
const FILE_LINE = { device: VAN_14, name: 'Van 14', ...VAN_14_LANE }

// Earlier puts are no longer in effect after Redis was emptied.
beforeEach(() => vi.waitFor(async () => expect(await lines()).toEqual([FILE_LINE]), { timeout: 30_000 }))

async function lines(query = ''): Promise<unknown> {
  return ((await admin.ask(`/admin/routes?${query}`)).json as { results: unknown }).results
}

function put(body: string | Buffer, query = `company_id=7&${DAY}`, type = 'text/csv', token = TOKEN): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': type }
  return admin.ask(`/admin/routes?${query}`, { method: 'PUT', headers, body })
}

/** Returns the routes in effect at a time. */
async function routesAt(time: string): Promise<string[]> {
  const found = (await lines(`at=${encodeURIComponent(time)}`)) as { route_id: string }[]
  return found.map(({ route_id }) => route_id)
}

function errors(...all: [path: string, message: string][]) {
  return all.map(([path, message]) => ({ path, message }))
}

const LINE = 'Van 12,42,1002,2099-11-20 06:00,2099-11-20 20:00\n'
const PUT_LINE = {
  device: VAN_12,
  name: 'Van 12',
  company_id: '7',
  courier_id: '42',
  route_id: '1002',
  from_at: '2099-11-20T06:00:00.000Z',
  until_at: '2099-11-20T20:00:00.000Z',
  source: expect.stringMatching(/^admin 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
}
const ANSWER = { added: 1, changed: 0, removed: 0, rejected: [], without_route: [], devices: 3 }
const PUT_ANSWER = { ...ANSWER, put: expect.stringMatching(/^\d{13}$/) as unknown }

it('PUT /admin/routes puts lines, which are in effect when it answers', async () => {
  const { status, json } = await put(HEADER + LINE)
  expect([status, json]).toEqual([200, PUT_ANSWER])
  expect(await lines()).toEqual([FILE_LINE, PUT_LINE])
})

it('PUT /admin/routes is in the audit log with its changes', async () => {
  await put(HEADER + LINE)
  const { json } = await admin.ask('/admin/audit')
  expect(json).toMatchObject({
    results: [
      {
        token: 'admin.tokens[1]',
        role: 'operate',
        method: 'PUT',
        path: `/admin/routes?company_id=7&${DAY}`,
        operation: '/admin/routes',
        status: 200,
        summary: { added: 1, changed: 0, removed: 0, rejected: 0 },
      },
    ],
  })
})

it('PUT /admin/routes replaces the previous put, and says what was added, changed and removed', async () => {
  await put(`${HEADER}Van 12,42,1,2099-11-20 06:00,\nVan 14,43,2,2099-11-20 06:00,\nvan/15,,3,2099-11-20 06:00,\n`)
  const { json } = await put(
    `${HEADER}Van 12,42,1,2099-11-20 06:00,\nVan 14,43,9,2099-11-20 06:00,\nVan 12,42,4,2099-11-20 21:00,\n`,
  )
  expect(json).toMatchObject({ added: 1, changed: 1, removed: 1 })
  expect(await lines()).toHaveLength(4)
})

it.each([
  [
    'a header in another order',
    'until;route_id;device;from;courier_id\n2099-11-20 20:00;1002;Van 12;2099-11-20 06:00;42',
  ],
  ['tabs, CRLF and a BOM', `\uFEFF${(HEADER + LINE).replaceAll(',', '\t').replaceAll('\n', '\r\n')}`],
  ['a comment and empty lines', `# tomorrow\n\n${HEADER}\n${LINE}\n`],
  ['RFC 3339', `${HEADER}${VAN_12},42,1002,2099-11-20T08:00:00+02:00,2099-11-20T20:00:00Z`],
])('PUT /admin/routes accepts %s', async (_, body) => {
  expect(await put(body)).toMatchObject({ status: 200, json: ANSWER })
  expect(await lines('company_id=7&at=2099-11-20 07:00')).toEqual([PUT_LINE, FILE_LINE].toReversed())
})

it('PUT /admin/routes accepts title lines, an extra column with a warning, and times with AM and PM', async () => {
  const body =
    'Roster of Friday;;;;;\nNorth\n\nVehicle;Driver;Route;Start;End;Phone\n' +
    'Van 12;42;1002;11/20/2099 6:00 AM;11/20/2099 8:00 PM;0151\nVan 99;42;1;11/20/2099 6:00 AM;;\n'
  const { status, json } = await put(body)
  expect([status, json]).toMatchObject([
    200,
    { added: 1, warnings: [{ line: 4, message: 'phone: this column is not read' }], rejected: [{ line: 6 }] },
  ])
  expect(await lines('company_id=7&at=2099-11-20 07:00')).toEqual([FILE_LINE, PUT_LINE])
})

it('PUT /admin/routes accepts JSON, also as GET answers it, and keeps all digits of ids', async () => {
  const json = `[{"device":"Van 12","courier_id":9223372036854775807,"route_id":"9007199254740993","from":"2099-11-20 06:00","until":null}]`
  expect(await put(json, undefined, 'application/json')).toMatchObject({ status: 200, json: ANSWER })
  const got = await admin.ask('/admin/routes?company_id=7')
  expect(got.json).toMatchObject({
    results: [{}, { courier_id: '9223372036854775807', route_id: '9007199254740993' }],
  })
  const again = await put(got.text, 'company_id=7&from=2020-01-01&until=2127-01-01', 'application/json')
  expect(again.json).toMatchObject({ added: 0, changed: 0, removed: 0, rejected: [] })
})

it('GET /admin/routes lists the lines of one device, by its id with or without leading zeros, or by its name', async () => {
  await put(HEADER + LINE)
  for (const device of [VAN_12, VAN_12.slice(1), 'Van 12', 'van 12'])
    for (const more of ['', '&at=2099-11-20 07:00']) expect(await lines(`device=${device}${more}`)).toEqual([PUT_LINE])
  expect(await lines(`device=${VAN_14}`)).toEqual([FILE_LINE])
  expect(await lines('device=356307042441999')).toEqual([])
})

it('GET /admin/routes refuses times in between if the end is before the begin', async () => {
  const { status, json } = await admin.ask('/admin/routes?from=2099-11-21&until=2099-11-20')
  expect([status, json]).toMatchObject([422, { errors: errors(['until', 'not after from']) }])
})

it('PUT /admin/routes lists the devices without a route by name, with unnamed ones last', async () => {
  const authorization = `Bearer ${TOKEN}`
  const entries = [['1', 'Q2'], ['2'], ['3', 'Q10'], ['4', 'Q1']] as const
  for (const [id, name] of entries) {
    const body = JSON.stringify({ company_id: 7, name })
    const headers = { authorization, 'content-type': 'application/json' }
    expect((await admin.ask(`/admin/devices/${id}`, { method: 'PUT', headers, body })).status).toBe(200)
  }
  expect((await put(HEADER)).json).toMatchObject({ without_route: ['4', '3', '1', '2'] })
})

it('PUT /admin/routes leaves out bad lines with a reason, and the other lines take effect', async () => {
  const body = [
    HEADER.trim(),
    'Van 99,42,1,2099-11-20 06:00,',
    LINE.trim(),
    'Van 12,42,0x1,2099-11-20 06:00,',
    '3.56307E+14,42,1,2099-11-20 06:00,',
    'Van 14,43,1,2099-11-21 06:00,',
    'Van 14,43,"1,2099-11-20 06:00,',
  ]
  const { status, json } = await put(body.join('\n'))
  expect([status, json]).toEqual([
    200,
    {
      ...PUT_ANSWER,
      rejected: [
        { line: 2, device: 'Van 99', message: 'device: no device has the id or the name "Van 99"' },
        {
          line: 4,
          device: 'Van 12',
          message: expect.stringMatching(/^route_id: expected an id: a whole number from 0 to \d+, not "\w+"$/),
        },
        {
          line: 5,
          device: '3.56307E+14',
          message:
            'device: "3.56307E+14" is an id that a spreadsheet has destroyed: format the column as text and enter the id again',
        },
        { line: 6, device: 'Van 14', message: 'from: not within from and until of the request' },
        { line: 7, message: 'misplaced quotation mark' },
      ],
    },
  ])
  expect(await lines()).toEqual([FILE_LINE, PUT_LINE])
})

it('PUT /admin/routes warns of lines that overlap for one device', async () => {
  const { status, json } = await put(
    [
      HEADER.trim(),
      'Van 12,42,1,2099-11-20 06:00,2099-11-20 20:00',
      'Van 14,43,2,2099-11-20 12:00,2099-11-20 20:00',
      `${VAN_12},42,3,2099-11-20 08:00,2099-11-20 10:00`,
      'Van 12,42,4,2099-11-20 08:00,2099-11-20 09:00',
    ].join('\n'),
  )
  expect([status, json]).toEqual([
    200,
    {
      ...PUT_ANSWER,
      added: 3,
      warnings: [
        { line: 4, message: `from: overlaps line 2 for device ${VAN_12}: the later from wins` },
        { line: 5, message: `from: overlaps line 4 for device ${VAN_12}: of the same from the later line wins` },
      ],
    },
  ])
  expect(await routesAt('2099-11-20T08:30:00Z')).toEqual(['2001', '4'])
})

it('PUT /admin/routes accepts a header with a delimiter behind its last column', async () => {
  expect(await put((HEADER + LINE).replaceAll('\n', ',\n'))).toMatchObject({ status: 200, json: ANSWER })
})

it.each([TOKEN, READ_TOKEN])(
  'PUT /admin/routes with dry_run changes nothing, also for a token that may only read: %s',
  async (token) => {
    const { status, json } = await put(HEADER + LINE, `company_id=7&${DAY}&dry_run=true`, undefined, token)
    const { courier_id, route_id, from_at, until_at } = PUT_LINE
    const changes = [
      { device: VAN_12, name: 'Van 12', before: [], after: [{ courier_id, route_id, from_at, until_at }] },
    ]
    expect([status, json]).toEqual([200, { ...ANSWER, changes }])
    expect(await lines()).toEqual([FILE_LINE])
    expect((await admin.ask('/admin/audit')).json).toEqual({ results: [] })
  },
)

it('PUT /admin/routes refuses a roster that takes the route from most devices, unless it is forced', async () => {
  onTestFinished(() => writeFile(join(admin.dir, 'devices.yaml'), DEVICES))
  // A file that took the route from them would be refused.
  for (const id of [VAN_12, VAN_14, 'van%2F15'])
    await admin.ask(`/admin/devices/${id}`, { method: 'DELETE', headers: { authorization: `Bearer ${TOKEN}` } })
  await writeFile(
    join(admin.dir, 'devices.yaml'),
    ['1', '2', '3'].map((id) => `${id}: { company_id: 7, courier_id: 4 }`).join('\n'),
  )
  await vi.waitFor(async () => expect((await admin.ask('/admin/devices/3')).status).toBe(200), { timeout: 30_000 })
  const query = `company_id=7&from=${FUTURE}&until=2099-11-21`
  const all = ['1', '2', '3'].map((id) => `${id},,1${id},${FUTURE} 06:00,\n`).join('')
  expect(await put(HEADER + all, query)).toMatchObject({ json: { added: 3, without_route: [] } })
  const cut = `${HEADER}1,,11,${FUTURE} 06:00,\n`
  const { status, json } = await put(cut, query)
  expect([status, json]).toEqual([
    409,
    {
      message:
        'this would take the route from 2 of the 3 devices that have one: nothing is changed; if the others are to keep theirs, narrow it with only_listed=true or another from and until; send it with force=true only if it is meant',
      takes: ['2', '3'].map((id) => ({
        device: id,
        route_id: `1${id}`,
        from_at: `${FUTURE}T06:00:00.000Z`,
        until_at: '2099-11-21T00:00:00.000Z',
      })),
      added: 0,
      changed: 0,
      removed: 2,
      rejected: [],
      without_route: ['2', '3'],
      devices: 3,
    },
  ])
  expect(await lines()).toHaveLength(3)
  expect((await put(HEADER, query)).status).toBe(409)
  expect(await put(cut, `${query}&force=true`)).toMatchObject({ status: 200, json: { removed: 2 } })
  expect(await lines()).toHaveLength(1)
})

it.each([
  ['an empty body', '', 'the body is empty: send a roster, a header at least'],
  ['a body of blanks', ' \r\n', 'the body is empty: send a roster, a header at least'],
  [
    'Latin-1',
    Buffer.from('device,route_id,from\nL\xfcck,1,2099-11-20 06:00', 'latin1'),
    'the body is not UTF-8: save the file as "CSV UTF-8"',
  ],
  ['5 MB', `${HEADER}${' '.repeat(5_000_000)}`, 'the body must be at most 4194304 bytes'],
])('PUT /admin/routes answers 422 to %s', async (_, body, message) => {
  expect(await put(body)).toMatchObject({ status: 422, json: { message } })
  expect(await lines()).toEqual([FILE_LINE])
})

it('PUT /admin/routes answers 422 to a header without a required column', async () => {
  expect(await put('device;courier_id\nVan 12;42\n')).toMatchObject({
    status: 422,
    json: {
      errors: errors(['line 1', 'route_id: this column is missing'], ['line 1', 'from: this column is missing']),
    },
  })
})

it.each([
  ['a column that routes.csv does not have', 'untill', 'untill: unknown column: did you mean until?'],
  ['65 columns', ','.repeat(60), 'more than 64 columns'],
])('PUT /admin/routes answers 422 at the header line to %s', async (_, column, message) => {
  const body = `# today\ndevice,courier_id,route_id,from,${column}\nVan 12,42,1002,2099-11-20 06:00,\n`
  expect(await put(body)).toMatchObject({ status: 422, json: { errors: errors(['line 2', message]) } })
  expect(await lines()).toEqual([FILE_LINE])
})

it('PUT /admin/routes answers 422 to an unknown column that may be meant for a missing one', async () => {
  const body = `device,route_id,from,until,Zusteller\nVan 12,1002,2099-11-20 06:00,,42\n`
  expect(await put(body)).toMatchObject({
    status: 422,
    json: { message: expect.stringContaining('zusteller: unknown column') as unknown },
  })
  expect(await lines()).toEqual([FILE_LINE])
})

it('PUT /admin/routes answers 422 to more lines than any roster has', async () =>
  expect(await put(HEADER + 'x\n'.repeat(200_000))).toMatchObject({
    status: 422,
    json: { message: 'the body must have at most 200000 lines' },
  }))

it('PUT /admin/routes answers 422 and removes nothing if none of its lines is right', async () => {
  await put(HEADER + LINE)
  const { status, json } = await put(`${HEADER}Van 99,42,1,2099-11-20 06:00,\n`)
  expect([status, json]).toEqual([
    422,
    {
      message: 'line 2: device: no device has the id or the name "Van 99"',
      errors: errors(['line 2', 'device: no device has the id or the name "Van 99"']),
    },
  ])
  expect(await lines()).toEqual([FILE_LINE, PUT_LINE])
})

it.each([
  ['malformed JSON', '[{', /^the body is not JSON: /],
  ['two million arrays in one another', '['.repeat(2_000_000), /^the body is not JSON: /],
  ['an object', '{"device":"Van 12"}', /^expected an array of objects with the columns of routes.csv$/],
  ['null', 'null', /^expected an array of objects/],
  ['entries of another type', '[5]', /^line 1: expected an object$/],
  ['a page of what GET answers', '{"results":[],"next_page_token":"x"}', /^this is one page of the list: send /],
  [
    'entries with a key that nobody reads',
    '[{"device":"Van 12","route_id":1,"from":"2099-11-20"},{"device":"Van 12","route_id":1,"from":"2099-11-21","Until":null}]',
    /^line 2: Until: unknown key: did you mean until\?$/,
  ],
  ['200,001 entries', `[${'0,'.repeat(200_000)}0]`, /^the body must have at most 200000 entries$/],
  [
    'a field of another type',
    '[{"device":["Van 12"],"route_id":1,"from":"2099-11-20"}]',
    /^line 1: device: expected text$/,
  ],
])('PUT /admin/routes answers 422 to JSON that is %s', async (_, body, message) => {
  expect(await put(body, undefined, 'application/json')).toMatchObject({
    status: 422,
    json: { message: expect.stringMatching(message) },
  })
})

it.each([
  [422, DAY, 'company_id: missing: the company whose lines these are'],
  [422, `company_id=x&${DAY}`, 'company_id: expected an integer from 0 to 9223372036854775807'],
  [404, `company_id=9&${DAY}`, 'there is no company 9 in gateway.yaml'],
  [422, 'company_id=7&until=2099-11-21', 'from: missing: lines that begin from this time on are replaced'],
  [422, `company_id=7&company_id=7&${DAY}`, 'company_id: needed once: the company whose lines these are'],
  [422, `from=2099-11-21&company_id=7&${DAY}`, 'from: needed once: lines that begin from this time on are replaced'],
  [422, 'company_id=7&from=2099-11-20&until=2099-11-20', 'until: not after from'],
  [
    422,
    'company_id=7&from=soon&until=2099-11-20',
    'from: expected a time such as 2026-11-20T06:00:00Z, local such as 2026-11-20 06:00, or a day',
  ],
  [422, `company_id=7&${DAY}&force=yes`, 'force: expected true or false'],
  [
    422,
    `company_id=7&${DAY}&dry-run=true`,
    'dry-run: unknown: expected company_id, from, until, redeliver, dry_run, force and only_listed alone',
  ],
])('PUT /admin/routes answers %s to ?%s', async (status, query, message) => {
  expect(await put(HEADER + LINE, query)).toMatchObject({ status, json: { message } })
  expect(await lines()).toEqual([FILE_LINE])
})

it('PUT /admin/routes answers 415 to another content type', async () => {
  const { status, json } = await put('<roster/>', undefined, 'application/xml')
  expect([status, json]).toEqual([
    415,
    { message: 'send the roster as text/csv, as an .xlsx spreadsheet, or as application/json' },
  ])
})

it.each(['', '&dry_run=false', '&dry_run=true&dry_run=false', '&dry_run=TRUE', '&force=true'])(
  'PUT /admin/routes answers 403 to a token that may only read, also with %s',
  async (more) => {
    const { status, json } = await put(HEADER + LINE, `company_id=7&${DAY}${more}`, undefined, READ_TOKEN)
    const message =
      'this token may only read: PUT needs a token with the role operate; the log of the start says where the tokens are'
    expect([status, json]).toEqual([403, { message }])
    expect(await lines()).toEqual([FILE_LINE])
  },
)

it('GET /admin/routes with from and until lists the lines that hold at some time in between', async () => {
  await put(HEADER + LINE)
  expect(await lines(DAY)).toEqual([FILE_LINE, PUT_LINE])
  expect(await lines('from=2099-11-20T19:59:59Z&until=2099-11-22')).toEqual([FILE_LINE, PUT_LINE])
  expect(await lines('from=2099-11-20T20:00:00Z&until=2099-11-22')).toEqual([FILE_LINE])
  expect(await lines('until=2099-11-20T06:00:00Z')).toEqual([FILE_LINE])
  expect(await lines('from=2121-01-01&company_id=7')).toEqual([])
})

it('PUT /admin/routes with dry_run shows for each van the lines removed and added', async () => {
  await put(HEADER + LINE)
  const other = LINE.replace('1002', '1003')
  const { json } = await put(HEADER + other, `company_id=7&${DAY}&dry_run=true`)
  const { changes } = json as {
    changes: { device: string; before: { route_id: string }[]; after: { route_id: string }[] }[]
  }
  const routes = changes.map(({ device, before, after }) => [device, before[0]?.route_id, after[0]?.route_id])
  expect(routes).toEqual([[VAN_12, '1002', '1003']])
})

it('GET /admin/routes has pages', async () => {
  await put(HEADER + LINE)
  const { json } = await admin.ask('/admin/routes?max_results=1')
  const { results, next_page_token } = json as { results: unknown; next_page_token: string }
  expect(results).toEqual([FILE_LINE])
  expect(await lines(`max_results=1&page_token=${next_page_token}`)).toEqual([PUT_LINE])
})

it('GET /admin/routes has pages also between lines that differ only in the courier', async () => {
  await put(HEADER + LINE + LINE.replace(',42,', ',43,'))
  const { json } = await admin.ask('/admin/routes?max_results=2')
  const { next_page_token } = json as { next_page_token: string }
  expect(await lines(`page_token=${next_page_token}`)).toEqual([{ ...PUT_LINE, courier_id: '43' }])
})

it('GET /admin/routes with at lists the lines in effect at that time, without the ones they override', async () => {
  await put(`${HEADER}Van 14,43,9,2099-11-20 06:00,2099-11-20 08:00\n`)
  expect([
    await routesAt('2099-11-20T05:59:59Z'),
    await routesAt('2099-11-20 06:00'),
    await routesAt('2099-11-20T09:59:59+02:00'),
  ]).toEqual([['2001'], ['9'], ['9']])
  expect(await routesAt('2099-11-20')).toEqual(['2001'])
})

it.each([
  ['at=soon', 'at: expected a time such as'],
  ['at=2026-11-20T06:00:00%2B25:00', 'at: expected a time such as'],
  ['company_id=-1', 'company_id: expected an integer'],
  ['max_results=0', 'max_results: expected a whole number from 1 to 1000'],
])('GET /admin/routes answers 422 to ?%s', async (query, message) => {
  const answer = await admin.ask(`/admin/routes?${query}`)
  expect(answer).toMatchObject({ status: 422, json: { message: expect.stringContaining(message) } })
})

it('PUT /admin/routes answers 200 with its changes if Redis is lost before every gateway has them', async () => {
  await admin.redis.sadd(keys.gatewayIds, 'slow')
  await admin.redis.set(keys.gateway('slow'), '[]')
  const before = admin.live.version()
  const answer = put(HEADER + LINE)
  await expect.poll(() => admin.live.version(), { interval: 10 }).toBeGreaterThan(before)
  await admin.server.kill('SIGKILL')
  onTestFinished(() => admin.server.restart())
  const { status, json } = await answer
  expect([status, json]).toEqual([200, PUT_ANSWER])
})
