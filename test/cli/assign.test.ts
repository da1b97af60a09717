import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { confirm } from '../../src/cli/question.ts'
import { type Asked, gatewayIn, type Reply, waybridge } from '../support/cli.ts'

const TEXT = 'Van 20 gets route 1002 (courier 42) from 2026-11-22 12:00 to 20:00; Van 12 loses it then (UTC).'
const TAKES = [{ device: '12', name: 'Van 12', route_id: '1002' }]
const PLAN = { added: 2, removed: 1, takes: [] as object[], warnings: ['Van 31 is on route 1002 too'], text: TEXT }

async function port(reply: (asked: Asked) => Reply) {
  const server = await gatewayIn('Europe/Berlin', reply)
  return {
    run: (...args: string[]) => waybridge([...args, ...server.options]),
    done: () => server.asked.filter(({ method, query }) => method === 'POST' && query.dry_run === undefined),
    asked: server.asked,
  }
}

it('assign says what it does, with warnings, does it, and says how to undo it', async () => {
  const { run, done, asked } = await port(() => ({ json: { ...PLAN, put: '1' } }))
  expect(await run('assign', 'Van', '20', '--route', '1002', '--courier', '42', '--from', 'now')).toEqual({
    code: 0,
    out: `${TEXT}\nwarning: Van 31 is on route 1002 too\nDone. \`waybridge routes undo\` takes it back.\n`,
    errors: '',
  })
  expect(asked.map(({ path, query }) => [path, query])).toEqual([
    ['/admin/devices/Van%2020/assign', { dry_run: 'true' }],
    ['/admin/devices/Van%2020/assign', {}],
  ])
  expect(JSON.parse(done()[0].body)).toEqual({ route_id: '1002', courier_id: '42', from_at: 'now' })
})

it('assign changes nothing without a terminal if another van loses its route, unless --yes is given', async () => {
  const { run, done } = await port(() => ({ json: { ...PLAN, takes: TAKES } }))
  const { code, errors } = await run('assign', 'Van 20', '--like', 'Van 12')
  expect([code, errors]).toEqual([1, 'Nothing is changed: this takes the route from Van 12; add --yes.\n'])
  expect(done()).toEqual([])
  expect((await run('assign', 'Van 20', '--like', 'Van 12', '--yes')).code).toBe(0)
  expect(done()).toMatchObject([{ query: { force: 'true' }, body: '{"like":"Van 12"}' }])
})

it.each([
  [['--route', '1', '--like', 'Van 12'], 'Give either --route, or --like with the device whose routes it takes over.'],
  [[], 'Give either --route, or --like with the device whose routes it takes over.'],
  [['--route', '1'], 'The admin port answers 404: no device has the id or the name "Van 20": did you mean Van 2?'],
])('assign ends with exit code 1 and a sentence for %j', async (options, sentence) => {
  const message = 'no device has the id or the name "Van 20": did you mean Van 2?'
  const { run } = await port(() => ({ status: 404, json: { message } }))
  expect(await run('assign', 'Van 20', ...options)).toEqual({ code: 1, out: '', errors: `${sentence}\n` })
})

const PLACE = { route_id: '1001', courier_id: '42' }
const REDELIVER = {
  fixes: 412,
  from: PLACE,
  to: { ...PLACE, route_id: '1003' },
  from_at: '2026-11-22T10:00:00.000Z',
  until_at: '2026-11-22T14:00:00.000Z',
  kept_since_at: '2026-11-20T10:00:00.000Z',
  moves: [
    {
      device: '12',
      name: 'Van 12',
      fixes: 412,
      from: PLACE,
      to: { ...PLACE, route_id: '1003' },
      first_at: '2026-11-22T10:00:07.000Z',
      last_at: '2026-11-22T13:59:57.000Z',
    },
  ],
  message: 'the API has no deletion: these positions stay with the route that has them as well',
}
const MOVED =
  'Van 12: 412 positions, 2026-11-22 10:00 to 13:59 UTC: delivered to route 1001 (courier 42), now of route 1003 (courier 42)\n' +
  'the API has no deletion: these positions stay with the route that has them as well\n'

