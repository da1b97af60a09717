import { describe, expect, it } from 'vitest'
import { COMPANY, checked, folder, loadedFolder } from '../support/config-folder.ts'

const FLEET = {
  'gateway.yaml': `${COMPANY}time_zone: Europe/Berlin\n`,
  'devices.yaml': `"0356307042441013": { name: Van 12, company_id: 7, courier_id: 42 }
"356307042441014": { name: Van 14, company_id: 7, courier_id: 43 }
"356307042441015": { name: Van 14, company_id: 7 }
`,
}

async function lines(files: Record<string, string>) {
  const { routes } = await loadedFolder(await folder({ ...FLEET, ...files }))
  return routes.map(({ from, until, ...line }) => ({ ...line, from: iso(from), until: iso(until) }))
}

async function mistakes(text: string): Promise<string[]> {
  return (await checked({ ...FLEET, 'routes.csv': text })).mistakes
}

function onRoute(route: string): string {
  return `device,route_id,date\nVan 12,${route},2026-11-20\n`
}

function iso(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(':00.000', '')
}

const LINE = {
  device: '0356307042441013',
  courier_id: '42',
  route_id: '1002',
  from: '2026-11-20T05:00Z',
  until: '2026-11-20T19:00Z',
  source: 'routes.csv:2',
}

