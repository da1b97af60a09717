import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Asked, gatewayIn, type Reply, TOKEN, waybridge } from '../support/cli.ts'
import { folder } from '../support/config-folder.ts'
import { SheetDate, sheetFiles, zip } from '../support/xlsx.ts'

const ROUTES = `device,courier_id,route_id,from,until
Van 12,42,1002,2025-11-20 06:00,2025-11-20 20:00
Van 31,43,1003,2025-11-21T22:30:00Z,
`
const LISTED = [
  { id: '12', name: 'Van 12', configured: true, company_id: '7', state: 'online' },
  {
    id: '31',
    name: 'Van 31',
    configured: true,
    company_id: '7',
    state: 'offline',
    condition: 'silent',
    last_heard: { at: '2020-01-01T18:42:10.000Z' },
  },
]
const ANSWER = { added: 2, changed: 1, removed: 3, rejected: [], without_route: ['12'], devices: 2 }
const SENTENCE = (verb: string) =>
  `1 of 2 devices ${verb} a route then; Van 12 has none; Van 31 is silent since 2020-01-01 18:42\n`

interface Setting {
  readonly put?: Reply | ((asked: Asked) => Reply)
  readonly listed?: object[]
  readonly text?: string | Buffer
  /** Time zone of the gateway. */
  readonly zone?: string
}

/** Starts an admin port, and makes a folder with routes.csv and a configuration with the address of the port. */
async function site({ put = { json: ANSWER }, listed = LISTED, text = ROUTES, zone = 'UTC' }: Setting = {}) {
  const answer = typeof put === 'function' ? put : () => put
  const server = await gatewayIn(zone, (asked) =>
    asked.method === 'PUT' ? answer(asked) : { json: { results: listed } },
  )
  const gateway = `admin: { port: ${server.port}, tokens: [${TOKEN}] }\n`
  const cwd = await folder({ 'config/gateway.yaml': gateway, 'routes.csv': text })
  return {
    cwd,
    asked: (): Asked[] => server.asked.filter(({ method }) => method === 'PUT'),
    /** Requests without dry runs. */
    done: (): Asked[] => server.asked.filter(({ method, query }) => method === 'PUT' && query.dry_run === undefined),
    routes: (...args: string[]) => waybridge(['routes', ...args], { cwd }),
  }
}

it('routes put sends the unchanged file for its local days, and reports the result', async () => {
  const { done, routes } = await site({ zone: 'Europe/Berlin' })
  expect(await routes('put', 'routes.csv')).toEqual({
    code: 0,
    out: `company 7, 2025-11-20 00:00 to 2025-11-22 00:00 (Europe/Berlin): 2 added, 1 changed, 3 removed\n${SENTENCE('has').replace('18:42', '19:42')}`,
    errors: '',
  })
  expect(done()).toEqual([
    {
      method: 'PUT',
      path: '/admin/routes',
      query: { company_id: '7', from: '2025-11-19T23:00:00.000Z', until: '2025-11-21T23:00:00.000Z' },
      headers: expect.objectContaining({ 'content-type': 'text/csv' }) as unknown,
      body: ROUTES,
    },
  ])
})

it('routes put sends every byte of the file', async () => {
  const text = `\ufeff${ROUTES.replaceAll(',', '\t').replaceAll('\n', '\r\n')}# äöü \u{1f690}\r\n`
  const { asked, routes } = await site({ text })
  expect((await routes('put', 'routes.csv')).code).toBe(0)
  expect(asked()[0].body).toBe(text)
})

