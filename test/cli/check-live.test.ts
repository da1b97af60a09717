import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import { createServer as createRawServer } from 'node:net'
import tls from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CertificateMaker, type Issued } from '../support/certificates.ts'
import { waybridge } from '../support/cli.ts'
import { folder } from '../support/config-folder.ts'
import { startConnectProxy } from '../support/connect-proxy.ts'
import { freePorts } from '../support/free-ports.ts'
import { atEnd, httpServer, listen } from '../support/tracking/http-servers.ts'

const KEYS = { apikey: 'canary-apikey', token: 'canary-oauth' }
const DEVICES = '"1": { name: Van 12, company_id: 7, courier_id: 42, route_id: 1001 }\n'

let certificates: CertificateMaker
beforeAll(async () => void (certificates = await CertificateMaker.create()))
afterAll(() => certificates.remove())

it('check --live prints a line with its evidence for each step of a working API', async () => {
  const { url, seen } = await startApi()
  const { code, lines } = await checkLive(url)
  const host = new URL(url)
  expect(lines).toEqual([
    'company 7, Express',
    '  ✓ dns         127.0.0.1 is an address and needs no DNS',
    expect.stringMatching(`^  ✓ connection  connected to 127.0.0.1 port ${host.port} in \\d+ ms$`),
    '  ✓ tls         no TLS, on this machine',
    '  ✓ apikey      the apikey is accepted (200)',
    '  ✓ oauth_token the OAuth token is accepted',
    '  ✓ read        0 positions of route 1001 in the last two hours',
    'The tracking API is what it should be, as far as it was tested.',
  ])
  expect(code).toBe(0)
  expect(seen.map(({ body }) => body)).toEqual(['{"positions":[]}', ''])
})

it('check --live --push pushes a position and reads it back', async () => {
  const { url, stored } = await startApi()
  const { code, lines } = await checkLive(url, {}, '--push', '--courier', '42', '--route', '1001')
  expect(lines.slice(-3)).toEqual([
    expect.stringMatching(
      /^  ✓ push        a position of courier 42 on route 1001 at 0, 0 of \d{4}-.*Z is taken \(200\)$/,
    ),
    expect.stringMatching(/^  ✓ read_back   it is read back after \d(?:\.\d)? s$/),
    'The tracking API is what it should be, as far as it was tested.',
  ])
  expect([code, stored.length]).toEqual([0, 1])
  expect(Math.abs(stored[0].timestamp * 1000 - Date.now())).toBeLessThan(30_000)
  // The next position is at the same place.
  Object.assign(stored[0], { lat: 52.5, lon: 13.4, timestamp: stored[0].timestamp - 60 })
  await checkLive(url, {}, '--push', '--courier', '42', '--route', '1001')
  expect(stored[1]).toMatchObject({ lat: 52.5, lon: 13.4 })
})

it('check --live tests each API of a company, through its proxy', async () => {
  const [{ url }, own] = [await startApi(), await startApi()]
  const proxy = await startConnectProxy()
  const more = `, { company_id: 8, apikey: ${KEYS.apikey}, tracking: { base_url: "${own.url}" } }`
  const { lines } = await checkLive(url, { more, proxy: proxy.url })
  expect(lines.slice(0, 3)).toEqual([
    'company 7, Express',
    through(url),
    '  ! tls         no TLS: keys and positions can be read on the way → use https:// in tracking.base_url',
  ])
  const eighth = lines.indexOf('company 8')
  expect(lines.slice(eighth + 1, eighth + 3)).toEqual([
    through(own.url),
    '  ! tls         no TLS: keys and positions can be read on the way → use https:// in tracking.base_url of company 8',
  ])
  expect(own.seen.length).toBeGreaterThan(0)
  expect(new Set(proxy.asked)).toEqual(new Set([url, own.url].map((api) => new URL(api).host)))
})

it('check --live says what a proxy answers that does not connect', async () => {
  const proxy = await startConnectProxy({ credentials: 'fleet:canary' })
  const { code, lines } = await checkLive('https://api.example', { proxy: proxy.url })
  expect(lines[1]).toBe(
    `  ✖ connection  api.example port 443 cannot be reached through the proxy: the proxy ${proxy.url} answers 407 → correct the proxy of the API in gateway.yaml (tracking.proxy), or ask who runs it`,
  )
  expect(code).toBe(1)
})

