import { expect, it } from 'vitest'
import type { StatusJson } from '../../src/admin/schemas/status.ts'
import type { Painter } from '../../src/cli/output.ts'
import { fitting, statusPage } from '../../src/cli/status.ts'
import { clockIn } from '../../src/domain/times.ts'
import { answering, STATUS, waybridge, waybridgeProcess } from '../support/cli.ts'

const NOW = Date.UTC(2026, 10, 20, 8, 20)
const LATELY = '2026-11-20T08:20:00.000Z'

const WELL: StatusJson = STATUS
const TROUBLED: StatusJson = {
  waiting: { fixes: 1204, lanes: 3, oldest_at: '2026-11-20T08:14:02.000Z' },
  parked: { fixes: 214, lanes: 1 },
  held: { fixes: 3, devices: 2 },
  companies: [],
  rates: { received_per_s: 12.3, delivered_per_s: 0 },
  upstream: {
    state: 'down',
    since_at: '2026-11-20T08:14:01.000Z',
    drained_at: '2026-11-20T08:40:00.000Z',
    token_refused: ['7', '9223372036854775807'],
    in_flight: 1,
    slowest_ms: 0,
  },
  apis: [{ api: 'api.example', state: 'down', since_at: '2026-11-20T08:14:01.000Z', companies: ['7'] }],
  verdict: 'The tracking API refuses connections: 1204 positions wait.',
  plain_verdict: 'The tracking service refuses connections.',
  links: [],
  processes: [
    { role: 'gateway', pid: 4711, host: 'a', since_at: '2026-11-20T06:00:00.000Z', restarts: 0, last_seen_at: LATELY },
    { role: 'worker', pid: 12, host: 'a', since_at: '2026-11-20T08:19:00.000Z', restarts: 2, last_seen_at: LATELY },
  ],
  findings: [
    {
      code: 'upstream_down',
      severity: 'error',
      link: 'accepted',
      subject: {},
      since_at: '2026-11-20T08:14:01.000Z',
      count: 1204,
      evidence: ['pushPositions: refuses connections, last at 08:19:59'],
      message: 'the tracking API refuses connections: 1204 positions wait',
      action: 'see the evidence; nothing is lost: everything waits and is delivered once the API answers again',
      plain: { message: 'the tracking service refuses connections', action: 'tell who runs the tracking service' },
    },
  ],
  vans: STATUS.vans,
  custody: {
    received: 2000,
    filtered: 70,
    delivered: 500,
    redelivered: 0,
    waiting: 1204,
    parked: 214,
    held: 3,
    discarded: 8,
    difference: 1,
  },
  time_zone: 'UTC',
}
const plain: Painter = (_style, text) => text
const page = (status: StatusJson, paint = plain) => statusPage(status, clockIn('UTC', NOW), paint)

it('status shows no notes if there is no problem', () =>
  expect(page(WELL)).toEqual([
    'All well: 3 devices connected, 12 positions/s delivered.',
    '',
    '  tracking service      up   since 2026-11-19 06:00:12Z',
    '  received          12.3/s',
    '  delivered           12/s',
    '  waiting                0',
    '  parked                 0',
    '  held                   0',
    '  difference             0   1200 received: 1200 delivered',
  ]))

it('status shows each of several APIs', () => {
  const [api] = WELL.apis
  const apis = [api, { ...api, api: 'eu.example', state: 'down' as const, companies: ['8', '9'] }]
  expect(page({ ...WELL, apis }).slice(2, 5)).toEqual([
    '  tracking service      up   since 2026-11-19 06:00:12Z',
    '                        up   api.example, company 7, since 2026-11-19 06:00:12Z',
    '                      down   eu.example, 2 companies, since 2026-11-19 06:00:12Z',
  ])
})