it('routes put sends a spreadsheet', async () => {
  const rows = [
    ['Fahrzeug', 'Fahrer', 'Tour', 'Von', 'Bis'],
    ['Van 12', 42, 1002, new SheetDate('2025-11-20 06:00'), new SheetDate('2025-11-20 20:00')],
  ]
  const { done, routes } = await site({ text: zip(sheetFiles(rows)) })
  expect((await routes('put', 'routes.csv')).code).toBe(0)
  expect(done()[0].body).toBe('Fahrzeug,Fahrer,Tour,Von,Bis\nVan 12,42,1002,2025-11-20 06:00:00,2025-11-20 20:00:00')
  const macros = await site({ text: zip({ ...sheetFiles(rows), 'xl/vbaProject.bin': 'x' }) })
  expect(await macros.routes('put', 'routes.csv')).toEqual({
    code: 1,
    out: '',
    errors: 'routes.csv: the spreadsheet has macros: save it as .xlsx, which has none.\n',
  })
})

it('routes put takes company, interval and force from its options', async () => {
  const { done, routes } = await site({ listed: [], text: 'device,route_id,from\n' })
  const window = ['--from', '2025-11-20 06:00', '--until', '2025-11-21']
  const { out } = await routes('put', 'routes.csv', '--company', '8', '--force', ...window)
  expect(done()[0].query).toEqual({
    company_id: '8',
    from: '2025-11-20T06:00:00.000Z',
    until: '2025-11-21T00:00:00.000Z',
    force: 'true',
  })
  expect(out).toBe(
    'company 8, 2025-11-20 06:00 to 2025-11-21 00:00 (UTC): 2 added, 1 changed, 3 removed\n1 of 2 devices has a route then; 12 has none\n',
  )
})

it.each([
  [[3], 'routes.csv: line 3 is left out, all others are put: correct it and put the file again'],
  [[3, 5], 'routes.csv: lines 3 and 5 are left out, all others are put: correct them and put the file again'],
  [
    Array.from({ length: 11 }, (_, n) => n + 2),
    'routes.csv: lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 1 more are left out, all others are put: correct them and put the file again',
  ],
])('routes put ends with exit code 1 and names the lines %j that are left out', async (lines, sentence) => {
  const rejected = lines.map((line) => ({ line, message: 'device: no device has the id or the name "Van 31"' }))
  const { routes } = await site({ put: { json: { ...ANSWER, rejected } } })
  const { code, out } = await routes('put', 'routes.csv')
  expect([code, out.split('\n')[0], out.split('\n').at(-2)]).toEqual([
    1,
    `routes.csv:${lines[0]}: device: no device has the id or the name "Van 31"`,
    sentence,
  ])
})

it('routes put needs no --company if all devices of the file belong to one', async () => {
  const { asked, routes } = await site({ listed: [...LISTED, { id: '9', configured: true, company_id: '8' }] })
  expect((await routes('put', 'routes.csv')).code).toBe(0)
  expect(asked()[0].query.company_id).toBe('7')
})

it('routes put warns of lines that overlap', async () => {
  const warnings = [{ line: 3, message: 'from: overlaps line 2 for device 12: the later from wins' }]
  const { routes } = await site({ put: { json: { ...ANSWER, warnings } } })
  const { code, out } = await routes('put', 'routes.csv')
  expect([code, out.split('\n')[0]]).toEqual([
    0,
    'warning: routes.csv:3: from: overlaps line 2 for device 12: the later from wins',
  ])
})

const TAKES = [{ device: '12', name: 'Van 12', route_id: '1002' }]
const NARROWER = 'add --only-listed to leave the vans that are not in the file as they are, or --from and --until; add'

it.each([
  ['', 200, '--yes', `this takes the route from Van 12: ${NARROWER} --yes if it is meant`],
  [
    'most ',
    409,
    '--force',
    `this takes the route from most vans that have one: Van 12: ${NARROWER} --force if it is meant`,
  ],
])(
  'routes put puts nothing if %svans would lose their route, unless %3$s is given',
  async (_, status, option, sentence) => {
    const put = ({ query }: Asked) => ({ status: query.force ? 200 : status, json: { ...ANSWER, takes: TAKES } })
    const { done, routes } = await site({ put })
    const { code, out } = await routes('put', 'routes.csv')
    expect([code, out.split('\n').slice(-3), done()]).toEqual([1, [sentence, 'nothing is put', ''], []])
    expect((await routes('put', 'routes.csv', '--yes')).code).toBe(status === 200 ? 0 : 1)
    expect((await routes('put', 'routes.csv', option)).code).toBe(0)
    expect(done()).toHaveLength(status === 200 ? 2 : 1)
  },
)