it('check --live tests an API with a trusted certificate, and says until when it is valid', async () => {
  const issued = await certificates.server('well', { days: 300 })
  trust(issued)
  const { code, lines } = await checkLive(await secureApi(issued))
  expect(lines[3]).toMatch(
    /^ {2}✓ tls {9}the certificate of localhost by localhost is trusted and ends on \d{4}-\d\d-\d\d$/,
  )
  expect(code).toBe(0)
})

it('check --live warns of a certificate that ends within 14 days', async () => {
  const issued = await certificates.server('soon', { days: 3 })
  trust(issued)
  const { code, lines } = await checkLive(await secureApi(issued))
  expect(lines[3]).toMatch(/^ {2}! tls .* ends on \d{4}-\d\d-\d\d → renew the certificate of the API$/)
  expect(code).toBe(0)
})

it('check --live names each host if push_url has another one', async () => {
  const [base, push] = [await startApi(), await startApi()]
  const { lines, code } = await checkLive(base.url, { push_url: push.url })
  expect(lines.filter((line) => line.includes(' connection '))).toEqual([
    expect.stringContaining(`port ${new URL(base.url).port}`),
    expect.stringContaining(`port ${new URL(push.url).port}`),
  ])
  expect([code, base.seen.map(({ method }) => method), push.seen.map(({ method }) => method)]).toEqual([
    0,
    ['GET'],
    ['POST'],
  ])
})