it('status shows where all fixes are', () =>
  expect(page(TROUBLED).slice(0, -2)).toEqual([
    'The tracking API refuses connections: 1204 positions wait.',
    '',
    '✖ upstream_down: the tracking API refuses connections: 1204 positions wait,',
    '  since 08:14:01Z',
    '    pushPositions: refuses connections, last at 08:19:59',
    '  → see the evidence; nothing is lost: everything waits and is delivered once',
    '    the API answers again',
    '',
    '  tracking service    down   since 08:14:01Z',
    '  oauth_token      refused   of company 7: it may have expired',
    '  oauth_token      refused   of company 9223372036854775807: it may have expired',
    '  received          12.3/s',
    '  delivered            0/s',
    '  waiting             1204   on 3 lanes, the oldest since 08:14:02Z,',
    '                             all delivered by 08:40:00Z at this rate',
    '  parked               214   on 1 lane',
    '  held                   3   of 2 devices',
    '  difference             1   2000 received: 500 delivered, 70 filtered,',
    '                             1204 waiting, 214 parked, 3 held, 8 discarded',
  ]))

it('status shows the processes', () =>
  expect(page(TROUBLED).slice(-2)).toEqual([
    '  gateway             4711   a, since 06:00:00Z',
    '  worker                12   a, since 08:19:00Z, 2 restarts',
  ]))

it('status says since when a process has given no sign of life', () => {
  const [gateway, worker] = TROUBLED.processes ?? []
  const processes = [gateway, { ...worker, last_seen_at: '2026-11-20T08:19:48.000Z' }]
  expect(page({ ...TROUBLED, processes }).slice(-2)).toEqual([
    '  gateway             4711   a, since 06:00:00Z',
    '  worker                12   a, not seen since 08:19:48Z, 2 restarts',
  ])
})

it('status names the servers of Redis, and the delay of each replica', () => {
  const replica = { address: '10.0.0.4:6379', state: 'online', lag_s: 1, lag_bytes: 512 }
  const redis = [
    { address: '10.0.0.1:6379', shards: [0, 2], replicas: [replica] },
    { address: '10.0.0.2:6379', shards: [1], replicas: [] },
  ]
  expect(page({ ...WELL, redis }).slice(-3)).toEqual([
    '  redis            primary   10.0.0.1:6379, shard 0, 2',
    '  redis            replica   10.0.0.4:6379, online, 1 s and 512 bytes behind',
    '  redis            primary   10.0.0.2:6379, shard 1',
  ])
})

function unknown(id: string): StatusJson['findings'][number] {
  return {
    code: 'unknown_device',
    severity: 'warning',
    link: 'identified',
    subject: { device: id },
    since_at: '2026-11-20T08:14:01.000Z',
    count: 1,
    evidence: ['its fixes are held'],
    message: `fixes are held of ${id}, which nobody has configured`,
    action: 'if it is yours, name it under Arrivals or in devices.yaml: its held fixes are then delivered',
    plain: { message: `${id}: sends positions`, action: 'name it under Arrivals' },
  }
}

it('status names problems with one cause and one action together, with the action once', () => {
  const meant = { ...unknown('3'), action: 'correct the id in devices.yaml:3' }
  const lines = page({ ...WELL, findings: [unknown('1'), meant, unknown('2')] })
  expect(lines.slice(2, lines.indexOf('  tracking service      up   since 2026-11-19 06:00:12Z'))).toEqual([
    '! unknown_device: 2 findings',
    '  - fixes are held of 1, which nobody has configured, since 08:14:01Z; its fixes',
    '    are held',
    '  - fixes are held of 2, which nobody has configured, since 08:14:01Z; its fixes',
    '    are held',
    '  → if it is yours, name it under Arrivals or in devices.yaml: its held fixes',
    '    are then delivered',
    '',
    '! unknown_device: fixes are held of 3, which nobody has configured, since',
    '  08:14:01Z',
    '    its fixes are held',
    '  → correct the id in devices.yaml:3',
    '',
  ])
})