it('routes put --only-listed replaces only lines of the devices in the file', async () => {
  const { done, routes } = await site()
  await routes('put', 'routes.csv', '--only-listed')
  expect(done()[0].query.only_listed).toBe('true')
})

it('routes put --from now replaces lines from now on', async () => {
  const { done, routes } = await site()
  const before = Math.floor(Date.now() / 1000) * 1000
  await routes('put', 'routes.csv', '--from', 'now', '--until', '2099-01-01')
  expect(Date.parse(done()[0].query.from)).toBeGreaterThanOrEqual(before)
  expect(Date.parse(done()[0].query.from)).toBeLessThanOrEqual(Date.now())
})

it.each([
  [
    { message: 'line 3: device: empty', errors: [{ path: 'line 3', message: 'device: empty' }] },
    'routes.csv:3: device: empty\n',
  ],
  [
    { message: 'until: not after from', errors: [{ path: 'until', message: 'not after from' }] },
    '--until: not after from\n',
  ],
  [
    { message: 'company_id: no', errors: [{ path: 'company_id', message: 'expected\u0000an id' }] },
    '--company: expected an id\n',
  ],
  [{ message: 'the body is not UTF-8' }, 'The admin port answers 422: the body is not UTF-8\n'],
])('routes put ends with exit code 1 if the file is refused: %j', async (json, out) => {
  const { routes } = await site({ put: { status: 422, json } })
  expect(await routes('put', 'routes.csv')).toEqual({ code: 1, out, errors: '' })
})

const DAYS = `device,courier_id,route_id,from,until
Van 12,42,1002,2025-11-21 06:00,2025-11-21 20:00
Van 12,42,1003,2025-11-24 06:00,2025-11-24 20:00
Van 31,42,1004,noon,
Van 31,43,1005,2025-11-22 23:00,2025-11-23 02:00
`
const WEEKEND = '2025-11-21 00:00 to 2025-11-23 00:00'
const MONDAY = '2025-11-24 00:00 to 2025-11-25 00:00'
const FIRST = { from: '2025-11-21T00:00:00.000Z', until: '2025-11-23T00:00:00.000Z' }
const SECOND = { from: '2025-11-24T00:00:00.000Z', until: '2025-11-25T00:00:00.000Z' }

/** Gives this answer after Monday was put, and success otherwise. */
function withMonday(reply: Reply): (asked: Asked) => Reply {
  return ({ query }) => (query.from === SECOND.from && !query.dry_run ? reply : { json: ANSWER })
}

it('routes put puts a file with gaps between its days in one run for each group of days, after a dry run of all', async () => {
  const { asked, routes } = await site({ text: DAYS })
  expect(await routes('put', 'routes.csv')).toEqual({
    code: 0,
    out: [
      `company 7, ${WEEKEND} (UTC): 2 added, 1 changed, 3 removed`,
      '1 of 2 devices has a route then; Van 12 has none',
      `company 7, ${MONDAY} (UTC): 2 added, 1 changed, 3 removed`,
      SENTENCE('has'),
    ].join('\n'),
    errors: '',
  })
  const [header, friday, monday, unread, saturday] = DAYS.split('\n')
  expect(asked().map(({ query, body }) => ({ query, body: body.split('\n') }))).toEqual(
    [{ dry_run: 'true' }, {}].flatMap((dry) => [
      { query: { company_id: '7', ...FIRST, ...dry }, body: [header, friday, '', unread, saturday, ''] },
      { query: { company_id: '7', ...SECOND, ...dry }, body: [header, '', monday, '', '', ''] },
    ]),
  )
})