it.each<[string, (request: Asked, response: ServerResponse) => void, RegExp]>([
  [
    'a refused apikey',
    ({ method }, response) => answer(response, method === 'POST' ? 403 : 200, method === 'POST' ? REFUSED : '[]'),
    /✖ apikey {6}the apikey is refused: 403 no key \*\*\* → set the apikey of company 7 in gateway\.yaml/,
  ],
  [
    'an unknown courier',
    ({ method }, response) =>
      answer(response, method === 'POST' ? 404 : 200, method === 'POST' ? '{"message":"gone"}' : '[]'),
    /✖ apikey {6}the API does not know courier 42 on route 1001: 404 gone → correct the courier or the route/,
  ],
  [
    'a refused OAuth token',
    ({ method }, response) =>
      answer(response, method === 'POST' ? 200 : 401, method === 'POST' ? '' : 'OAuth canary-oauth'),
    /✖ oauth_token the API refuses the OAuth token of company 7: 401 OAuth \*\*\* → set the oauth_token/,
  ],
  [
    'an answer to a read that is no list',
    ({ method }, response) => answer(response, 200, method === 'POST' ? '' : '{"a":1}'),
    /✖ read {8}the API answers 200 no list of positions → correct tracking\.base_url/,
  ],
  [
    'a page',
    ({ url }, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<html>${url}`),
    /✖ apikey {6}what answers is not the tracking API: 200 text\/html, begins with: <html>\/api\/v1.*apikey=\*\*\* → correct tracking\.base_url/,
  ],
  [
    'a page for the read',
    ({ method }, response) => answer(response, 200, method === 'POST' ? '' : '<html>canary-oauth'),
    /✖ read {8}what answers is not the tracking API: 200 application\/json, begins with: <html>\*\*\* → /,
  ],
  [
    'a redirect',
    ({ url = '' }, response) =>
      response.writeHead(302, { location: `http://login.example/?to=${encodeURIComponent(url)}` }).end(),
    /✖ apikey {6}what answers is not the tracking API: 302, redirects to: http:\/\/login\.example\/\?to=.*apikey%3D\*\*\* → correct/,
  ],
  [
    'another server, without this path',
    (_, response) => answer(response, 404, '<html>nginx'),
    /✖ apikey {6}the API answers 404 <html>nginx → correct tracking\.base_url/,
  ],
  ['no answer in time', () => {}, /✖ apikey {6}the API does not answer within 1 s → tell who runs the tracking API/],
  [
    'an error of the API',
    (_, response) => answer(response, 503, 'later'),
    /✖ apikey {6}the API answers 503 later → tell who runs/,
  ],
])('check --live ends with exit code 1 and says what to change for %s', async (_, respond, line) => {
  const { url } = await startApi(respond)
  const { code, out } = await checkLive(url, { timeout: '1s' })
  expect(out).toMatch(line)
  expect([code, out.trimEnd().split('\n').at(-1)]).toEqual([1, 'The test fails for 1 company.'])
})

it('check --live says that a host does not exist, and tests no key there', async () => {
  const { code, lines } = await checkLive('https://waybridge.invalid')
  expect(lines[1]).toMatch(
    /^ {2}✖ dns {9}(?:the host name waybridge\.invalid does not exist → correct tracking\.base_url|the DNS of this machine does not answer)/,
  )
  expect(lines.slice(2, 5)).toEqual([
    '  – apikey      not tested, since a step before failed',
    '  – oauth_token not tested, since a step before failed',
    '  – read        not tested, since a step before failed',
  ])
  expect(code).toBe(1)
})

it('check --live says that nothing listens on a port', async () => {
  const [port] = await freePorts(1)
  const { code, lines } = await checkLive(`http://127.0.0.1:${port}`)
  expect(lines[2]).toBe(
    `  ✖ connection  127.0.0.1 port ${port} refuses connections → start the API, or correct the port in tracking.base_url`,
  )
  expect(code).toBe(1)
})

it('check --live says that the embedded service does not run', async () => {
  const [port] = await freePorts(1)
  const { lines } = await checkLive(null, { port })
  expect(lines[2]).toContain('refuses connections → start waybridge: its embedded tracking service listens there')
})

it.each<[string, () => Promise<Issued>, boolean, RegExp]>([
  [
    'has ended',
    () => certificates.expired('ended'),
    true,
    /✖ tls {9}the certificate of localhost ended on \d{4}-\d\d-\d\d → renew/,
  ],
  [
    'signs itself',
    () => certificates.server('self'),
    false,
    /✖ tls {9}the certificate of localhost is signed by nobody but localhost itself → if the authority is your own, name its certificate in tracking\.tls\.ca/,
  ],
  [
    'has another name',
    () => certificates.issue('other', { cn: 'other.example', san: 'DNS:other.example' }),
    true,
    /✖ tls {9}the certificate is for other\.example, not for localhost → correct tracking\.base_url/,
  ],
  [
    'is of an unknown authority',
    async () => certificates.server('signed', { by: await certificates.authority('Nobody') }),
    false,
    /✖ tls {9}the certificate of localhost is signed by Nobody, whom this machine does not trust → if the authority is your own, name its certificate in tracking\.tls\.ca/,
  ],
  [
    'is of an unknown authority that comes with it',
    async () => {
      const by = await certificates.authority('Somebody')
      const issued = await certificates.server('chained', { by })
      return { ...issued, cert: issued.cert + by.cert }
    },
    false,
    /✖ tls {9}the certificate of localhost is signed by Somebody, whom this machine does not trust → /,
  ],
])('check --live says what to change for a certificate that %s', async (_, issue, isTrusted, line) => {
  const issued = await issue()
  if (isTrusted) trust(issued)
  const { code, out } = await checkLive(await secureApi(issued))
  expect(out).toMatch(line)
  expect(code).toBe(1)
})

it('check --live says that a server speaks no TLS, or says nothing', async () => {
  const plain = await checkLive((await httpServer(() => {})).replace('http:', 'https:'))
  expect(plain.out).toMatch(
    /✖ tls {9}127\.0\.0\.1 does not complete a TLS handshake \(.*\) → correct tracking\.base_url: http/,
  )
  const mute = await checkLive((await listen(createRawServer(() => {}))).replace('http:', 'https:'), {
    timeout: '1s',
  })
  expect(mute.out).toMatch(/✖ tls {9}127\.0\.0\.1 does not complete a TLS handshake \(no answer within 1 s\)/)
  expect([plain.code, mute.code]).toEqual([1, 1])
})

it.each([
  [404, /✖ push {8}the API refuses a position of courier 42 on route 1001: 404 → correct the courier or the route/],
  [503, /✖ push {8}the API answers 503 → tell who runs the tracking API/],
])('check --live says what to change if a position is answered with %d', async (status, line) => {
  let pushes = 0
  const { url } = await startApi(({ method }, response) =>
    method === 'POST' && ++pushes > 1 ? answer(response, status) : answer(response, 200, '[]'),
  )
  const { code, out } = await checkLive(url, {}, '--push', '--courier', '42', '--route', '1001')
  expect(out).toMatch(line)
  expect(code).toBe(1)
})

it('check --live says that a position was accepted but cannot be read back', async () => {
  const { url } = await startApi(({ method }, response) => answer(response, 200, method === 'POST' ? '' : '[]'))
  const { code, out } = await checkLive(url, { timeout: '1s' }, '--push', '--courier', '42', '--route', '1001')
  expect(out).toMatch(
    /✖ read_back {3}it is not among the 0 positions of its second after 1 s → tell who runs the tracking API/,
  )
  expect(code).toBe(1)
})

it('check --live does not fail if one of two apikeys is refused, or without an oauth_token', async () => {
  const { url } = await startApi(({ url: path = '' }, response) =>
    answer(response, path.endsWith('apikey=new') ? 200 : 403),
  )
  const { code, lines } = await checkLive(url, { apikey: '[old, new]', oauth_token: '' })
  expect(lines.slice(4, 8)).toEqual([
    expect.stringMatching(/^ {2}! apikey {6}apikey 1 of 2 is refused: 403 → set the apikey/),
    '  ✓ apikey      apikey 2 of 2 is accepted (200)',
    '  – oauth_token company 7 has no oauth_token: nothing is read back, orders and numbers are not relayed',
    '  – read        there is no oauth_token to read with',
  ])
  expect(code).toBe(0)
})

it('check --live says that it has no courier to test the key with', async () => {
  const { url } = await startApi(({ method }, response) =>
    answer(response, method === 'POST' ? 404 : 200, method === 'POST' ? '' : '[]'),
  )
  const { code, out } = await checkLive(url, { devices: '' })
  expect(out).toContain('! apikey      no courier is known to test the apikey with: 404 → name a courier and a route')
  expect(code).toBe(0)
})

it.each([
  [['--push'], 'check --live: name the courier and the route that get the position (--company, --courier, --route).\n'],
  [
    ['--courier', '42'],
    'check --live: name both the courier and the route, or none of them (--company, --courier, --route).\n',
  ],
  [['--company', '9'], 'check --live: there is no company 9 in gateway.yaml (--company, --courier, --route).\n'],
  [['--courier', 'x', '--route', '1'], '--courier x: expected an id: a whole number from 0 to 9223372036854775807.\n'],
])('check --live asks for what %j lacks', async (options, errors) => {
  expect(await checkLive('http://127.0.0.1:1', {}, ...options)).toMatchObject({ code: 1, errors })
})

it('check --live asks for the company of a courier that no file names', async () => {
  const more = ', { company_id: 8, apikey: other }'
  const named = ['--push', '--courier', '5', '--route', '6']
  const { code, errors } = await checkLive('http://127.0.0.1:1', { more }, ...named)
  expect([code, errors]).toEqual([
    1,
    'check --live: several companies may have courier 5 on route 6: name the company (--company, --courier, --route).\n',
  ])
})

it('check --live says that there are no companies', async () => {
  const dir = await folder({ 'gateway.yaml': 'tracking: { base_url: "http://127.0.0.1:1" }\n' })
  expect(await waybridge(['check', '--live', '--config', dir])).toMatchObject({
    code: 1,
    errors: `${dir}: there are no companies: add yours under companies in gateway.yaml; without them nothing is tested.\n`,
  })
})

it('check --live tests nothing and says so if the configuration has mistakes', async () => {
  const dir = await folder({ 'gateway.yaml': 'workers: none\n' })
  const { code, out } = await waybridge(['check', '--live', '--config', dir])
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/gateway\.yaml:1:10 workers: [^\n]*\nThe tracking API was not tested: [^\n]*\n$/),
  ])
})

