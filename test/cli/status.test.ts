import { expect, it } from 'vitest'
import type { StatusAnswer } from '../../src/cli/client.ts'
import { clockIn, type Painter } from '../../src/cli/output.ts'
import { statusPage } from '../../src/cli/status.ts'
import { answering, STATUS, waybridge } from '../support/cli.ts'

const NOW = Date.UTC(2026, 10, 20, 8, 20)

const WELL: StatusAnswer = STATUS
const TROUBLED: StatusAnswer = {
  waiting: { fixes: 1204, lanes: 3, oldest_at: '2026-11-20T08:14:02.000Z' },
  parked: { fixes: 214, lanes: 1 },
  held: { fixes: 3, devices: 2 },
  rates: { received_per_s: 12.3, delivered_per_s: 0 },
  upstream: {
    state: 'down',
    since_at: '2026-11-20T08:14:01.000Z',
    drained_at: '2026-11-20T08:40:00.000Z',
    token_refused: ['7', '9223372036854775807'],
    in_flight: 1,
    slowest_ms: 0,
  },
  verdict: 'The tracking API refuses connections: 1204 positions wait.',
  links: [],
  processes: [],
  findings: [],
  custody: {
    received: 2000,
    filtered: 70,
    delivered: 500,
    waiting: 1204,
    parked: 214,
    held: 3,
    discarded: 8,
    difference: 1,
  },
  time_zone: 'UTC',
}
const plain: Painter = (_style, text) => text
const page = (status: StatusAnswer, paint = plain) => statusPage(status, clockIn('UTC', NOW), paint)

it('status shows no notes where there is no trouble', () =>
  expect(page(WELL)).toEqual([
    '  tracking service      up   since 2026-11-19 06:00:12',
    '  received          12.3/s',
    '  delivered           12/s',
    '  waiting                0',
    '  parked                 0',
    '  held                   0',
    '  difference             0   1200 received: 1200 delivered',
  ]))

it('status shows where all fixes are', () =>
  expect(page(TROUBLED)).toEqual([
    '  tracking service    down   since 08:14:01',
    '  oauth_token      refused   of company 7: it may have expired',
    '  oauth_token      refused   of company 9223372036854775807: it may have expired',
    '  received          12.3/s',
    '  delivered            0/s',
    '  waiting             1204   on 3 lanes, the oldest since 08:14:02,',
    '                             all delivered by 08:40:00 at this rate',
    '  parked               214   on 1 lane',
    '  held                   3   of 2 devices',
    '  difference             1   2000 received: 500 delivered, 70 filtered,',
    '                             1204 waiting, 214 parked, 3 held, 8 discarded',
  ]))

it('status with large figures fits 80 columns', () => {
  const many = 999_999_999
  const shares = { delivered: many, filtered: many, waiting: many, parked: many, held: many, discarded: many }
  const custody = { ...shares, received: 6 * many, difference: 0 }
  const lines = page({ ...TROUBLED, waiting: { ...TROUBLED.waiting, fixes: many, lanes: many }, custody })
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  expect(lines.slice(-4)).toEqual([
    '  difference             0   5999999994 received: 999999999 delivered,',
    '                             999999999 filtered, 999999999 waiting,',
    '                             999999999 parked, 999999999 held,',
    '                             999999999 discarded',
  ])
})

it.each([
  ['green and bold', WELL, ['green up', 'bold 0']],
  ['yellow', TROUBLED, ['yellow down', 'yellow refused', 'yellow 214', 'yellow 3', 'yellow 1']],
])('status prints figures in %s according to the state', (_, status, figures) => {
  const painted: string[] = []
  page(status, (style, text) => {
    painted.push(`${style} ${text.trim()}`)
    return text
  })
  expect(painted).toEqual(expect.arrayContaining(figures))
})

it('status prints local times of the gateway, and no colours into a pipe', async () => {
  const server = await answering(() => ({ json: { ...WELL, time_zone: 'Asia/Kathmandu' } }))
  const { code, out } = await waybridge(['status', ...server.options], { env: { TZ: 'America/New_York' } })
  expect(code).toBe(0)
  expect(out).toBe(`${page(WELL).join('\n').replace('06:00:12', '11:45:12')}\n`)
})

it('status --json prints the answer byte for byte, also while the tracking service is down', async () => {
  const down = JSON.stringify({ ...WELL, upstream: TROUBLED.upstream })
  const text = `{ "a_field_of_tomorrow": 9223372036854775807, ${down.slice(1)}`
  const server = await answering(() => ({ text }))
  expect(await waybridge(['status', '--json', ...server.options])).toEqual({ code: 0, out: `${text}\n`, errors: '' })
})
