import { describe, expect, it } from 'vitest'
import { addWatchedFrames } from '../../src/store/index.ts'
import { TOKEN } from '../support/admin.ts'
import { followEvents } from '../support/events.ts'
import { askAs, CANARY, fillBoth, TOKEN_7, twoCompanies } from '../support/two-companies.ts'

const admin = twoCompanies()
const all = askAs(admin, TOKEN)
const seven = askAs(admin, TOKEN_7)
const soon = { timeout: 30_000, interval: 50 }

/**
 * Answer of each operation to a token of company 7 that requests data of company 8, or everything. A missing operation
 * fails the test: add its answer here, and data of company 8 that it must hide to `fillBoth`.
 */
const ANSWERS: Readonly<Record<string, number | readonly number[]>> = {
  'GET /healthz': 200,
  'GET /readyz': [200, 503],
  'GET /openapi.json': 200,
  'GET /admin/status': 200,
  'GET /admin/findings': 200,
  'GET /admin/lanes': 200,
  'GET /admin/devices': 200,
  'PUT /admin/devices': [404, 422],
  'GET /admin/devices/{id}': 404,
  'PUT /admin/devices/{id}': [409, 422],
  'DELETE /admin/devices/{id}': 404,
  'DELETE /admin/devices/{id}/data': 404,
  'POST /admin/devices/{id}/release': 404,
  'GET /admin/devices/{id}/chain': 404,
  'GET /admin/devices/{id}/frames': 404,
  'GET /admin/devices/{id}/history': 404,
  'GET /admin/days': 200,
  'POST /admin/devices/{id}/watch': 404,
  'POST /admin/devices/{id}/assign': [404, 422],
  'POST /admin/devices/{id}/swap': [404, 422],
  'POST /admin/devices/{id}/unassign': [404, 422],
  'POST /admin/devices/{id}/redeliver': [404, 422],
  'POST /admin/roster/redeliver': 404,
  'DELETE /admin/roster/redeliver': 404,
  'POST /admin/verify': 200,
  'GET /admin/routes': 200,
  'PUT /admin/routes': 404,
  'GET /admin/roster': 200,
  'POST /admin/roster/undo': 404,
  'GET /admin/parked': 200,
  'POST /admin/parked/retry': 200,
  'GET /admin/copies/parked': 403,
  'POST /admin/copies/retry': 403,
  'DELETE /admin/copies/parked': 403,
  'POST /admin/apis/test': 200,
  'POST /admin/alerts/test': 200,
  'DELETE /admin/parked': 200,
  'GET /admin/misunderstood': 200,
  'DELETE /admin/misunderstood': 200,
  'GET /admin/audit': 200,
  'GET /admin/reads': 200,
  'GET /admin/token': 200,
  'GET /admin/oidc': 200,
  'POST /admin/oidc/logout': 403,
  'GET /admin/arrivals': 403,
  'GET /admin/mappings': 403,
  'GET /admin/mappings/unread': 403,
  'PUT /admin/mappings/{name}': 403,
  'DELETE /admin/mappings/{name}': 403,
  'GET /admin/trial': 200,
  'GET /admin/setups': 200,
  'GET /admin/enrolment': 403,
  'POST /admin/enrolment': 403,
  'DELETE /admin/enrolment': 403,
}
/** Operations of the tracking interface are relayed only for the companies of the token. */
const RELAYED = / \/(?:api|companies)\//
/** Operations with their own tests: the metrics have their own token, the events do not end. */
const OTHERS = new Set(['GET /metrics', 'GET /admin/events'])

/** All operations of the port, as `GET /admin/status`, and whether they accept a body. */
async function operations(): Promise<(readonly [operation: string, hasBody: boolean])[]> {
  const { paths } = (await seven('/openapi.json')).json as {
    paths: Record<string, Record<string, { requestBody?: object }>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => {
      return [`${method.toUpperCase()} ${path}`, requestBody !== undefined] as const
    }),
  )
}

/** Every way to request data of company 8: by ids and names of its devices, by its puts, routes and bodies. */
function requestsTo(operation: string, hasBody: boolean, put8: string) {
  const [method, template] = operation.split(' ')
  const week = 'company_id=8&from=2099-11-20&until=2099-11-27'
  const query = `${week}&put=${put8}&all=true&for=1m`
  const queries = [
    `?${query}`,
    `?${week}`,
    '?company_id=8',
    '?max_results=1000',
    '?device=zebra-1',
    '?courier_id=808081',
    '?q=zebra',
    `?put=${put8}`,
  ]
  const bodies = hasBody || method === 'POST' ? BODIES : [undefined]
  const paths = DEVICES_8.map((id) => template.replace('{id}', encodeURIComponent(id)).replaceAll(/\{\w+\}/g, '8'))
  const asked = [
    ...queries.map((text) => [text, bodies[0]] as const),
    ...bodies.flatMap((body) => [queries[0], ''].map((text) => [text, body] as const)),
  ]
  return [...new Set(paths)].flatMap((path) =>
    asked.map(([text, body]) => {
      const type = operation === 'PUT /admin/routes' ? 'text/csv' : 'application/json'
      return [path + text, { method, body, type }] as const
    }),
  )
}