it('check refuses --push, --company, --courier and --route without --live', async () => {
  const dir = await folder({})
  expect((await waybridge(['check', '--push', '--config', dir])).errors).toBe(
    'check: --push, --company, --courier and --route need --live.\n',
  )
})

/** Line about a connection through the proxy. */
const through = (api: string) =>
  expect.stringMatching(
    `^  ✓ connection  connected to 127.0.0.1 port ${new URL(api).port} through the proxy in \\d+ ms$`,
  )

type Asked = Pick<IncomingMessage, 'method' | 'url'>

interface Settings {
  readonly push_url?: string
  readonly apikey?: string
  readonly oauth_token?: string
  readonly devices?: string
  /** Further companies. */
  readonly more?: string
  /** Default: 10 s. */
  readonly timeout?: string
  /** Port of the embedded service. */
  readonly port?: number
  readonly proxy?: string
}

/** Runs `check --live` with this API, and checks that its output contains no secret. */
async function checkLive(base_url: string | null, settings: Settings = {}, ...options: string[]) {
  const {
    push_url = null,
    apikey = KEYS.apikey,
    oauth_token = KEYS.token,
    devices = DEVICES,
    more = '',
    port = 8090,
    timeout = '10s',
    proxy = null,
  } = settings
  const token = oauth_token && `, oauth_token: ${oauth_token}`
  const tracking = JSON.stringify({ base_url, push_url, proxy, listen: { host: '127.0.0.1', port } })
  const dir = await folder({
    'gateway.yaml': `tracking: ${tracking}
data_dir: data
push: { timeout: ${timeout} }
companies: [{ company_id: 7, name: Express, apikey: ${apikey}${token} }${more}]
`,
    'devices.yaml': devices,
  })
  const ended = await waybridge(['check', '--live', ...options, '--config', dir])
  expect(ended.out + ended.errors).not.toContain('canary')
  return { ...ended, lines: ended.out.trimEnd().split('\n') }
}

