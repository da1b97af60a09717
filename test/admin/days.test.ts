import { expect, it } from 'vitest'
import type { DaySheetJson, DaysJson } from '../../src/admin/schemas/days.ts'
import { localDay } from '../../src/domain/times.ts'
import { DayFigures } from '../../src/push/day-figures.ts'
import { addDayNotes, type DayNote, type NotedKind, packDevice, packRecords } from '../../src/store/index.ts'
import { refuse, store, TOKEN, workerOf } from '../support/admin.ts'
import { askAs, TOKEN_7, twoCompanies } from '../support/two-companies.ts'

const admin = twoCompanies()
const all = askAs(admin, TOKEN)
const seven = askAs(admin, TOKEN_7)
const VAN = '0356307042441013'
const OTHER = '356307042441014'
const MIN = 60_000
const YESTERDAY = localDay(localDay(Date.now(), 'UTC').from - 1, 'UTC')
const DATE = new Date(YESTERDAY.from).toISOString().slice(0, 10)
const at = (minute: number) => YESTERDAY.from + minute * MIN
const time = (minute: number) => new Date(at(minute)).toISOString()

type Run = readonly [kind: NotedKind, first: number, end: number]

/** Notes runs of minutes of yesterday. */
async function note(device: string, ...runs: readonly Run[]): Promise<void> {
  const notes = runs.flatMap(([kind, first, end]) =>
    Array.from({ length: end - first }, (_, n): DayNote => [kind, at(first + n)]),
  )
  await addDayNotes(admin.redis.shardOf(device), [{ device, day: YESTERDAY.from, notes, fixes: 0, late: 0 }])
}

/** Delivers fixes of these minutes of yesterday, two seconds after their arrival. */
async function deliver(lane: string, minutes: readonly number[], { afterMs = 0, isRedelivered = false } = {}) {
  const figures = new DayFigures(admin.redis, 'UTC')
  for (const minute of minutes) {
    const position = { timestamp: at(minute) / 1000, latitude: 52.5, longitude: 13.4, accuracy: 5 }
    const record = packRecords([position], packDevice('1'), at(minute) + afterMs)
    if (isRedelivered) record[1] |= 16
    figures.delivered(lane, record, at(minute) + afterMs + 2000)
  }
  await figures.close()
}

const from = new Date(YESTERDAY.from - 86_400_000).toISOString()
const until = new Date(YESTERDAY.until).toISOString()

/** Puts lines of yesterday from and until these hours. */
async function assign(...lines: readonly (readonly [device: string, route: number, from: number, until: number])[]) {
  const rows = lines.map(([device, route, first, end]) => `${device},${route},${time(first * 60)},${time(end * 60)}`)
  const body = `device,route_id,from,until\n${rows.join('\n')}`
  const path = `/admin/routes?company_id=7&from=${from}&until=${until}&force=true`
  const { status, text } = await all(path, { method: 'PUT', body, type: 'text/csv' })
  expect([status, text]).toEqual([200, expect.any(String)])
}

async function days(query = '', ask = all): Promise<DaysJson> {
  const { status, json, text } = await ask(`/admin/days?day=${DATE}${query}`)
  expect(status, text).toBe(200)
  return json as DaysJson
}

const companies = async (query: string, ask = all) =>
  new Set((await days(query, ask)).results.map(({ company_id }) => company_id))

async function sheetOf(route: number): Promise<DaySheetJson> {
  const { results } = await days(`&route_id=${route}`)
  expect(results).toHaveLength(1)
  return results[0]
}

const shown = ({ gaps }: DaySheetJson) =>
  gaps.map(({ from_at, until_at, reason, device }) => {
    return `${from_at.slice(11, 16)}–${until_at.slice(11, 16)} ${reason} ${device === VAN ? 'van 12' : 'van 14'}`
  })

/** Checks the sums of a sheet. */
function adds({ planned_min, covered_min, by_reason, gaps }: DaySheetJson): void {
  const missing = Object.values(by_reason).reduce((sum, count) => sum + count, 0)
  expect(covered_min + missing).toBe(planned_min)
  expect(gaps.reduce((sum, { min }) => sum + min, 0)).toBe(missing)
}

