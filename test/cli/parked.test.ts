import { expect, it } from 'vitest'
import { answering, STATUS, waybridge } from '../support/cli.ts'

const LANES = [
  {
    company_id: '7',
    courier_id: '42',
    route_id: '1001',
    fixes: 214,
    parked: {
      status: 404,
      message: 'no such route',
      tries: 3,
      at: '2026-11-20T08:14:02.000Z',
      since_at: '2026-11-20T08:10:00.000Z',
    },
    refused: [
      {
        status: 422,
        message: 'bad\u001b[31mpoint',
        at: '2026-11-20T08:14:02.000Z',
        first_at: '2026-11-20T08:12:00.000Z',
        count: 4,
      },
    ],
  },
]

it('parked list shows the parked positions by lane and answer, page by page', async () => {
  const server = await answering(({ path, query }) => {
    if (path === '/admin/status') return { json: STATUS }
    return query.page_token === undefined
      ? { json: { results: LANES, next_page_token: 'more' } }
      : { json: { results: LANES.map((lane) => ({ ...lane, refused: [], courier_id: '43' })) } }
  })
  const { code, out } = await waybridge(['parked', 'list', ...server.options])
  expect(code).toBe(0)
  const cells = out
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
  expect(cells).toEqual([
    ['COMPANY', 'COURIER', 'ROUTE', 'POSITIONS', 'ANSWER', 'REFUSED', 'MESSAGE'],
    ['7', '42', '1001', '210', '404', 'the lane, since 2026-11-20 08:10:00Z', 'no such route'],
    ['7', '42', '1001', '4', '422', 'single, since 2026-11-20 08:12:00Z', 'bad [31mpoint'],
    ['7', '43', '1001', '214', '404', 'the lane, since 2026-11-20 08:10:00Z', 'no such route'],
  ])
})

it('parked list says that nothing is parked', async () => {
  const server = await answering(() => ({ json: { results: [] } }))
  const { out } = await waybridge(['parked', 'list', '--courier', '42', ...server.options])
  expect(out).toBe('No such position is parked.\n')
  expect(server.asked.at(-1)).toMatchObject({ path: '/admin/parked', query: { courier_id: '42' } })
})

it('parked list shows the parked positions of a copy', async () => {
  const at = '2026-11-20T08:12:00.000Z'
  const row = {
    company_id: '7',
    device: '356307042441013',
    status: 422,
    message: 'no such van',
    fixes: 4,
    first_at: at,
    at,
  }
  const server = await answering(({ path }) => ({ json: path === '/admin/status' ? STATUS : { results: [row] } }))
  const { code, out } = await waybridge(['parked', 'list', '--copy', 'crm', ...server.options])
  const cells = out
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
  expect([code, cells]).toEqual([
    0,
    [
      ['COMPANY', 'DEVICE', 'POSITIONS', 'ANSWER', 'SINCE', 'MESSAGE'],
      ['7', '356307042441013', '4', '422', '2026-11-20 08:12:00Z', 'no such van'],
    ],
  ])
  expect(server.asked[0]).toMatchObject({ path: '/admin/copies/parked', query: { copy: 'crm' } })
  const none = await answering(() => ({ json: { results: [] } }))
  expect((await waybridge(['parked', 'list', '--copy', 'crm', ...none.options])).out).toBe(
    'Nothing is parked of the copy crm.\n',
  )
})

it.each([
  ['retry', ['--route', '1001'], 'POST /admin/parked/retry', { route_id: '1001' }, '3 positions are tried again'],
  ['delete', ['--all'], 'DELETE /admin/parked', { all: 'true' }, '1 position is deleted.'],
  ['retry', ['--copy', 'crm'], 'POST /admin/copies/retry', { copy: 'crm' }, '`waybridge parked list --copy crm` shows'],
  ['delete', ['--copy', 'crm'], 'DELETE /admin/copies/parked', { copy: 'crm' }, '1 position is deleted.'],
])('parked %s changes only the named positions', async (act, options, request, query, said) => {
  const server = await answering(() => ({ json: { retried: 3, deleted: 1 } }))
  const { code, out } = await waybridge(['parked', act, ...options, ...server.options])
  expect([code, out]).toEqual([0, expect.stringContaining(said)])
  expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([request])
  expect(server.asked[0].query).toEqual(query)
})

it.each(['list', 'retry', 'delete'])('parked %s refuses a copy with a courier or a route', async (act) => {
  const server = await answering(() => ({ json: { results: [] } }))
  for (const option of ['--courier', '--route']) {
    const { code, errors } = await waybridge(['parked', act, '--copy', 'crm', option, '5', ...server.options])
    expect([code, errors]).toEqual([1, 'parked: give --copy alone, or --courier and --route.\n'])
  }
  expect(server.asked).toEqual([])
})

it.each(['retry', 'delete'])('parked %s asks which positions are meant', async (act) => {
  const { code, errors } = await waybridge(['parked', act, '--url', 'http://127.0.0.1:1', '--token', 'x'])
  expect([code, errors]).toEqual([1, `Say what to ${act}: --courier, --route or both, --copy, or --all.\n`])
})
