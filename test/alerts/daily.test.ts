import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { LaneSheet } from '../../src/admin/day-sheets.ts'
import { Scope, EVERYTHING } from '../../src/admin/scope.ts'
import { DailyReports, type DailyReceiver } from '../../src/alerts/daily.ts'
import { dayReports, dueDay } from '../../src/alerts/day-report.ts'
import { mailTransport, webhookTransport } from '../../src/alerts/transports.ts'
import type { Config } from '../../src/config/schema.ts'
import type { DaySheet } from '../../src/diagnose/day-sheet.ts'
import { keys, type Store } from '../../src/store/index.ts'
import { mailReceiver, webhookReceiver } from '../support/alerts.ts'
import { withRedis } from '../support/with-redis.ts'

const PAGE = 'https://gps.example'
const MIN = 60_000
const soon = { timeout: 30_000, interval: 20 }

let redis: Store
withRedis((_, store) => void (redis = store))

/** Returns the sheet of a lane with this number of covered minutes out of 480. */
function sheet(lane: string, coveredMin: number, byReason: DaySheet['byReason'] = {}, redelivered = 0): LaneSheet {
  const figures = { fixes: 100, late: 0, redelivered, first: 1, last: 2, delays: new Map() }
  const share = Math.floor((coveredMin / 480) * 10_000) / 10_000
  const planned = [{ from: 0, until: 480 * MIN }]
  const times = { startDelayMin: 0, longestGapMin: 0, gaps: [] }
  return { lane, figures, sheet: { devices: ['1'], planned, plannedMin: 480, coveredMin, share, byReason, ...times } }
}

const SHEETS = [
  sheet('7/42/1001', 480),
  sheet('7/43/1002', 340, { not_connected: 130, no_fix: 10 }, 412),
  sheet('8/50/2001', 480),
]
const NAMES: Readonly<Record<string, string>> = { 7: 'Acme' }
const OPTIONS = { day: '2026-11-20', language: 'en' as const, nameOf: (company: string) => NAMES[company] }

const at = (time: string) => Date.parse(`${time}+01:00`)

it.each([
  ['20:00', '2026-11-20T19:59:59', undefined],
  ['20:00', '2026-11-20T20:00:00', '2026-11-20'],
  ['20:00', '2026-11-20T22:59:59', '2026-11-20'],
  ['20:00', '2026-11-20T23:00:00', undefined],
  ['23:30', '2026-11-21T01:15:00', '2026-11-20'],
  ['06:00', '2026-11-20T06:00:00', '2026-11-19'],
  ['06:00', '2026-11-20T12:00:00', undefined],
])('with a report time of %s, the due day is determined at the time %s', (daily, time, day) => {
  const [hours, minutes] = daily.split(':').map(Number)
  expect(dueDay(hours * 60 + minutes, 'Europe/Berlin', at(time))?.day).toBe(day)
})

it('the due day has the bounds of the local day, even when clocks change', () => {
  const due = dueDay(1200, 'Europe/Berlin', Date.parse('2026-10-25T20:00:00+01:00'))
  expect(due).toEqual({
    day: '2026-10-25',
    from: Date.parse('2026-10-25T00:00:00+02:00'),
    until: Date.parse('2026-10-26T00:00:00+01:00'),
  })
})

it('the daily report has for each company the coverage, the worst routes, and what was delivered again', () => {
  const [acme, other] = dayReports(SHEETS, OPTIONS)
  expect([acme.title, ...acme.lines]).toEqual([
    'Acme, 2026-11-20: 2 routes, 85.4 % of the planned time with positions',
    'Route 1002 (courier 43): 70.8 %; 2 h 10 min not heard, 10 min heard, without a position',
    '412 positions were delivered again, to the route where they belong',
  ])
  expect(acme).toMatchObject({ company_id: '7', routes: 2, share: 0.8541, redelivered: 412 })
  expect([other.title, ...other.lines]).toEqual([
    'Company 8, 2026-11-20: 1 route, 100 % of the planned time with positions',
  ])
})

it('the daily report is German on request', () => {
  const [acme] = dayReports(SHEETS, { ...OPTIONS, language: 'de' })
  expect([acme.title, ...acme.lines]).toEqual([
    'Acme, 2026-11-20: 2 Touren, 85,4 % der geplanten Zeit mit Positionen',
    'Tour 1002 (Kurier 43): 70,8 %; 2 Std. 10 Min. nicht gehört, 10 Min. gehört, ohne Position',
    '412 Positionen wurden erneut zugestellt, an die Tour, zu der sie gehören',
  ])
})

it('the daily report names the five worst routes, and counts the others', () => {
  const many = Array.from({ length: 8 }, (_, n) => sheet(`7/1/${n}`, 100 + n, { held: 380 - n }))
  const [{ lines, worst }] = dayReports(many.toReversed(), OPTIONS)
  expect(worst.map(({ route_id }) => route_id)).toEqual(['0', '1', '2', '3', '4'])
  expect(lines.at(-1)).toBe('3 more routes have gaps')
  const six = dayReports(many.slice(0, 6), OPTIONS)
  expect(six[0].lines.at(-1)).toBe('1 more route has gaps')
})