it('GET /admin/days says what was planned, covered and delivered on a route, and why the rest is missing', async () => {
  await note('', ['connected', 0, 1440])
  await note(VAN, ['connected', 480, 1000], ['fix', 490, 700], ['held', 700, 730], ['fix', 730, 1000])
  await assign([VAN, 1003, 8, 16])
  await deliver('7/42/1003', [490, 500, 600])
  await deliver('7/42/1003', [700], { afterMs: 10 * MIN })
  await deliver('7/42/1003', [701, 702], { isRedelivered: true })
  const sheet = await sheetOf(1003)
  expect(sheet).toEqual({
    company_id: '7',
    courier_id: '42',
    route_id: '1003',
    day: DATE,
    devices: [VAN],
    planned: [{ from_at: time(480), until_at: time(960) }],
    planned_min: 480,
    covered_min: 440,
    share: 0.9166,
    first_fix_at: time(490),
    start_delay_min: 10,
    last_fix_at: time(702),
    fixes: 6,
    late_fixes: 1,
    delay_p50_s: expect.closeTo(2, 0),
    delay_p95_s: expect.closeTo(2, 0),
    longest_gap_min: 30,
    gaps: [
      {
        from_at: time(480),
        until_at: time(490),
        min: 10,
        reason: 'no_fix',
        message: 'it was heard, and no position of this time came',
        device: VAN,
      },
      {
        from_at: time(700),
        until_at: time(730),
        min: 30,
        reason: 'held',
        message: 'its positions were held: without a route, of a time in doubt, or off its track',
        device: VAN,
      },
    ],
    by_reason: { no_fix: 10, held: 30 },
    redelivered: 2,
  })
})

it('GET /admin/days gives each minute the same reason as the page of the van, which changes its route at noon', async () => {
  await note('', ['connected', 0, 1200])
  await note(VAN, ['connected', 300, 1100], ['fix', 360, 700], ['filtered', 760, 800], ['fix', 800, 1050])
  await assign([VAN, 1003, 6, 12], [VAN, 1004, 12, 20])
  const sheets = await Promise.all([sheetOf(1003), sheetOf(1004), sheetOf(1001)])
  for (const sheet of sheets) adds(sheet)
  expect(sheets.reduce((sum, { planned_min }) => sum + planned_min, 0)).toBe(1440)
  expect(sheets.map(shown)).toEqual([
    ['11:40–12:00 no_fix van 12'],
    [
      '12:00–12:40 no_fix van 12',
      '12:40–13:20 filtered van 12',
      '17:30–18:20 no_fix van 12',
      '18:20–20:00 not_connected van 12',
    ],
    ['00:00–05:00 not_connected van 12', '05:00–06:00 no_fix van 12', '20:00–00:00 unknown van 12'],
  ])
  const { json } = await all(`/admin/devices/${VAN}/history?from=${time(0)}&to=${time(1)}`)
  const [{ gaps }] = (json as { days: { gaps: { from_at: string; until_at: string; reason: string }[] }[] }).days
  for (const gap of sheets.flatMap((sheet) => sheet.gaps)) {
    const own = gaps.find(({ from_at, until_at }) => from_at <= gap.from_at && gap.from_at < until_at)
    expect(own?.reason).toBe(gap.reason)
  }
})

it('GET /admin/days counts a route as covered by any van on it', async () => {
  await note('', ['connected', 0, 1440])
  await note(VAN, ['fix', 480, 600])
  await note(OTHER, ['fix', 590, 720], ['connected', 590, 800])
  await assign([VAN, 1003, 8, 14], [OTHER, 1003, 9, 13])
  const { results } = await days('&route_id=1003')
  // Each courier has a sheet.
  expect(results.map(({ courier_id }) => courier_id)).toEqual(['42', '43'])
  for (const sheet of results) adds(sheet)
  const path = `/admin/routes?company_id=7&from=${from}&until=${until}&force=true`
  const body = `device,courier_id,route_id,from,until\n${[VAN, OTHER].map((id) => `${id},42,1003,${time(480)},${time(840)}`).join('\n')}`
  expect((await all(path, { method: 'PUT', body, type: 'text/csv' })).status).toBe(200)
  await expect.poll(async () => (await days('&route_id=1003')).results.length, { timeout: 20_000 }).toBe(1)
  const sheet = await sheetOf(1003)
  adds(sheet)
  expect(sheet.devices).toEqual([VAN, OTHER])
  expect(shown(sheet)).toEqual(['12:00–13:20 no_fix van 14', '13:20–14:00 not_connected van 12'])
})

it('GET /admin/days says what waits for the tracking API, and what the API refused', async () => {
  await note('', ['connected', 0, 1440])
  for (const van of [VAN, OTHER]) await note(van, ['fix', 480, 600], ['connected', 480, 600])
  await assign([VAN, 1003, 8, 10], [OTHER, 1004, 8, 10])
  await store(admin.redis, '7/42/1003', { device: VAN, receivedAt: at(540) })
  await store(admin.redis, '7/43/1004', { device: OTHER, receivedAt: at(560) })
  const { leases, lease } = workerOf(admin.redis)
  await leases.park(await lease('7/43/1004'), { status: 404, message: 'no such route' })
  await expect.poll(async () => shown(await sheetOf(1003)), { timeout: 20_000 }).toEqual(['09:00–10:00 waiting van 12'])
  expect(shown(await sheetOf(1004))).toEqual(['09:20–10:00 refused van 14'])
  adds(await sheetOf(1004))
})