it('assign says which delivered positions went to another route, and does not deliver them again by itself', async () => {
  const { run, done } = await port(() => ({ json: { ...PLAN, redeliver: REDELIVER, put: '1' } }))
  const { code, out, errors } = await run('assign', 'Van 12', '--route', '1003', '--from', '10:00')
  expect(code).toBe(0)
  expect(out).toContain(MOVED)
  expect(errors).toBe('412 positions not delivered to the new route: add --redeliver for that.\n')
  expect(done().map(({ query }) => query)).toEqual([{}])
})

it('assign --redeliver delivers positions again that went to another route', async () => {
  const { run, done } = await port(() => ({ json: { ...PLAN, redeliver: REDELIVER, put: '1' } }))
  expect((await run('assign', 'Van 12', '--route', '1003', '--redeliver')).errors).toBe('')
  expect(done().map(({ query }) => query)).toEqual([{ redeliver: 'true' }])
})

it('assign says the days of the first and the last delivered position if they differ', async () => {
  const moves = [{ ...REDELIVER.moves[0], last_at: '2026-11-23T01:00:00.000Z' }]
  const { run } = await port(() => ({ json: { ...PLAN, redeliver: { ...REDELIVER, moves }, put: '1' } }))
  const { out } = await run('assign', 'Van 12', '--route', '1003', '--from', '10:00')
  expect(out).toContain('412 positions, 2026-11-22 10:00 to 2026-11-23 01:00 UTC: delivered')
})

it('assign --redeliver says nothing if no delivered position is affected, and covers fixes that still wait', async () => {
  const { run, done } = await port(() => ({ json: { ...PLAN, redeliver: { ...REDELIVER, fixes: 0, moves: [] } } }))
  const { out, errors } = await run('assign', 'Van 12', '--route', '1003', '--redeliver')
  expect(out + errors).not.toMatch(/position|deletion/)
  await run('assign', 'Van 12', '--route', '1003')
  expect(done().map(({ query }) => query)).toEqual([{ redeliver: 'true' }, {}])
})

describe('redeliver', () => {
  const times = ['--from', '10:00', '--until', '14:00']

  it('redeliver delivers again what the roster assigns elsewhere', async () => {
    const { run, done } = await port(() => ({ json: { redeliver: REDELIVER } }))
    const { code, out } = await run('redeliver', 'Van', '12', ...times)
    expect([code, out]).toEqual([0, `${MOVED}412 positions will be delivered once more, within minutes.\n`])
    expect(done()).toMatchObject([
      { path: '/admin/devices/Van%2012/redeliver', body: '{"from_at":"10:00","until_at":"14:00"}' },
    ])
  })

  it('redeliver --dry-run only says what it would deliver again', async () => {
    const { run, done } = await port(() => ({ json: { redeliver: REDELIVER } }))
    expect((await run('redeliver', 'Van 12', ...times, '--dry-run')).out).toMatch(/would be delivered once more\.\n$/)
    expect(done()).toEqual([])
    const nothing = await port(() => ({ json: { redeliver: { ...REDELIVER, fixes: 0, moves: [] } } }))
    expect((await nothing.run('redeliver', 'Van 12', ...times)).out).toBe(
      'No kept position of this time has to be delivered once more.\n',
    )
  })

  it('redeliver needs both times', async () => {
    const { run } = await port(() => ({ json: {} }))
    expect((await run('redeliver', 'Van 12', '--from', '10:00')).code).toBe(1)
  })
})

it('unassign asks first, because the van loses its route', async () => {
  const { run, done } = await port(() => ({ json: { ...PLAN, takes: TAKES } }))
  expect((await run('unassign', 'Van 12')).code).toBe(1)
  expect((await run('unassign', 'Van 12', '--from', '12:00', '--yes')).code).toBe(0)
  expect(done().map(({ path, body }) => [path, body])).toEqual([
    ['/admin/devices/Van%2012/unassign', '{"from_at":"12:00"}'],
  ])
})