it('the daily report gives no share if nothing was planned', () => {
  const none = { ...SHEETS[0], sheet: { ...SHEETS[0].sheet, plannedMin: 0, coveredMin: 0, share: null } }
  expect(dayReports([none], OPTIONS)[0].title).toBe('Acme, 2026-11-20: 1 route, nothing was planned so far')
})

type Webhook = Config['alerts']['webhooks'][number]
const webhook = (url: string, format: Webhook['format'] = 'waybridge', secret?: string) =>
  webhookTransport({ url, format, secret }, PAGE)

describe('the format of a daily report', () => {
  const [report] = dayReports([sheet('7/43/1002', 340, { held: 140 })], {
    ...OPTIONS,
    nameOf: () => 'Van <!channel> & \u001b[31m',
  })

  async function sent(format: Webhook['format'], secret?: string) {
    const { url, posts, close } = await webhookReceiver()
    onTestFinished(close)
    await webhook(`${url}/hook`, format, secret).report(report, AbortSignal.timeout(5000))
    return { posts, bodies: posts.map(({ body }) => JSON.parse(body) as Record<string, unknown>) }
  }

  it('the daily report to a webhook has the format of waybridge, with a signature', async () => {
    const { bodies, posts } = await sent('waybridge', 'secret')
    expect(bodies).toEqual([
      {
        change: 'day',
        id: expect.any(String),
        company_id: '7',
        day: '2026-11-20',
        language: 'en',
        routes: 1,
        planned_min: 480,
        covered_min: 340,
        share: 0.7083,
        redelivered: 0,
        worst: [{ courier_id: '43', route_id: '1002', share: 0.7083, by_reason: { held: 140 } }],
        message: report.title,
        lines: report.lines,
        links: { page: `${PAGE}/#/day?day=2026-11-20` },
      },
    ])
    expect(posts[0].headers['waybridge-signature']).toMatch(/^v1=/)
    expect(posts[0].headers['waybridge-delivery']).toBe(bodies[0].id)
  })

  it.each(['slack', 'teams'] as const)(
    'the daily report to %s lists the worst routes and links to the page',
    async (format) => {
      const { bodies } = await sent(format)
      const text = JSON.stringify(bodies)
      expect(bodies).toHaveLength(1)
      expect(text).toContain('Route 1002 (courier 43): 70.8 %; 2 h 20 min with positions that are held')
      expect(text).toContain(`${PAGE}/#/day?day=2026-11-20`)
      expect(text).not.toContain('\\u001b')
      if (format === 'slack') expect(bodies[0].text).toContain('&lt;!channel&gt;')
    },
  )

  it('the daily report to PagerDuty is an event that is resolved at once', async () => {
    const { bodies } = await sent('pagerduty', 'key')
    expect(bodies.map(({ event_action }) => event_action)).toEqual(['trigger', 'resolve'])
    expect(bodies[0]).toMatchObject({ routing_key: 'key', payload: { severity: 'info' } })
    expect(bodies[0].dedup_key).toBe(bodies[1].dedup_key)
  })

  it('the daily report to Alertmanager is an alert that ends by itself', async () => {
    const [[alert]] = (await sent('alertmanager')).bodies as unknown as { labels: object; endsAt: string }[][]
    expect(alert).toMatchObject({ labels: { alertname: 'waybridge_day', severity: 'info', company_id: '7' } })
    expect(Date.parse(alert.endsAt)).toBeLessThan(Date.now() + 2 * MIN)
  })

  it('the daily report by e-mail is one mail for each company', async () => {
    const { url, mails } = await mailReceiver('pass')
    const transport = mailTransport(
      { smtp: url('pass'), from: 'gps@example.com', to: ['ops@example.com'], min_severity: 'warning' },
      PAGE,
    )
    onTestFinished(() => transport.close?.())
    for (const each of dayReports(SHEETS, OPTIONS)) await transport.report(each, AbortSignal.timeout(5000))
    expect(mails).toHaveLength(2)
    const text = mails[0].replaceAll('=\n', '').replaceAll('=20', ' ')
    expect(text).toMatch(/^Subject: waybridge: Acme, 2026-11-20: 2 routes, 85\.4 %/m)
    expect(text).toContain('Route 1002 (courier 43): 70.8 %')
  })
})

/** 20:00 of a day. */
const AT = Date.UTC(2026, 10, 20, 20)

async function receiver(key: string, scope = EVERYTHING, answer?: Parameters<typeof webhookReceiver>[0]) {
  const { url, posts, close } = await webhookReceiver(answer)
  onTestFinished(close)
  const told = () => posts.map(({ body }) => (JSON.parse(body) as { company_id: string }).company_id).toSorted()
  return { own: { key, scope, transport: webhook(url) } satisfies DailyReceiver, told }
}

