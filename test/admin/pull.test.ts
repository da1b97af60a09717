import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import { startAdmin } from '../../src/process/roles/admin.ts'
import { followConfig } from '../../src/process/roles/live.ts'
import { readRosterVersion } from '../../src/roster/table.ts'
import { keys, type Store } from '../../src/store/index.ts'
import { NOWHERE, TOKEN } from '../support/admin.ts'
import { CertificateMaker, type Issued } from '../support/certificates.ts'
import { folder } from '../support/config-folder.ts'
import type { TestRedis } from '../support/redis.ts'
import { RosterServer } from '../support/roster-server.ts'
import { withRedis } from '../support/with-redis.ts'
import { sheetFiles, zip } from '../support/xlsx.ts'

const soon = { timeout: 30_000, interval: 50 }
const HEADER = 'device,courier_id,route_id,from,until'
const inHours = (hours: number) => new Date(Math.floor(Date.now() / 1000 + hours * 3600) * 1000).toISOString()
const NOW = [inHours(-1), inHours(1)] as const
const line = (device: string, route: number, [from, until]: readonly string[] = NOW) =>
  `${device},,${route},${from},${until}`
const csv = (...lines: string[]) => `${[HEADER, ...lines].join('\n')}\n`

let server: TestRedis
let redis: Store
let certificates: CertificateMaker
let authority: Issued
let certificate: Issued

withRedis((...given) => ([server, redis] = given))
beforeAll(async () => {
  certificates = await CertificateMaker.create()
  authority = await certificates.authority('authority')
  certificate = await certificates.server('roster', { by: authority })
})
afterAll(() => certificates.remove())

interface Result {
  readonly kind: string
  readonly writer: string
  readonly put?: string
  readonly undone?: true
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly rejected: readonly { readonly message: string }[]
  readonly pulled_at?: string
  readonly failing?: { readonly since_at: string; readonly reason: string }
}

interface Found {
  readonly code: string
  readonly ended_at?: string
}

/** Makes a configuration folder with this list of pulls. */
async function configured(pull: string): Promise<string> {
  const dir = await folder({ 'gateway.yaml': '', 'devices.yaml': '' })
  const vans = [1, 2, 3, 4, 5].map((n) => `"${n}": { name: Van ${n}, company_id: 7, courier_id: ${40 + n} }\n`)
  await writeFile(join(dir, 'devices.yaml'), `${vans.join('')}"8": { name: Van 8, company_id: 8, courier_id: 48 }\n`)
  await pulling(dir, pull)
  return dir
}

/** Writes gateway.yaml with this list of pulls. */
async function pulling(dir: string, pull: string): Promise<void> {
  const yaml = `
redis: { url: "${server.url}" }
data_dir: "${join(dir, 'data')}"
companies: [{ company_id: 7, apikey: k7 }, { company_id: 8, apikey: k8 }]
log: { level: fatal }
admin: { port: 0, tokens: [${TOKEN}, { token: canary-company-8, companies: [8] }] }
roster: { pull: [${pull}] }
`
  await writeFile(join(dir, 'gateway.yaml'), yaml)
}

/** Starts the admin role on a folder; `close` or the end of the test ends it. */
async function started(dir: string) {
  const live = await followConfig({ dir, protocols: protocolPorts, role: 'admin', followsFiles: true })
  const redisServer = { url: server.url, shards: 1 }
  const role = await startAdmin(live, { redisServer, baseUrl: async () => NOWHERE, ports: {} })
  let closing: Promise<void> | undefined
  const close = () => (closing ??= role.close())
  onTestFinished(close)
  const url = `http://127.0.0.1:${role.ports?.admin}`
  const ask = async (path: string, options: RequestInit = {}, token = TOKEN) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/csv' }
    const response = await fetch(url + path, { headers, ...options })
    return { status: response.status, text: await response.text() }
  }
  const list = async <Item>(path: string, token?: string) =>
    (JSON.parse((await ask(path, {}, token)).text) as { results: Item[] }).results
  const results = () => list<Result>('/admin/roster')
  return {
    live,
    close,
    ask,
    list,
    routeOf(device: string) {
      const entry = live.directory().find(device)
      return entry && live.directory().stayAt(entry, Date.now() / 1000)?.lane.route
    },
    result: async () => (await results()).find(({ kind }) => kind === 'pull'),
    failing: async () => (await results()).find(({ kind }) => kind === 'pull')?.failing,
    findings: async (token = TOKEN) =>
      (await list<Found>('/admin/findings', token)).filter(
        ({ code, ended_at }) => code === 'roster_pull_failed' && ended_at === undefined,
      ),
    put: (text: string, how = '') => {
      const query = `company_id=7&from=${inHours(-48)}&until=${inHours(48)}${how}`
      return ask(`/admin/routes?${query}`, { method: 'PUT', body: text })
    },
  }
}

