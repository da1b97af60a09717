import { expect, it } from 'vitest'
import { type Asked, gatewayIn, type Reply, waybridge } from '../support/cli.ts'

const at = (time: string) => new Date().toISOString().replace(/T.*/, `T${time}.000Z`)

function device(id: string, name: string, route = '1007'): object {
  const lane = {
    company_id: '7',
    courier_id: '42',
    route_id: route,
    source: 'routes.csv:17',
    from_at: at('00:00:00'),
    waiting: 0,
  }
  const heard = {
    last_heard: { at: at('00:00:02') },
    last_fix: { time_at: at('00:00:01'), received_at: at('00:00:02') },
  }
  return { id, name, configured: true, company_id: '7', courier_id: '42', held: [], lane, state: 'online', ...heard }
}

const DEVICES = [
  device('1', 'Van 12'),
  device('2', 'Van 14'),
  device('3', 'Van 14', '2001'),
  device('a/b', 'Van 15'),
  device('..', 'Van 16'),
]
const PARKED = [
  { company_id: '8', courier_id: '42', route_id: '1007', fixes: 9, parked: { status: 403, message: '' }, refused: [] },
  {
    company_id: '7',
    courier_id: '42',
    route_id: '1007',
    fixes: 214,
    parked: { status: 404, message: ' \u001b[2J\u009b31m\u0007' },
    refused: [],
  },
]

/** Latest first. */
const FRAMES = [
  { at: at('00:00:09'), protocol: 'gt06', reason: 'unknown_type' },
  { at: at('00:00:08'), protocol: 'gt06', reason: 'entries' },
  { at: at('00:00:07'), protocol: 'gt06', reason: 'not_read' },
]

/** An admin port that lists two devices a page. */
function port({ path, query }: Asked): Reply {
  if (path === '/admin/parked') return { json: { results: query.courier_id === '42' ? PARKED : [] } }
  if (path === '/admin/misunderstood') return { json: { results: query.device === '3' ? FRAMES : [] } }
  const all = DEVICES as { id: string; name: string; configured: boolean }[]
  if (path === '/admin/devices') {
    const first = Number(query.page_token ?? 0)
    const results = all.slice(first, first + 2).map(({ id, name, configured }) => ({ id, name, configured }))
    return { json: { results, ...(first + 2 < all.length && { next_page_token: String(first + 2) }) } }
  }
  const found = all.find(({ id }) => path === `/admin/devices/${encodeURIComponent(id)}`)
  return found ? { json: found } : { status: 404, json: { message: 'no device with this id is configured' } }
}

async function why(name: string, zone = 'UTC') {
  const server = await gatewayIn(zone, port)
  return waybridge(['why', name, ...server.options], { env: { TZ: 'America/New_York' } })
}

const PARKED_404 = 'refused 404 by the service ( [2J 31m ), 214 parked: correct the line'

it('why prints one sentence for a device id, whatever characters the id has', async () => {
  const sentence = `last fix 00:00:01, route 1007 by routes.csv:17, ${PARKED_404}\n`
  expect(await why('1')).toEqual({ code: 0, out: sentence, errors: '' })
  expect((await why('a/b')).out).toBe(sentence)
  expect((await why('..')).out).toBe(sentence)
})

it('why finds a device by its name', async () =>
  expect((await why('Van 12')).out).toMatch(/^last fix 00:00:01, route 1007/))

it('why prints a line for each device with the same name', async () => {
  const { code, out } = await why('Van 14')
  expect([code, out.split('\n')]).toEqual([
    0,
    [
      `2: last fix 00:00:01, route 1007 by routes.csv:17, ${PARKED_404}`,
      '3: last fix 00:00:01, route 2001 by routes.csv:17, refused 404 by the service ( [2J 31m ), 214 parked on route 1007: correct the line; ' +
        '2 frames of gt06 are not understood since 00:00:07: kept, and decoded again after an upgrade or a change of its entry',
      '',
    ],
  ])
})

it('why says that a device was deleted while a file still has it', async () => {
  const file_entry = 'devices.yaml:6'
  const json = { message: 'no device with this id is configured: it was deleted through the admin port', file_entry }
  const deleted = (asked: Asked) => (asked.path === '/admin/devices/6' ? { status: 404, json } : port(asked))
  const server = await gatewayIn('UTC', deleted)
  expect((await waybridge(['why', '6', ...server.options])).out).toBe(
    'not configured, nothing is held: it was deleted through the admin port: put it there again, or edit its entry, devices.yaml:6\n',
  )
})

it('why prints local times of the gateway', async () =>
  expect((await why('1', 'Asia/Kathmandu')).out).toMatch(/^last fix (?:\S+ )?05:45:01, /))

it.each([
  ['van 13', 'did you mean Van 12?'],
  ['Bicycle', 'GET /admin/devices lists all devices'],
  ['....', 'GET /admin/devices lists all devices'],
])('why does not find %s, and gives a hint', async (name, hint) => {
  const { code, out, errors } = await why(name)
  expect([code, out]).toEqual([1, ''])
  expect(errors).toBe(`No device has the id or name "${name}": ${hint}\n`)
})