describe('routes.csv', () => {
  it.each([
    [',', 'device,courier_id,route_id,from,until\nVan 12,42,1002,2026-11-20 06:00,2026-11-20 20:00\n'],
    [';', 'device;courier_id;route_id;from;until\nVan 12;42;1002;2026-11-20 06:00;2026-11-20 20:00\n'],
    ['tab', 'device\tcourier_id\troute_id\tfrom\tuntil\nVan 12\t42\t1002\t2026-11-20 06:00\t2026-11-20 20:00\n'],
    [
      'BOM and CRLF',
      '\ufeffdevice,courier_id,route_id,from,until\r\nVan 12,42,1002,2026-11-20 06:00,2026-11-20 20:00\r\n',
    ],
    ['other columns first, in capitals', 'UNTIL,From,Route_ID,Device\n2026-11-20 20:00,2026-11-20 06:00,1002,Van 12\n'],
    [
      'quoted cells',
      '"device","courier_id","route_id","from","until"\n"Van 12","42","1002","2026-11-20 06:00","2026-11-20 20:00"',
    ],
  ])('routes.csv can have %s', async (_, text) => expect(await lines({ 'routes.csv': text })).toEqual([LINE]))

  it.each(['356307042441013', '0356307042441013', '000356307042441013'])(
    'routes.csv compares ids without leading zeros: %s',
    async (id) =>
      expect(
        await lines({
          'routes.csv': `device,courier_id,route_id,from,until\n${id},42,1002,2026-11-20 06:00,2026-11-20 20:00`,
        }),
      ).toEqual([LINE]),
  )

  it('a name in routes.csv applies to every device with this name', async () =>
    expect(
      (await lines({ 'routes.csv': 'device,courier_id,route_id,date\nVan 14,42,1,2026-11-20' })).map(
        ({ device }) => device,
      ),
    ).toEqual(['356307042441014', '356307042441015']))

  it('routes.csv keeps ids exactly', async () => {
    const text = 'device,courier_id,route_id,date\nVan 12,009223372036854775806,9223372036854775807,2026-11-20'
    expect(await lines({ 'routes.csv': text })).toMatchObject([
      { courier_id: '9223372036854775806', route_id: '9223372036854775807' },
    ])
  })

  it.each([
    ['RFC 3339', '2026-11-20T06:00:00Z,2026-11-20T14:00:00+01:00', '2026-11-20T06:00Z', '2026-11-20T13:00Z'],
    [
      'RFC 3339 with a space and small letters',
      '2026-11-20 06:00:00z,2026-11-20t14:00:00z',
      '2026-11-20T06:00Z',
      '2026-11-20T14:00Z',
    ],
    ['local time with T', '2026-11-20T06:00,2026-11-20T20:00:00', '2026-11-20T05:00Z', '2026-11-20T19:00Z'],
    ['summer time', '2026-07-20 06:00,2026-07-20 20:00', '2026-07-20T04:00Z', '2026-07-20T18:00Z'],
    ['the night when summer begins', '2026-03-29 01:00,2026-03-29 04:00', '2026-03-29T00:00Z', '2026-03-29T02:00Z'],
    ['the night when summer ends', '2026-10-25 01:00,2026-10-25 04:00', '2026-10-24T23:00Z', '2026-10-25T03:00Z'],
    ['midnight as 24:00', '2026-11-20 06:00,2026-11-20 24:00', '2026-11-20T05:00Z', '2026-11-20T23:00Z'],
    ['an empty until: the end of the local day', '2026-11-20 06:00,', '2026-11-20T05:00Z', '2026-11-20T23:00Z'],
    ['an empty until of a day in UTC', '2026-11-20T23:30:00Z,', '2026-11-20T23:30Z', '2026-11-21T23:00Z'],
    ['an empty until of a long day', '2026-10-25 00:00,', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
  ])('routes.csv is read with %s', async (_, cells, from, until) =>
    expect(await lines({ 'routes.csv': `device,route_id,from,until\nVan 12,1,${cells}` })).toMatchObject([
      { from, until },
    ]),
  )

  it('routes.csv reads a date as a local day, also with empty from and until', async () => {
    const text = 'device,route_id,date,from,until\nVan 12,1,2026-10-25,,\nVan 12,1,,2026-11-20 06:00,2026-11-20 07:00\n'
    expect(await lines({ 'routes.csv': text })).toMatchObject([
      { from: '2026-10-24T22:00Z', until: '2026-10-25T23:00Z' },
      { from: '2026-11-20T05:00Z', until: '2026-11-20T06:00Z' },
    ])
  })

  it('routes.csv is read together with every routes/*.csv', async () => {
    const files = {
      'routes.csv': onRoute('1'),
      'routes/b.csv': onRoute('3'),
      'routes/a.csv': onRoute('2'),
      'routes/notes.txt': 'x',
      'routes/.a.csv': 'x',
    }
    expect((await lines(files)).map(({ source, route_id }) => `${source} ${route_id}`)).toEqual([
      'routes.csv:2 1',
      'routes/a.csv:2 2',
      'routes/b.csv:2 3',
    ])
  })

  it('an empty routes.csv is accepted', async () => expect(await lines({ 'routes.csv': '' })).toEqual([]))
})

it.each([
  [
    'an unknown device',
    'Van 13,42,1,2026-11-20 06:00,',
    'device: no device has the id or the name "Van 13": did you mean Van 12?',
  ],
  ['no device', ',42,1,2026-11-20 06:00,', 'device: empty'],
  [
    'an id that a spreadsheet destroyed',
    '3.56307E+14,42,1,2026-11-20 06:00,',
    'device: "3.56307E+14" is an id that a spreadsheet has destroyed: format the column as text and enter the id again',
  ],
  [
    'a route that a spreadsheet destroyed',
    'Van 12,42,1.00E+12,2026-11-20 06:00,',
    'route_id: "1.00E+12" is an id that a spreadsheet has destroyed: format the column as text and enter the id again',
  ],
  ['no route', 'Van 12,42,,2026-11-20 06:00,', 'route_id: empty'],
  [
    'a route out of int64',
    'Van 12,42,9223372036854775808,2026-11-20 06:00,',
    'route_id: expected an id of at most 9223372036854775807, not "9223372036854775808"',
  ],
  [
    'a courier that is none',
    'Van 12,Bob,1,2026-11-20 06:00,',
    'courier_id: expected an id: a whole number from 0 to 9223372036854775807, not "Bob"',
  ],
  [
    'no courier, where the device has none',
    '356307042441015,,1,2026-11-20 06:00,',
    'courier_id: empty, but device 356307042441015 has no courier_id of its own',
  ],
  ['no from', 'Van 12,42,1,,', 'from: empty'],
  [
    'a from that is none',
    'Van 12,42,1,20th of November,',
    'from: expected a time such as 2026-11-20T06:00:00Z, or local such as 2026-11-20 06:00',
  ],
  [
    'a day that does not exist',
    'Van 12,42,1,2026-02-29 06:00,',
    'from: expected a time such as 2026-11-20T06:00:00Z, or local such as 2026-11-20 06:00',
  ],
  [
    'an until that is cut off',
    'Van 12,42,1,2026-11-20 06:00,2026-11-20 2',
    'until: expected a time such as 2026-11-20T06:00:00Z, or local such as 2026-11-20 06:00',
  ],
  ['an until at from', 'Van 12,42,1,2026-11-20 06:00,2026-11-20 06:00', 'until: not after from'],
  ['a cell too many', 'Van 12,42,1,2026-11-20 06:00,,x', '6 cells, but the header has 5'],
  ['a quotation mark out of place', '"Van 12,42,1,2026-11-20 06:00,', 'misplaced quotation mark'],
])('a bad line of routes.csv with %s is left out and reported, and the others take effect', async (_, bad, message) => {
  const text = `device,courier_id,route_id,from,until\n# comment\n${bad}\nVan 12,42,1002,2026-11-20 06:00,\n`
  expect(await mistakes(text)).toEqual([`routes.csv:3: ${message}`])
  const dir = await folder({ ...FLEET, 'routes.csv': text })
  const { routes, problems } = await loadedFolder(dir)
  expect(routes.map(({ source }) => source)).toEqual(['routes.csv:4'])
  expect(problems.filter(({ severity }) => severity === 'left_out').map(({ line }) => line)).toEqual([3])
})

it('a bad line of routes.csv with an invalid date is reported', async () =>
  expect(await mistakes('device,route_id,date\nVan 12,1,20.11.26\n')).toEqual([
    'routes.csv:2: date: expected a day such as 2026-11-20',
  ]))
it('a bad line of routes.csv with a date beside from is reported', async () =>
  expect(await mistakes('device,route_id,date,from\nVan 12,1,2026-11-20,2026-11-20 06:00\n')).toEqual([
    'routes.csv:2: date: cannot be combined with from or until',
  ]))

it.each([
  ['without route_id', 'device,from\n', ['routes.csv:1: route_id: this column is missing']],
  ['without from and date', 'device,route_id\n', ['routes.csv:1: from: this column is missing']],
  ['with a column twice', 'device,route_id,date,date\n', ['routes.csv:1: date: this column occurs twice']],
])('a header of routes.csv %s makes the file unusable', async (_, text, expected) =>
  expect(await mistakes(text)).toEqual(expected),
)

it('a header of routes.csv with an unknown column is a warning', async () => {
  const { mistakes: none, warnings } = await checked({ 'routes.csv': 'device,route_id,date,untli\n' })
  expect(none).toEqual([])
  expect(warnings).toEqual(['routes.csv:1: untli: unknown column: did you mean until?'])
})