/** Starts a server with a roster, and an admin role that has pulled it. */
async function pulled(text: string, settings = '') {
  const source = await RosterServer.start()
  source.text = text
  const dir = await configured(`{ url: "${source.url()}", every: 1s, company_id: 7${settings} }`)
  const admin = await started(dir)
  await expect.poll(async () => (await admin.result())?.pulled_at, soon).toBeDefined()
  return { source, dir, ...admin }
}

/** Resolves after the given number of further requests to the source. */
async function askedAgain(source: RosterServer, times = 2): Promise<void> {
  const before = source.requests.length
  await expect.poll(() => source.requests.length, soon).toBeGreaterThanOrEqual(before + times)
  await expect.poll(() => source.requests[before + times - 2]?.status, soon).toBeDefined()
}

it('a roster is pulled over HTTPS with a private CA and its token, and again only after a change', async () => {
  const source = await RosterServer.start(certificate)
  source.text = csv(line('Van 1', 1001), line('2', 1002), line('Van 9', 1009))
  const url = source.url('/day/roster.csv?key=canary-query')
  const pull = `{ url: "${url}", every: 1s, token: canary-pull-token, company_id: 7, ca: "${authority.files.cert}" }`
  const admin = await started(await configured(pull))
  await expect.poll(() => [admin.routeOf('1'), admin.routeOf('2')], soon).toEqual(['1001', '1002'])
  const version = await readRosterVersion(redis)
  await askedAgain(source)
  const [first, ...later] = source.requests
  expect(first).toMatchObject({ path: '/day/roster.csv?key=canary-query', status: 200 })
  expect(first.headers['if-none-match']).toBe(undefined)
  expect(source.requests.map(({ headers }) => headers.authorization)).toEqual(
    source.requests.map(() => 'Bearer canary-pull-token'),
  )
  expect(later.every(({ headers }) => headers['if-none-match'] !== undefined)).toBe(true)
  expect(source.statuses(2)[0]).toBe(304)
  expect(await readRosterVersion(redis)).toBe(version)
  expect(await admin.result()).toMatchObject({
    writer: source.url('/day/roster.csv'),
    company_id: '7',
    added: 3,
    rejected: [{ line: 4, device: 'Van 9', message: expect.stringContaining('no device has the id or the name') }],
  })
  const lines = await admin.list<{ source: string }>('/admin/routes')
  expect(lines.map((each) => each.source)).toEqual(Array(2).fill(`pull ${source.url('/day/roster.csv')}`))
  const shown = await Promise.all(
    ['/admin/roster', '/admin/routes', '/admin/findings', '/admin/status', '/metrics'].map((path) => admin.ask(path)),
  )
  const stored = JSON.stringify([await redis.hgetall(keys.roster('results')), shown])
  expect(stored).not.toMatch(/canary-(?:query|pull)/)
})

it('a restart asks for a pulled roster again, but does not write an unchanged one', async () => {
  const { source, dir, close } = await pulled(csv(line('1', 1001)))
  const version = await readRosterVersion(redis)
  await close()
  const before = source.requests.length
  const again = await started(dir)
  await expect.poll(() => source.requests.length, soon).toBeGreaterThan(before + 1)
  expect(source.requests[before]).toMatchObject({ status: 200 })
  expect(again.routeOf('1')).toBe('1001')
  expect(await readRosterVersion(redis)).toBe(version)
  expect(await again.result()).toMatchObject({ added: 1, put: String(version) })
})