function reports(receivers: readonly DailyReceiver[], sheets: readonly LaneSheet[] = SHEETS) {
  const log: string[] = []
  const daily = new DailyReports({
    daily: { at: 1200, language: 'en' },
    zone: 'UTC',
    receivers,
    sheets: { read: async () => sheets },
    nameOf: () => undefined,
    redis,
    logger: pino({}, { write: (line) => void log.push(line) }),
  })
  onTestFinished(() => daily.close())
  return { daily, log }
}

const isSent = async (key: string, company: string) =>
  (await redis.get(keys.alerted(`${key}:day:2026-11-20:${company}`))) === 'sent'

it('daily reports go once a day to each receiver, one for each company that it may see', async () => {
  const [all, seven] = [await receiver('all'), await receiver('seven', new Scope(['7']))]
  const { daily, log } = reports([all.own, seven.own])
  await daily.look(AT - 1000)
  expect(all.told()).toEqual([])
  await daily.look(AT)
  await expect.poll(all.told, soon).toEqual(['7', '8'])
  await expect.poll(seven.told, soon).toEqual(['7'])
  await expect.poll(() => isSent('all', '8'), soon).toBe(true)
  for (let s = 1; s < 60; s++) await daily.look(AT + s * 1000)
  await daily.look(AT + 86_400_000)
  await expect.poll(all.told, soon).toEqual(['7', '7', '8', '8'])
  expect(log).toEqual([])
})

it('daily reports are made as soon as there is a roster, if there was none at their time', async () => {
  const all = await receiver('all')
  const sheets: LaneSheet[] = []
  const { daily } = reports([all.own], sheets)
  await daily.look(AT)
  sheets.push(...SHEETS)
  await daily.look(AT + 6000)
  await expect.poll(all.told, soon).toEqual(['7', '8'])
})

it('daily reports are not repeated by a restart, or by another process at the same time', async () => {
  const all = await receiver('all')
  const processes = Array.from({ length: 3 }, () => reports([all.own]).daily)
  await Promise.all(processes.map((daily) => daily.look(AT)))
  await expect.poll(all.told, soon).toEqual(['7', '8'])
  await expect.poll(() => isSent('all', '7'), soon).toBe(true)
  await expect.poll(() => isSent('all', '8'), soon).toBe(true)
  const again = reports([all.own]).daily
  for (const daily of [...processes, again]) for (let s = 5; s < 30; s += 5) await daily.look(AT + s * 1000)
  await Promise.all([...processes, again].map((daily) => daily.close()))
  expect(all.told()).toEqual(['7', '8'])
})

it('daily reports are sent by a new process after the claim of a killed one has expired', async () => {
  const all = await receiver('all')
  const key = keys.alerted('all:day:2026-11-20:7')
  await redis.set(key, 'a process that was killed', 'PX', 200)
  const { daily } = reports([all.own])
  await daily.look(AT)
  await expect.poll(all.told, soon).toEqual(['8'])
  await expect.poll(() => redis.exists(key), soon).toBe(0)
  await daily.look(AT + 6000)
  await expect.poll(all.told, soon).toEqual(['7', '8'])
})

it('daily reports are tried again if a receiver refuses them, and the failure is logged once', async () => {
  let failures = 2
  const flaky = await receiver('flaky', new Scope(['7']), (response) => {
    response.writeHead(failures-- > 0 ? 500 : 204).end()
  })
  const { daily, log } = reports([flaky.own])
  for (const [tries, s] of [0, 6, 20].entries()) {
    await daily.look(AT + s * 1000)
    await expect.poll(() => flaky.told().length, soon).toBe(tries + 1)
    const key = keys.alerted('flaky:day:2026-11-20:7')
    await expect.poll(() => redis.get(key), soon).toBe(tries < 2 ? null : 'sent')
  }
  await daily.look(AT + 60_000)
  expect(flaky.told()).toHaveLength(3)
  expect(log).toHaveLength(1)
  expect(log[0]).toContain('is not told of the day')
})

it('daily reports are made, and tried again, even if the clock is set back', async () => {
  let failures = 1
  const flaky = await receiver('flaky', new Scope(['7']), (response) => {
    response.writeHead(failures-- > 0 ? 500 : 204).end()
  })
  const sheets: LaneSheet[] = []
  const { daily } = reports([flaky.own], sheets)
  await daily.look(AT + 3_600_000)
  sheets.push(...SHEETS)
  await daily.look(AT + 1_800_000)
  await expect.poll(() => flaky.told().length, soon).toBe(1)
  await expect.poll(() => redis.exists(keys.alerted('flaky:day:2026-11-20:7')), soon).toBe(0)
  await daily.look(AT)
  await expect.poll(() => flaky.told().length, soon).toBe(2)
})

it('daily reports are not sent for a missed day, or for a company without routes', async () => {
  const all = await receiver('all')
  const { daily } = reports([all.own])
  await daily.look(AT + 3 * 3_600_000)
  expect(all.told()).toEqual([])
  const none = reports([all.own], []).daily
  await none.look(AT)
  await none.close()
  expect(all.told()).toEqual([])
})