interface Stored {
  readonly timestamp: number
  readonly lat: number
  readonly lon: number
}

/** Starts a tracking API that stores pushed positions, or answers as the test says. */
async function startApi(respond?: (request: Asked, response: ServerResponse) => void) {
  const seen: { method?: string; body: string }[] = []
  const stored: Stored[] = []
  const url = await listen(createServer((request, response) => void take(request, response)))

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString()
    seen.push({ method: request.method, body })
    if (respond) return respond(request, response)
    const { pathname, searchParams } = new URL(request.url ?? '', url)
    if (request.method === 'GET') {
      const [from, to] = ['from', 'to'].map((name) => Number(searchParams.get(name)))
      const isRight = request.headers.authorization === `OAuth ${KEYS.token}` && pathname.includes('/routes/1001/')
      return answer(
        response,
        isRight ? 200 : 401,
        JSON.stringify(stored.filter(({ timestamp }) => timestamp >= from && timestamp <= to)),
      )
    }
    const { positions } = JSON.parse(body) as {
      positions: { timestamp: number; point: { lat: number; lon: number } }[]
    }
    const isRight = searchParams.get('apikey') === KEYS.apikey && pathname.includes('/couriers/42/routes/1001/')
    if (isRight) stored.push(...positions.map(({ timestamp, point }) => ({ timestamp, ...point })))
    answer(response, isRight ? 200 : 403)
  }
  return { url, seen, stored }
}

function answer(response: ServerResponse, status: number, text = ''): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)
}

async function secureApi({ cert, key }: Issued): Promise<string> {
  const server = https.createServer({ cert, key }, (request, response) => {
    request.resume()
    answer(response, 200, request.method === 'GET' ? '[]' : '')
  })
  return (await listen(server)).replace('http://127.0.0.1', 'https://localhost')
}

/** Listens until the test ends. */
function trust({ cert }: Issued): void {
  const usual = tls.getCACertificates()
  tls.setDefaultCACertificates([...usual, cert])
  atEnd(() => tls.setDefaultCACertificates(usual))
}

const REFUSED = '{"message":"no key canary-apikey"}'