it('a pulled roster has its last put, even if its process was killed before it noted the result', async () => {
  const { source, dir, result, routeOf, close } = await pulled(csv(line('1', 1001)))
  const field = `pull 7 ${source.url()}`
  const before = (await redis.hget(keys.roster('results'), field)) ?? ''
  source.text = csv(line('1', 1011))
  await expect.poll(() => routeOf('1'), soon).toBe('1011')
  const put = (await result())?.put
  await close()
  await redis.hset(keys.roster('results'), field, before)
  const again = await started(dir)
  await askedAgain(source)
  const results = (await again.list<Result>('/admin/roster')).filter(({ kind }) => kind === 'pull')
  expect(results).toMatchObject([{ put, pulled_at: expect.any(String) }])
})

it('a pulled roster changes only the lines that changed at its server, and keeps later puts', async () => {
  const admin = await pulled(csv(line('1', 1001), line('2', 1002), line('3', 1003)))
  const { source, routeOf, put } = admin
  expect(await put(csv(line('1', 2001)), '&only_listed=true')).toMatchObject({ status: 200 })
  const version = await readRosterVersion(redis)
  await askedAgain(source)
  expect(source.statuses(2)[0]).toBe(304)
  expect([routeOf('1'), await readRosterVersion(redis)]).toEqual(['2001', version])
  source.text = csv(line('1', 1001), line('2', 1022), line('4', 1004))
  await expect
    .poll(() => [1, 2, 3, 4].map((id) => routeOf(String(id))), soon)
    .toEqual(['2001', '1022', undefined, '1004'])
  expect(await admin.result()).toMatchObject({ added: 1, changed: 1, removed: 1 })
})

it('of overlapping lines of a pulled roster, the one with the later start decides, whenever each was pulled', async () => {
  const early = line('1', 1001, [inHours(-3), inHours(3)])
  const late = line('1', 1002, [inHours(-1), inHours(2)])
  const { source, routeOf } = await pulled(csv(late, line('2', 5)))
  source.text = csv(late, early, line('2', 6))
  await expect.poll(() => routeOf('2'), soon).toBe('6')
  expect(routeOf('1')).toBe('1002')
})

it('a pulled roster gives no route to a device of another company', async () => {
  const { routeOf, result, list } = await pulled(csv(line('Van 8', 1008), line('1', 1001)))
  expect([routeOf('8'), routeOf('1')]).toEqual([undefined, '1001'])
  expect(await result()).toMatchObject({ rejected: [{ line: 2, device: 'Van 8' }] })
  expect(await list('/admin/roster', 'canary-company-8')).toEqual([])
})

it('a line of a pulled roster waits for its device, and is no longer reported once the device is added', async () => {
  const { ask, routeOf, result } = await pulled(csv(line('9', 1009), line('1', 1001)))
  expect(await result()).toMatchObject({ rejected: [{ line: 2 }] })
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  await ask('/admin/devices/9', { method: 'PUT', headers, body: '{"company_id":7,"courier_id":49}' })
  await expect.poll(() => routeOf('9'), soon).toBe('1009')
  await expect.poll(result, soon).toMatchObject({ rejected: [] })
})

it('the format of a pulled roster is recognised by its content: JSON, CSV or XLSX', async () => {
  const [from, until] = NOW
  const json = JSON.stringify([{ device: 'Van 1', route_id: 1001, from, until }])
  const { source, routeOf } = await pulled(` ${json}`)
  expect(routeOf('1')).toBe('1001')
  source.text = `Roster of today;;;;\nFahrzeug;Fahrer;Tour;Von;Bis\nVan 1;;1002;${from};${until}\n`
  await expect.poll(() => routeOf('1'), soon).toBe('1002')
  const rows = csv(line('Van 1', 1003)).trim().split('\n')
  const sheet = zip(sheetFiles(rows.map((row) => row.split(','))))
  source.answer = (_request, response) => response.end(sheet)
  await expect.poll(() => routeOf('1'), soon).toBe('1003')
})

it('a pulled roster can be undone, and stays undone until it changes', async () => {
  const admin = await pulled(csv(line('1', 1001)))
  const { source, ask, routeOf, result } = admin
  source.text = csv(line('1', 1011), line('2', 1002))
  await expect.poll(() => routeOf('1'), soon).toBe('1011')
  const { put } = (await result()) ?? {}
  expect(await ask(`/admin/roster/undo?put=${put}`, { method: 'POST' })).toMatchObject({ status: 200 })
  await askedAgain(source)
  expect([routeOf('1'), routeOf('2')]).toEqual(['1001', undefined])
  const results = await admin.list<Result>('/admin/roster')
  expect(results.filter(({ kind }) => kind === 'pull')).toMatchObject([{ put, undone: true }, { added: 1 }])
  source.text = csv(line('1', 1011), line('2', 1002), line('3', 1003))
  await expect.poll(() => routeOf('3'), soon).toBe('1003')
  expect([routeOf('1'), routeOf('2')]).toEqual(['1001', undefined])
})