it('routes put keeps the bytes of the lines in each run', async () => {
  const text = `\ufeff${DAYS.replaceAll('\n', '\r\n').replaceAll('Van 31', 'V\u00e4n \u{1f690}')}`
  const { asked, routes } = await site({ text })
  await routes('check', 'routes.csv')
  const [header, friday, , unread, saturday] = text.split('\r\n')
  expect(asked()[0].body).toBe([header, friday, '', unread, saturday, ''].join('\r\n'))
})

it('routes put keeps the header in each run, even with an unknown column', async () => {
  const text = DAYS.replaceAll(/,until$|(?<=:00|noon,)$/gm, '$&,x')
  const { asked, routes } = await site({ text })
  await routes('check', 'routes.csv')
  const header = 'device,courier_id,route_id,from,until,x'
  expect(asked().map(({ body }) => body.split('\n')[0])).toEqual([header, header])
})

it('routes put reads the dates of all runs in the order that one of them shows', async () => {
  const text = 'Fahrzeug;Route;Von\nVan 12;1002;05/11/2025 6:00\n"Van 31";1003;"22/11/2025 06:00"\n'
  const { done, routes } = await site({ text })
  expect((await routes('put', 'routes.csv')).code).toBe(0)
  expect(done().map(({ body }) => body)).toEqual([
    'Fahrzeug;Route;Von\nVan 12;1002;2025-11-05 06:00\n\n',
    'Fahrzeug;Route;Von\n\n"Van 31";1003;"2025-11-22 06:00"\n',
  ])
})

it('routes put puts a file with gaps as one interval if the options give one', async () => {
  const { done, routes } = await site({ text: DAYS })
  expect((await routes('put', 'routes.csv', '--until', '2025-11-26')).code).toBe(0)
  expect(done().map(({ query, body }) => ({ query, body }))).toEqual([
    { query: { company_id: '7', from: FIRST.from, until: '2025-11-26T00:00:00.000Z' }, body: DAYS },
  ])
})

it('routes check checks a file with gaps run by run', async () => {
  const { asked, routes } = await site({ text: DAYS })
  expect((await routes('check', 'routes.csv')).out.split('\n')).toEqual([
    `company 7, ${WEEKEND} (UTC) would have 2 added, 1 changed, 3 removed`,
    '1 of 2 devices would have a route then; Van 12 has none',
    `company 7, ${MONDAY} (UTC) would have 2 added, 1 changed, 3 removed`,
    SENTENCE('would have').trimEnd(),
    '',
  ])
  expect(asked().map(({ query }) => query.dry_run)).toEqual(['true', 'true'])
})

it.each([
  [{ status: 404, json: { message: 'no' } }, `company 7, ${MONDAY} (UTC): The admin port answers 404: no`],
  [{ status: 422, json: { errors: [{ path: 'line 3', message: 'device: no' }] } }, 'routes.csv:3: device: no'],
])('routes put puts nothing if one run would be refused: %j', async (refusal, sentence) => {
  const { asked, routes } = await site({
    text: DAYS,
    put: ({ query }) => (query.from === SECOND.from ? refusal : { json: ANSWER }),
  })
  const { code, out } = await routes('put', 'routes.csv')
  expect([code, out.split('\n').slice(-3)]).toEqual([1, [sentence, 'nothing is put', '']])
  expect(asked().map(({ query }) => query.dry_run)).toEqual(['true', 'true'])
})

it('routes put says what was put and what was not if a later run is refused', async () => {
  const { routes } = await site({ text: DAYS, put: withMonday({ status: 503, json: { message: 'full' } }) })
  const { code, out } = await routes('put', 'routes.csv')
  expect([code, out.split('\n').slice(-3)]).toEqual([
    1,
    [`company 7, ${MONDAY} (UTC): The admin port answers 503: full`, `put: ${WEEKEND}; not put: ${MONDAY}`, ''],
  ])
})