it('status has a line for each copy', () => {
  const copy = { to: 'https://crm.example', format: 'json', parked: 0, discarded: 0, difference: 0 }
  const copies = [
    { ...copy, name: 'crm', state: 'up' as const, waiting: 0, delivered: 1200 },
    { ...copy, name: 'erp', state: 'full' as const, waiting: 12, delivered: 3, discarded: 7 },
  ]
  const lines = page({ ...WELL, copies })
  expect(lines.filter((line) => /copy,/.test(line)).map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['crm', 'up', 'copy, 1200 delivered'],
    ['erp', 'full', 'copy, 3 delivered, 12 waiting, 7 discarded'],
  ])
})

it('status with large figures fits 80 columns', () => {
  const many = 999_999_999
  const shares = {
    delivered: many,
    redelivered: 0,
    filtered: many,
    waiting: many,
    parked: many,
    held: many,
    discarded: many,
  }
  const custody = { ...shares, received: 6 * many, difference: 0 }
  const lines = page({ ...TROUBLED, waiting: { ...TROUBLED.waiting, fixes: many, lanes: many }, custody })
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  expect(lines.slice(-6, -2)).toEqual([
    '  difference             0   5999999994 received: 999999999 delivered,',
    '                             999999999 filtered, 999999999 waiting,',
    '                             999999999 parked, 999999999 held,',
    '                             999999999 discarded',
  ])
})

it.each([
  ['green and bold', WELL, [`green ${WELL.verdict}`, 'green up', 'bold 0']],
  [
    'red and yellow',
    TROUBLED,
    [`red ${TROUBLED.verdict}`, 'yellow down', 'yellow refused', 'yellow 214', 'yellow 3', 'yellow 1'],
  ],
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
  expect(out).toBe(`${page(WELL).join('\n').replace('06:00:12Z', '11:45:12+05:45')}\n`)
})

it('status ends with exit code 1 if something serious is wrong', async () => {
  const server = await answering(() => ({ json: TROUBLED }))
  const { code, out } = await waybridge(['status', ...server.options])
  expect([code, out.split('\n')[0]]).toEqual([1, TROUBLED.verdict])
})

it('status --watch prints the status again each second', async () => {
  let asked = 0
  const server = await answering(() => (++asked < 3 ? { json: WELL } : { status: 401, json: { message: 'enough' } }))
  const { code, out } = await waybridge(['status', '--watch', ...server.options])
  expect(code).toBe(1)
  expect(out.split(WELL.verdict)).toHaveLength(3)
})

it.each([20, 24, 40, 60])('status --watch keeps the verdict visible on a terminal of %i rows', (rows) => {
  const text = page(TROUBLED).join('\n')
  const lines = fitting(text, { rows, columns: 80 }).split('\n')
  expect(lines[0]).toBe(TROUBLED.verdict)
  expect(lines.length).toBeLessThan(rows)
  const whole = text.split('\n')
  if (whole.length < rows) expect(lines).toEqual(whole)
  else expect(lines.at(-1)).toBe(`… ${whole.length - rows + 2} more lines, for a larger terminal`)
})

it('status --watch counts the rows of wrapped lines, and ignores their colours', () => {
  const text = ['verdict', '\x1b[31mx\x1b[39m'.repeat(90), 'y', 'z'].join('\n')
  expect(fitting(text, { rows: 6, columns: 100 })).toBe(text)
  expect(fitting(text, { rows: 4, columns: 80 })).toBe('verdict\n… 3 more lines, for a larger terminal')
})

it('status --watch ends normally if its output pipe is closed', async () => {
  const server = await answering(() => ({ json: WELL }))
  const ended = await waybridgeProcess(['status', '--watch', ...server.options], { reads: false })
  expect(ended).toEqual({ code: 0, out: '', errors: '' })
})

it('status --json prints the answer byte for byte, even while the tracking service is down', async () => {
  const down = JSON.stringify({ ...WELL, upstream: TROUBLED.upstream })
  const text = `{ "a_field_of_tomorrow": 9223372036854775807, ${down.slice(1)}`
  const server = await answering(() => ({ text }))
  expect(await waybridge(['status', '--json', ...server.options])).toEqual({ code: 0, out: `${text}\n`, errors: '' })
})