it('a put during a pull takes effect together with the pulled roster', async () => {
  const { source, put, routeOf } = await pulled(csv(line('1', 1001), line('2', 1002)))
  const text = csv(line('1', 1011), line('2', 1002))
  let finish: (() => void) | undefined
  source.answer = (_request, response) => {
    response.writeHead(200, { 'content-length': text.length }).write(text.slice(0, 60))
    finish = () => response.end(text.slice(60))
  }
  await expect.poll(() => finish, soon).toBeDefined()
  expect(await put(csv(line('2', 2002), line('3', 2003)), '&only_listed=true')).toMatchObject({ status: 200 })
  finish?.()
  await expect.poll(() => routeOf('1'), soon).toBe('1011')
  expect([routeOf('2'), routeOf('3')]).toEqual(['2002', '2003'])
})

it('puts and changed pulled rosters at the same time are each written once, and none is lost', async () => {
  const { source, ask, routeOf, result } = await pulled(csv(line('1', 1001)))
  for (let round = 0; round < 5; round++) {
    source.text = csv(line('1', 1100 + round), line('2', 1200 + round))
    const body = csv(line('3', 1300 + round), line('4', 1400 + round))
    const query = `company_id=7&from=${inHours(-48)}&until=${inHours(48)}&only_listed=true`
    await expect.poll(async () => (await ask(`/admin/routes?${query}`, { method: 'PUT', body })).status).toBe(200)
    const expected = [1100, 1200, 1300, 1400].map((route) => String(route + round))
    await expect.poll(() => ['1', '2', '3', '4'].map(routeOf), soon).toEqual(expected)
  }
  expect(await result()).toMatchObject({ changed: 2 })
})

it('a roster is pulled at once with a new token if the server did not answer the previous request', async () => {
  const source = await RosterServer.start()
  source.text = csv(line('1', 1001))
  const serve = source.answer
  source.answer = (request, response) => {
    if (request.headers.authorization === 'Bearer new-token') serve(request, response)
  }
  const pull = (token: string) => `{ url: "${source.url()}", every: 24h, token: ${token}, company_id: 7 }`
  const dir = await configured(pull('old-token'))
  const { routeOf, failing, findings } = await started(dir)
  await expect.poll(() => source.requests.length, soon).toBe(1)
  await pulling(dir, pull('new-token'))
  await expect.poll(() => routeOf('1'), soon).toBe('1001')
  expect(await failing()).toBe(undefined)
  expect([source.requests.length, await findings()]).toEqual([2, []])
})

it('removing roster.pull keeps its lines, and removes its result', async () => {
  const { source, dir, routeOf, result, live, put } = await pulled(csv(line('1', 1001)))
  await pulling(dir, '')
  await expect.poll(async () => (await result())?.pulled_at, soon).toBe(undefined)
  const { length } = source.requests
  expect(await put(csv(line('2', 2002)), '&only_listed=true')).toMatchObject({ status: 200 })
  await live.catchUp()
  expect([routeOf('1'), source.requests.length]).toEqual(['1001', length])
})

it('a pulled roster is restored after Redis lost all data, though its server answers that nothing changed', async () => {
  const { source, routeOf } = await pulled(csv(line('1', 1001)))
  await redis.flushall()
  await askedAgain(source)
  await expect.poll(() => routeOf('1'), soon).toBe('1001')
  expect(source.statuses(2)[0]).toBe(304)
})