it('GET /admin/days lists the routes by their delivered share, worst first, then deliveries without a plan', async () => {
  await note('', ['connected', 0, 1440])
  await note(VAN, ['fix', 480, 600])
  await note(OTHER, ['fix', 480, 520])
  await assign([VAN, 1003, 8, 10], [OTHER, 1004, 8, 10])
  await deliver('7/42/999', [1, 2])
  const { results } = await days('&company_id=7')
  const routes = results.map(({ route_id }) => route_id)
  expect(routes.slice(-2)).toEqual(['1003', '999'])
  expect(results.at(-1)).toMatchObject({ planned: [], planned_min: 0, share: null, fixes: 2, devices: [] })
  const paged: string[] = []
  let token: string | undefined = ''
  while (token !== undefined) {
    const page: DaysJson = await days(`&company_id=7&max_results=2${token && `&page_token=${token}`}`)
    paged.push(...page.results.map(({ route_id }) => route_id))
    token = page.next_page_token
  }
  expect(paged).toEqual(routes)
  expect(routes).toContain('1004')
})

it('GET /admin/days shows a company token only its own routes', async () => {
  await deliver('8/808081/808082', [1])
  await deliver('7/42/1001', [1])
  expect(await companies('')).toEqual(new Set(['7', '8']))
  expect(await companies('', seven)).toEqual(new Set(['7']))
  expect(await companies('&company_id=8', seven)).toEqual(new Set())
  expect(await companies('&company_id=8')).toEqual(new Set(['8']))
})

it('GET /admin/days answers the whole list as CSV on request, in German for a German client', async () => {
  await note('', ['connected', 0, 1440])
  await note(VAN, ['fix', 480, 600])
  await assign([VAN, 1003, 8, 11])
  const headers = { authorization: `Bearer ${TOKEN}` }
  const csv = await admin.ask(`/admin/days?day=${DATE}&max_results=1`, {
    headers: { ...headers, accept: 'text/csv' },
  })
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [head, ...lines] = csv.text.split('\r\n')
  expect(head).toMatch(
    /^company_id,courier_id,route_id,day,devices,planned,planned_min,.*,not_started_min,redelivered$/,
  )
  const line = lines.find((each) => each.startsWith('7,42,1003,')) ?? ''
  expect(line).toMatch(`7,42,1003,${DATE},${VAN},${time(480)}/${time(660)},180,120,0.6666,,0,,0,0,,,60,60,`)
  expect(lines.length).toBeGreaterThan(3)
  const german = await admin.ask(`/admin/days?day=${DATE}&route_id=1003`, {
    headers: { ...headers, 'accept-language': 'de' },
  })
  expect((german.json as DaysJson).results[0].gaps[0].message).toBe(
    'es kam nichts an, das lesbar und sicher von ihm war',
  )
})

it('GET /admin/days covers today until now, and refuses a day that is not one of the last 31', async () => {
  const { json } = await all('/admin/days')
  const today = json as DaysJson
  expect(today).toMatchObject({ day: new Date().toISOString().slice(0, 10), time_zone: 'UTC' })
  expect(Math.abs(Date.parse(today.as_of_at) - Date.now())).toBeLessThan(60_000)
  for (const sheet of today.results) {
    adds(sheet)
    expect(sheet.planned_min).toBeLessThanOrEqual((Date.now() - Date.parse(today.from_at)) / MIN + 1)
  }
  for (const day of ['soon', '2020-01-01', '2120-01-01', '2026-02-30'])
    expect((await all(`/admin/days?day=${day}`)).status).toBe(422)
  const first = new Date(Date.now() - 31 * 86_400_000).toISOString().slice(0, 10)
  expect((await all(`/admin/days?day=${first}`)).status).toBe(200)
})

it('GET /admin/days does not count single refused positions as a parked lane', async () => {
  await note('', ['connected', 0, 1440])
  await note(VAN, ['fix', 480, 600])
  await assign([VAN, 1003, 8, 10])
  await store(admin.redis, '7/42/1003', { device: VAN, receivedAt: at(540) })
  await refuse(admin.redis, '7/42/1003', 1, { status: 422, message: 'no such place' })
  expect(shown(await sheetOf(1003))).toEqual([])
})
