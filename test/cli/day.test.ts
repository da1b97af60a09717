import { expect, it } from 'vitest'
import type { DaySheetJson, DaysJson } from '../../src/admin/schemas/days.ts'
import { answering, STATUS, waybridge } from '../support/cli.ts'

const GAP = {
  from_at: '2026-11-20T07:00:00.000Z',
  until_at: '2026-11-20T09:10:00.000Z',
  min: 130,
  reason: 'not_connected',
  message: 'nothing came that was readable and known to be its own',
  device: 'van-12',
} as const
const SHEET: DaySheetJson = {
  company_id: '7',
  courier_id: '42',
  route_id: '1003',
  day: '2026-11-20',
  devices: ['van-12'],
  planned: [{ from_at: '2026-11-20T05:00:00.000Z', until_at: '2026-11-20T13:00:00.000Z' }],
  planned_min: 480,
  covered_min: 350,
  share: 0.7291,
  first_fix_at: '2026-11-20T05:00:00.000Z',
  start_delay_min: 0,
  last_fix_at: '2026-11-20T12:59:00.000Z',
  fixes: 2100,
  late_fixes: 3,
  delay_p50_s: 1.2,
  delay_p95_s: 4,
  longest_gap_min: 130,
  gaps: [GAP],
  by_reason: { not_connected: 130 },
  redelivered: 412,
}
const WHOLE = { ...SHEET, route_id: '1004', covered_min: 480, share: 1, longest_gap_min: 0, gaps: [], by_reason: {} }
const DAY = {
  day: '2026-11-20',
  time_zone: 'Europe/Berlin',
  from_at: '2026-11-19T23:00:00.000Z',
  until_at: '2026-11-20T23:00:00.000Z',
  as_of_at: '2026-11-20T23:00:00.000Z',
}
const page = (...results: DaySheetJson[]): DaysJson => ({ ...DAY, results })

async function served(sheets: DaysJson = page(SHEET, { ...WHOLE, redelivered: 0 })) {
  const server = await answering(({ path, query }) => {
    if (path === '/admin/status') return { json: STATUS }
    const [first, ...rest] = sheets.results
    if (rest.length === 0) return { json: sheets }
    // Each page has one route.
    return query.page_token === undefined
      ? { json: { ...sheets, results: [first], next_page_token: 'more' } }
      : { json: { ...sheets, results: rest } }
  })
  return { server, day: (...args: string[]) => waybridge(['day', ...server.options, ...args]) }
}

it('day lists what was covered of each route, worst first, page by page', async () => {
  const { code, out } = await (await served()).day('--day', '2026-11-20', '--company', '7')
  expect(out.split('\n').map((line) => line.trimEnd().replaceAll(/ {2,}/g, ' | '))).toEqual([
    '2026-11-20 (Europe/Berlin): 2 routes, 86.4 % covered',
    '',
    'ROUTE | COURIER | PLANNED | COVERED | START LATE | LONGEST GAP | FIXES | DELAY P95 | REDELIVERED | WHY',
    '1003 | 42 | 06:00–14:00 | 72.9 % | 0 min | 2 h 10 min | 2100 | 4 s | 412 | not_connected 2 h 10 min',
    '1004 | 42 | 06:00–14:00 | 100 % | 0 min | 2100 | 4 s',
    '',
  ])
  expect(code).toBe(0)
})

it('day requests what its options say', async () => {
  const { server, day } = await served(page(SHEET))
  await day('--day', '2026-11-20', '--company', '7', '--route', '1003')
  expect(server.asked.at(-1)).toMatchObject({
    path: '/admin/days',
    query: { day: '2026-11-20', company_id: '7', route_id: '1003', max_results: '1000' },
  })
  await day('--day', 'yesterday')
  const { day: asked } = server.asked.at(-1)?.query ?? {}
  expect(asked).toMatch(/^\d{4}-\d\d-\d\d$/)
  await day('--day', 'today')
  expect(server.asked.at(-1)?.query).toEqual({ max_results: '1000' })
})

it('day --route shows each gap in local time', async () => {
  const { out } = await (await served(page(SHEET))).day('--route', '1003')
  expect(out).toContain(
    '\nGaps of route 1003, courier 42:\n' +
      '  08:00–10:10  2 h 10 min: nothing came that was readable and known to be its own (van-12)\n',
  )
})

it('day says until when an unfinished day counts', async () => {
  const { out } = await (await served({ ...page(SHEET), as_of_at: '2026-11-20T11:30:00.000Z' })).day()
  expect(out).toMatch(/^2026-11-20 \(Europe\/Berlin\), until 12:30: 1 route, 72\.9 % covered\n/)
})

it('day says that no route is planned', async () => {
  const sheet = { ...SHEET, planned: [], planned_min: 0, covered_min: 0, gaps: [], by_reason: {} }
  const { out } = await (await served(page(sheet))).day()
  expect(out).toMatch(/^2026-11-20 \(Europe\/Berlin\): 1 route, none planned\n/)
})

it('day --json prints all pages as one, and --csv what the admin port answers', async () => {
  const { day } = await served()
  const { out } = await day('--json')
  expect(JSON.parse(out)).toMatchObject({ ...DAY, results: [{ route_id: '1003' }, { route_id: '1004' }] })
  expect(JSON.parse(out)).not.toHaveProperty('next_page_token')
  const server = await answering(() => ({ text: 'company_id,route_id\r\n7,1003\r\n' }))
  expect(await waybridge(['day', ...server.options, '--csv'])).toEqual({
    code: 0,
    out: 'company_id,route_id\n7,1003\n',
    errors: '',
  })
  expect(await day('--csv', '--json')).toMatchObject({ code: 1, errors: 'day: give --csv or --json, not both.\n' })
})

it('day ends with exit code 1 if there is no such route, or the admin port refuses the day', async () => {
  expect(await (await served(page())).day('--route', '9')).toEqual({
    code: 1,
    out: '2026-11-20: no route\n',
    errors: '',
  })
  const server = await answering(() => ({ status: 422, json: { message: 'Incorrect input.' } }))
  expect(await waybridge(['day', ...server.options, '--day', 'soon'])).toMatchObject({
    code: 1,
    errors: 'The admin port answers 422: Incorrect input.\n',
  })
})