it('a pulled roster that takes the route from most vans is refused until it is repaired', async () => {
  const admin = await pulled(csv(line('1', 1001), line('2', 1002), line('3', 1003)))
  const { source, routeOf, findings, result, ask } = admin
  const before = (await result())?.pulled_at
  source.text = csv(line('1', 1011))
  await expect
    .poll(() => findings(), soon)
    .toMatchObject([
      {
        severity: 'warning',
        link: 'placed',
        subject: { company_id: '7', pull: source.url() },
        message: `the roster that is pulled from ${source.url()} is refused: its lines stay as they were`,
        evidence: ['would take the route from 2 of the 3 devices that have one now: it is not in effect'],
      },
    ])
  expect(['1', '2', '3'].map(routeOf)).toEqual(['1001', '1002', '1003'])
  expect((await ask('/admin/status')).text).toContain('roster_pull_failed')
  expect(await admin.findings('canary-company-8')).toEqual([])
  const { failing } = (await result()) ?? {}
  expect(failing?.reason).toMatch(/^would take the route/)
  expect(Date.parse(failing?.since_at ?? '')).toBeGreaterThan(Date.parse(before ?? ''))
  source.text = csv(line('1', 1011), line('2', 1002), line('3', 1003))
  await expect.poll(() => routeOf('1'), soon).toBe('1011')
  await expect.poll(() => findings(), soon).toEqual([])
  expect(await result()).toMatchObject({ changed: 1 })
  expect(await admin.failing()).toBe(undefined)
})

it('a pulled roster that is cut off is refused, and the time of the failure is known after a restart', async () => {
  const { source, dir, routeOf, findings, result, close } = await pulled(csv(line('1', 1001), line('2', 1002)))
  const text = csv(line('1', 1011), line('2', 1012))
  source.answer = (_request, response) => {
    response.writeHead(200, { 'content-length': text.length }).write(text.slice(0, text.indexOf('\n2,')))
    setTimeout(() => response.destroy(), 50)
  }
  await expect.poll(() => findings(), soon).toMatchObject([{ evidence: ['its server cuts connections'] }])
  expect([routeOf('1'), routeOf('2')]).toEqual(['1001', '1002'])
  const since = (await result())?.failing?.since_at
  await close()
  const again = await started(dir)
  const before = source.requests.length
  await expect.poll(() => source.requests.length, soon).toBeGreaterThan(before + 1)
  expect((await again.result())?.failing?.since_at).toBe(since)
  source.answer = (_request, response) => response.end(text)
  await expect.poll(again.failing, soon).toBe(undefined)
  expect(await again.result()).toMatchObject({ changed: 2 })
  expect(again.routeOf('1')).toBe('1011')
})

it('a pulled roster takes effect when its server returns to an older file after a web page', async () => {
  const { source, routeOf, failing } = await pulled(csv(line('1', 1001)))
  /** Answers like a file server that compares only dates. */
  const serving = (text: string, changedAt: number) =>
    (source.answer = ({ headers }, response) => {
      const isKnown = changedAt <= Date.parse(headers['if-modified-since'] ?? '')
      response.writeHead(isKnown ? 304 : 200, { 'last-modified': new Date(changedAt).toUTCString() })
      response.end(isKnown ? undefined : text)
    })
  const roster = csv(line('1', 1011))
  serving(roster, Date.now() - 7_200_000)
  await expect.poll(() => routeOf('1'), soon).toBe('1011')
  serving('<!doctype html><p>Back soon</p>', Date.now() - 60_000)
  await expect.poll(async () => (await failing())?.reason, soon).toMatch(/it is a page/)
  serving(roster, Date.now() - 7_200_000)
  await expect.poll(failing, soon).toBe(undefined)
  expect(routeOf('1')).toBe('1011')
})

it('a pulled roster that fails once is no finding', async () => {
  const { source, findings, failing } = await pulled(csv(line('1', 1001)))
  const serve = source.answer
  let isFailed = false
  source.answer = (request, response) => {
    if (isFailed) serve(request, response)
    else response.writeHead(503).end()
    isFailed = true
  }
  await expect.poll(failing, soon).toMatchObject({ reason: 'its server answers 503' })
  await expect.poll(failing, soon).toBe(undefined)
  expect(await findings()).toEqual([])
})