const RESULT = { writer: 'dispatch', by: 'dispatch', kind: 'put', company_id: '7', at: '2020-11-20T08:00:00.000Z' }
const COUNTS = { added: 1, changed: 2, removed: 3, rejected: [], warnings: [] }

describe('routes undo', () => {
  const results = [
    { ...RESULT, ...COUNTS, put: '3', undone: true },
    { ...RESULT, ...COUNTS, put: '2' },
  ]

  it('routes undo undoes the latest put that is not undone yet', async () => {
    const { run, done } = await port(({ path }) =>
      path === '/admin/roster' ? { json: { results } } : { json: { ...COUNTS, without_route: [], devices: 2 } },
    )
    expect(await run('routes', 'undo')).toMatchObject({
      code: 0,
      out: 'This takes back the change of 2020-11-20 09:00:00+01:00 by dispatch in company 7: 1 added, 2 changed, 3 removed.\nDone.\n',
    })
    expect(done().map(({ query }) => query)).toEqual([{ put: '2' }])
  })

  it('routes undo changes nothing without a terminal if a van loses its route', async () => {
    const { run, done } = await port(({ path }) =>
      path === '/admin/roster' ? { json: { results } } : { json: { ...COUNTS, takes: TAKES } },
    )
    const { code, errors } = await run('routes', 'undo')
    expect([code, errors]).toEqual([1, 'Nothing is changed: Van 12 would have no route; add --yes.\n'])
    expect((await run('routes', 'undo', '--yes')).code).toBe(0)
    expect(done()).toHaveLength(1)
  })

  it('routes undo says that there is nothing to undo, and asks for the company if there are several', async () => {
    const none = await port(() => ({ json: { results: [results[0]] } }))
    expect((await none.run('routes', 'undo')).errors).toMatch(/^There is no change that can be taken back/)
    const two = await port(() => ({ json: { results: [results[1], { ...results[1], company_id: '8' }] } }))
    expect((await two.run('routes', 'undo')).errors).toBe('Name the company with --company: 7 and 8.\n')
  })
})

it('routes list prints the lines in effect with local times and their zone', async () => {
  const line = {
    device: '12',
    name: 'Van 12',
    company_id: '7',
    courier_id: '42',
    route_id: '1002',
    from_at: '2020-11-20T06:00:00.000Z',
    until_at: '2020-11-20T20:00:00.000Z',
    source: 'routes.csv:2',
  }
  const { run, asked } = await port(() => ({ json: { results: [line] } }))
  const { code, out } = await run('routes', 'list', '--at', '2020-11-20 08:00')
  expect([code, out.split('\n').map((text) => text.trim().replaceAll(/ {2,}/g, '  '))]).toEqual([
    0,
    [
      'DEVICE  COURIER  ROUTE  FROM  UNTIL  WRITTEN BY',
      'Van 12  42  1002  2020-11-20 07:00  2020-11-20 21:00  routes.csv:2',
      'Times in Europe/Berlin.',
      '',
    ],
  ])
  expect(asked[0].query.at).toBe('2020-11-20 08:00')
  expect(JSON.parse((await run('routes', 'list', '--json')).out)).toEqual({ results: [line] })
})

it.each([
  ['y\n', true],
  ['YES\n', true],
  ['\n', false],
  ['no\n', false],
  [undefined, false],
])('a question on a terminal takes the answer %j as %j', async (typed, answer) => {
  const [input, output] = [new PassThrough(), new PassThrough()].map((stream) => Object.assign(stream, { isTTY: true }))
  const asked = confirm('Go on?', { input, output })
  if (typed === undefined) input.end()
  else input.write(typed)
  expect(await asked).toBe(answer)
  expect(String(output.read())).toContain('Go on? [y/N] ')
})

it('a question is not asked without a terminal', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  expect(await confirm('Go on?', { input, output } as never)).toBeUndefined()
  expect(output.read()).toBeNull()
})