it('routes put says what was put and what was not if an answer is missing', async () => {
  const { routes } = await site({ text: DAYS, put: withMonday({ cut: true }) })
  const { code, errors } = await routes('put', 'routes.csv')
  expect([code, errors]).toEqual([
    1,
    expect.stringMatching(`^Nothing answers at .* put: ${WEEKEND}; not put, or not known to be: ${MONDAY}\n$`),
  ])
})

it('check of a configuration says that it ignores lines that were put', async () => {
  const cwd = await folder({ 'config/gateway.yaml': '' })
  expect(await waybridge(['check'], { cwd })).toEqual({
    code: 0,
    out: 'config: no mistakes\nWhat was put through the admin port is not looked at: `waybridge routes check FILE` compares with that.\n',
    errors: '',
  })
})

it('routes check sends a dry run, and does not change the file', async () => {
  const { cwd, asked, routes } = await site()
  expect(await routes('check', 'routes.csv')).toEqual({
    code: 0,
    out: `company 7, 2025-11-20 00:00 to 2025-11-22 00:00 (UTC) would have 2 added, 1 changed, 3 removed\n${SENTENCE('would have')}`,
    errors: '',
  })
  expect(asked()[0].query.dry_run).toBe('true')
  expect(await readFile(join(cwd, 'routes.csv'), 'utf8')).toBe(ROUTES)
})

it('routes check ends with exit code 1 if a line is rejected', async () => {
  const { routes } = await site({ put: { json: { ...ANSWER, rejected: [{ line: 2, message: 'no' }] } } })
  const { code, out } = await routes('check', 'routes.csv')
  expect([code, out.split('\n')[0]]).toEqual([1, 'routes.csv:2: no'])
})

it('routes check ends with exit code 1 if the file would be refused', async () => {
  const { routes } = await site({ put: { status: 409, json: { message: 'no', ...ANSWER } } })
  expect((await routes('check', 'routes.csv')).code).toBe(1)
})

it('routes check has no option --force', async () => {
  const { code, errors } = await (await site()).routes('check', 'routes.csv', '--force')
  expect([code, errors.split('\n')[0]]).toEqual([1, "error: unknown option '--force'"])
})

it.each([
  ['put', 'none.csv', {}, 'none.csv: there is no such file.'],
  ['put', 'config', {}, 'config: cannot be read (EISDIR).'],
  [
    'put',
    'routes.csv',
    { text: '' },
    'routes.csv: the file has no lines; give --from and --until of the lines to replace.',
  ],
  [
    'put',
    'routes.csv',
    { text: Buffer.from(`\ufeff${ROUTES}`, 'utf16le') },
    'routes.csv:1: not UTF-8: save the file as "CSV UTF-8"',
  ],
  ['check', 'routes.csv', { text: 'van,route_id\n' }, 'routes.csv:1: device: this column is missing'],
  [
    'check',
    'routes.csv',
    { text: 'device,route_id,date\n3.56307E+14,1,2025-11-20\n' },
    'routes.csv:2: device: "3.56307E+14" is an id that a spreadsheet has destroyed: format the column as text and enter the id again',
  ],
  [
    'put',
    'routes.csv',
    { listed: [LISTED[0], { ...LISTED[1], company_id: '8' }] },
    'Name the company of these routes with --company: there are 7 and 8.',
  ],
  [
    'put',
    'routes.csv',
    {
      listed: [
        { ...LISTED[0], company_id: '9007199254740993' },
        { ...LISTED[1], company_id: '10' },
        { id: '3', configured: true, company_id: '7' },
      ],
    },
    'Name the company of these routes with --company: there are 10 and 9007199254740993.',
  ],
  [
    'put',
    'routes.csv',
    { listed: [] },
    'Name the company of these routes with --company: no device is configured yet.',
  ],
] as const)('routes %s reports what it cannot send with exit code 1: %s', async (act, file, setting, sentence) => {
  const { asked, routes } = await site(setting as Setting)
  const { code, out, errors } = await routes(act, file)
  expect([code, out]).toEqual([1, ''])
  expect(errors.split('\n')[0]).toBe(sentence)
  expect(asked()).toEqual([])
})