const DEVICES_8 = ['zebra-1', '0zebra-1', 'Zebra Van', 'ZEBRA VAN', 'Zebra Twoo', 'zebra-stranger']
const BODIES = [
  'device,route_id,from,until\nZebra Van,1,2099-11-21 06:00,\n',
  { company_id: 8, name: 'Mine' },
  { company_id: 7, name: 'Zebra Van' },
  { company_id: 7, name: 'zebra VAN' },
  { like: 'Zebra Van' },
  { like: 'Zebra Twoo' },
  { with: 'Zebra Van' },
  { route_id: '1', courier_id: '1' },
  { from_at: '2000-01-01T00:00:00Z', until_at: '2100-01-01T00:00:00Z' },
  {},
]
/** Removes the values of the request itself, which its sender knows. */
const TYPED = new RegExp(`zebra-1|0zebra-1|zebra van|zebra twoo|zebra-stranger|808081|q=zebra`, 'gi')

/** All data of company 8 that must not change. */
async function stateOf8(): Promise<unknown> {
  const { redis } = admin
  const paths = [
    ...['zebra-1', 'zebra-2', 'zebra-stranger'].map((id) => `/admin/devices/${id}`),
    '/admin/routes?company_id=8',
    '/admin/lanes?max_results=1000',
    '/admin/parked?courier_id=808081',
    '/admin/roster',
    '/admin/misunderstood?device=zebra-1',
    '/admin/devices/zebra-1/frames',
    '/admin/enrolment',
  ]
  const answers = await Promise.all(paths.map(async (path) => (await all(path)).json))
  const lists = answers.map((json) => (json as { results?: unknown[] }).results ?? [json])
  const state = lists.map((list) =>
    list.filter((each) => CANARY.test(JSON.stringify(each)) || 'open' in (each as object)),
  )
  const keys = (await redis.keys('*')).filter((key) => CANARY.test(key)).toSorted()
  return JSON.parse(JSON.stringify({ state, keys }, (key, value: unknown) => (VOLATILE.has(key) ? undefined : value)))
}

const VOLATILE = new Set(['findings', 'problem', 'condition', 'watched_until_at'])

describe('a token with companies', () => {
  it('a token with companies sees no frames with fixes of other devices', async () => {
    const [own] = ((await seven('/admin/devices?max_results=1')).json as { results: { id: string }[] }).results
    const frame = { at: 1, transport: 'tcp', remote: '', protocol: 'h02', bytes: '', size: 0, fixes: [], fixCount: 0 }
    const frames = [frame, { ...frame, isShared: true }].map((each) => JSON.stringify(each))
    await addWatchedFrames(admin.redis, new Map([[own.id.replace(/^0+/, ''), frames]]))
    const shown = async (ask: typeof all) =>
      ((await ask(`/admin/devices/${own.id}/frames`)).json as { results: object[] }).results.length
    expect([await shown(all), await shown(seven)]).toEqual([2, 1])
  })

  it('a token with companies learns and changes nothing of other companies by any operation, event or error', async () => {
    const { put8 } = await fillBoth(admin)
    const follow = (token: string) => followEvents(`${admin.url}/admin/events`, { authorization: `Bearer ${token}` })
    const [stream, other] = await Promise.all([follow(TOKEN_7), follow(TOKEN)])
    await expect
      .poll(async () => (await all('/admin/findings')).text, soon)
      .toMatch(/two of zebra-1[^]*zebra|zebra[^]*two of zebra-1/)
    const before = await stateOf8()
    expect(JSON.stringify(before).match(/zebra|\b80808\d\b/gi)?.length).toBeGreaterThan(20)

    for (const [operation, hasBody] of await operations()) {
      if (OTHERS.has(operation)) continue
      const expected = RELAYED.test(operation) ? [404, 422] : [ANSWERS[operation] ?? -1].flat()
      expect(ANSWERS[operation] ?? RELAYED.test(operation), `${operation} is not in the table`).toBeTruthy()
      const statuses = new Set<number>()
      for (const [path, options] of requestsTo(operation, hasBody, put8)) {
        const { status, text, headers } = await seven(path, options)
        const said = `${text} ${JSON.stringify([...headers])}`.replaceAll('%20', ' ').replaceAll(TYPED, '')
        expect([path, options, /.{0,80}(?:zebra|\b80808\d\b).{0,80}/i.exec(said)?.[0]]).toEqual([
          path,
          options,
          undefined,
        ])
        if (status !== 422) statuses.add(status)
      }
      const least = expected.filter((status) => status !== 422)
      expect([operation, [...statuses]]).toEqual([operation, expect.arrayContaining(least.slice(0, 1))])
      expect([operation, [...statuses].filter((status) => !expected.includes(status))]).toEqual([operation, []])
    }
    expect(await stateOf8()).toEqual(before)

    // Both companies still work.
    await all('/admin/devices/zebra-2', { method: 'PUT', body: { company_id: 8, name: 'Zebra 2', courier_id: 808081 } })
    await all(`/admin/roster/undo?put=${put8}`, { method: 'POST' })
    await all('/admin/parked/retry?courier_id=808081', { method: 'POST' })
    await seven('/admin/devices/356307042441014/assign', { method: 'POST', body: { route_id: '1009' } })
    for (const topic of ['status', 'device', 'finding', 'roster', 'audit'])
      await expect.poll(() => stream.events(topic).length, soon).toBeGreaterThan(0)
    expect(other.text()).toMatch(CANARY)
    expect(stream.events('arrival')).toEqual([])
    expect(/.{0,80}(?:zebra|\b80808\d\b).{0,80}/i.exec(stream.text().replaceAll(TYPED_PATH, ''))?.[0]).toBeUndefined()
    for (const each of [stream, other]) each.close()
  })
})

/** Paths that company 7 itself requested, in its audit entries. */
const TYPED_PATH = /"token":"seven","role":"operate","method":"\w+","path":"[^"]*"/g