const text = csv(line('1', 1011))
it.each<[string, RosterServer['answer'], RegExp]>([
  ['another status', (_, to) => to.writeHead(401).end(), /^its server answers 401$/],
  ['no length', (_, to) => (to.socket?.end(`HTTP/1.1 200 OK\r\n\r\n${text}`), undefined), /does not say how long/],
  ['an empty body', (_, to) => to.end(''), /the body is empty/],
  ['a page', (_, to) => to.end('\n<!doctype html><p>Sign in</p>'), /it is a page \(HTML\), no roster/],
  ['too much', (_, to) => to.end(Buffer.alloc(4 * 1024 ** 2 + 1, '#')), /sends more than 4 MiB/],
  ['too much in chunks', (_, to) => chunked(to), /sends more than 4 MiB/],
  ['what is compressed', (_, to) => to.setHeader('content-encoding', 'gzip').end(text), /sends it compressed/],
  ['no column of a roster', (_, to) => to.end('a,b\n1,2\n'), /line 1: device: this column is missing/],
  ['lines of unknown vans alone', (_, to) => to.end(csv(line('77', 1))), /no device has the id or the name "77"/],
  ['a redirect to http', (_, to) => to.writeHead(302, { location: 'http://example.com/' }).end(), /expected https/],
  ['a circle', (_, to) => to.writeHead(302, { location: '/roster.csv' }).end(), /redirects more than 3 times/],
  ['no HTTP', (_, to) => to.socket?.end('220 mail\r\n'), /its server sends what is no HTTP/],
])('a pulled roster is refused if its server answers %s', async (_, answer, reason) => {
  const { source, routeOf, result } = await pulled(csv(line('1', 1001)))
  source.answer = answer
  await expect.poll(async () => (await result())?.failing?.reason, soon).toMatch(reason)
  expect(routeOf('1')).toBe('1001')
})

it('a roster is not pulled from a server with an untrusted certificate', async () => {
  const source = await RosterServer.start(certificate)
  const { failing, result } = await started(await configured(`{ url: "${source.url()}", every: 1s, company_id: 7 }`))
  await expect
    .poll(async () => (await failing())?.reason, soon)
    .toBe('its server has a certificate of an authority that is not trusted')
  expect((await result())?.pulled_at).toBe(undefined)
  expect(source.requests).toEqual([])
})

it('a pull follows a redirect to another server, which does not get the token', async () => {
  const other = await RosterServer.start()
  other.text = csv(line('1', 1001))
  const source = await RosterServer.start()
  source.answer = (_request, response) => response.writeHead(307, { location: other.url('/there') }).end()
  const pull = `{ url: "${source.url()}", every: 1s, token: canary-pull-token, company_id: 7 }`
  const { routeOf } = await started(await configured(pull))
  await expect.poll(() => routeOf('1'), soon).toBe('1001')
  expect(source.requests[0].headers.authorization).toBe('Bearer canary-pull-token')
  expect(other.requests[0]).toMatchObject({ path: '/there', status: 200 })
  expect(other.requests[0].headers.authorization).toBe(undefined)
})

it('a pull follows no redirect from HTTPS to HTTP', async () => {
  const other = await RosterServer.start()
  const source = await RosterServer.start(certificate)
  source.answer = (_request, response) => response.writeHead(302, { location: other.url() }).end()
  const pull = `{ url: "${source.url()}", every: 1s, company_id: 7, ca: "${authority.files.cert}" }`
  const { result } = await started(await configured(pull))
  await expect.poll(async () => (await result())?.failing?.reason, soon).toMatch(/redirects to where no roster/)
  expect(other.requests).toEqual([])
})

it('roster.pull is changed without a restart, unlike other settings of gateway.yaml', async () => {
  const { dir, source, list } = await pulled(csv(line('1', 1001)))
  await pulling(dir, `{ url: "${source.url('/other.csv')}", every: 1s, company_id: 7 }`)
  await expect.poll(() => source.requests.at(-1)?.path, soon).toBe('/other.csv')
  const restarts = async () => (await list<Found>('/admin/findings')).filter(({ code }) => code === 'restart_needed')
  expect(await restarts()).toEqual([])
  await writeFile(join(dir, 'gateway.yaml'), `${await readFile(join(dir, 'gateway.yaml'), 'utf8')}workers: 2\n`)
  await expect.poll(restarts, soon).toMatchObject([{ evidence: ['workers'] }])
})

async function chunked(response: Parameters<RosterServer['answer']>[1]): Promise<void> {
  for (let n = 0; n < 5 && !response.destroyed; n++) response.write(Buffer.alloc(1024 ** 2, '#'))
  response.end()
}
