import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createConnection } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { parametersOf } from '../../src/tracking/openapi.ts'
import { OPERATIONS, type OperationName } from '../../src/tracking/operations.ts'
import { VERSION } from '../../src/version.ts'
import { OPERATE, READ, recordingServer, relayFixture } from '../support/relay.ts'

const TOKEN = 'canary-oauth/7'
const MAX_ID = '9223372036854775807'
const relay = relayFixture([
  { company_id: '7', apikey: 'canary-apikey', oauth_token: TOKEN },
  { company_id: '8', apikey: 'canary-apikey' },
])

type Relayed = Exclude<OperationName, 'pushPositions'>

const BODIES: Partial<Record<Relayed, string>> = {
  putNumber: ' {"number" : "12-\\u0041", "later": 1e400}\n',
  addItems: '[{"number":"A","description":"","price":"1","total_count":9223372036854775807}]',
  returnItems: '[{"item_id":9223372036854775807,"undelivered_count":0}]',
  returnItemsV1: '[{"item_id":1,"undelivered_count":1}]',
}
const RELAYED = Object.keys(OPERATIONS).filter((name): name is Relayed => name !== 'pushPositions')
const BY_BODY = RELAYED.filter((name) => name in BODIES)
const NUMBER = `/api/v1/companies/7/numbers/${MAX_ID}`
const JSON_TYPE = { 'content-type': 'application/json' }

/** Returns a valid request for an operation. */
function requestOf(name: Relayed, company = '7') {
  const { method, path } = OPERATIONS[name]
  const ids: Record<string, string> = { company_id: company, route_id: '1001', order_id: '3', item_id: '4' }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? MAX_ID)
  const query = name === 'courierPositions' ? '?from=100&to=200' : ''
  const body = BODIES[name]
  return { path: filled + query, method, body, headers: body === undefined ? OPERATE : { ...OPERATE, ...JSON_TYPE } }
}

async function answering(
  status: number,
  headers: Record<string, string | string[]> | string[] = {},
  body: string | Buffer = '',
) {
  const { url, seen } = await recordingServer((response) => response.writeHead(status, headers as string[]).end(body))
  relay.relayTo(url)
  return seen
}

it.each(RELAYED)('the relay relays %s unchanged, with the token', async (name) => {
  const seen = await answering(200, JSON_TYPE, '{"a":1}')
  const { path, ...request } = requestOf(name)
  const { status, text } = await relay.ask(path, request)
  expect([status, text]).toEqual([200, '{"a":1}'])
  expect(seen).toHaveLength(1)
  expect(seen[0]).toMatchObject({
    method: request.method,
    url: name === 'returnItemsV1' ? '/companies/7/orders/3:return' : path,
    body: Buffer.from(request.body ?? ''),
    headers: { authorization: `OAuth ${TOKEN}` },
  })
})

it.each(['returnItems', 'returnItemsV1'] as const)('the relay relays %s to the configured prefix', async (name) => {
  const { url, seen } = await recordingServer((response) => response.end('[]'))
  relay.relayTo(`${url}/base`, { returnPrefix: '/api/v1' })
  const { path, ...request } = requestOf(name)
  expect((await relay.ask(path, request)).status).toBe(200)
  expect(seen.map((each) => each.url)).toEqual(['/base/api/v1/companies/7/orders/3:return'])
})

it('the relay relays a body of 4 MiB', async () => {
  const seen = await answering(200)
  const body = `{"number":"1"}${' '.repeat(4 * 1024 * 1024 - 14)}`
  expect((await relay.ask(NUMBER, { method: 'POST', headers: { ...OPERATE, ...JSON_TYPE }, body })).status).toBe(200)
  expect(seen[0].body.equals(Buffer.from(body))).toBe(true)
})

it.each([
  ['DELETE', NUMBER],
  ['GET', NUMBER],
] as const)('the relay relays a %s without its body and content headers', async (method, path) => {
  const seen = await answering(200)
  expect((await relay.ask(path, { method, headers: { ...OPERATE, ...JSON_TYPE }, body: '{"x":1}' })).status).toBe(200)
  expect(seen.map(({ body, headers }) => [body.length, headers['content-type']])).toEqual([[0, undefined]])
})

it.each(['abc', 'a b&c=d/é#?+', '🚚'])(
  'the relay relays the page token %s, and no unknown parameter',
  async (token) => {
    const seen = await answering(200)
    const query = new URLSearchParams({ page_token: token, apikey: 'canary-x', max_results: '5' })
    await relay.ask(`/api/v1/companies/7/orders/3/items?${query.toString()}`)
    const passed = new URL(seen[0].url ?? '', 'http://x').searchParams
    expect(Object.fromEntries(passed)).toEqual({ page_token: token, max_results: '5' })
  },
)

it('the relay relays an interval without `to`', async () => {
  const seen = await answering(200)
  await relay.ask('/api/v2/companies/7/routes/1/courier-positions?from=100')
  expect(seen[0].url).toBe('/api/v2/companies/7/routes/1/courier-positions?from=100')
})

it('the relay answers 405 to another method, and HEAD like a GET without the body', async () => {
  const seen = await answering(200, { ...JSON_TYPE, etag: '"1"' }, '{"number":"1"}')
  const { status, headers } = await relay.ask(NUMBER, { method: 'PUT' })
  expect([status, headers.allow, seen.length]).toEqual([405, 'GET, HEAD, POST, DELETE', 0])
  const head = await relay.ask(NUMBER, { method: 'HEAD' })
  expect([head.status, head.headers.etag, head.headers['content-length'], head.text]).toEqual([200, '"1"', '14', ''])
})

it('the relay does not relay the push', async () => {
  const seen = await answering(200)
  const path = '/api/v1/couriers/42/routes/1001/push-positions-v3?apikey=canary-apikey'
  expect((await relay.ask(path, { method: 'POST' })).status).toBe(404)
  expect(seen).toEqual([])
})

it.each(RELAYED)('the relay needs a token of the admin port for %s', async (name) => {
  const seen = await answering(200)
  const { path, ...request } = requestOf(name, '99')
  const { status, headers } = await relay.ask(path, { ...request, headers: { authorization: `OAuth ${TOKEN}` } })
  expect([status, headers['www-authenticate'], seen.length]).toEqual([401, 'Bearer', 0])
})

it.each(RELAYED)('the relay needs the role operate for %s if it is a change', async (name) => {
  const seen = await answering(200)
  const { path, ...request } = requestOf(name)
  const { status } = await relay.ask(path, { ...request, headers: { ...request.headers, ...READ } })
  expect([status, seen.length]).toEqual(request.method === 'GET' ? [200, 1] : [403, 0])
})

it.each(RELAYED)('the relay needs a configured company for %s, whatever the input', async (name) => {
  const seen = await answering(200)
  const { path, ...request } = requestOf(name, '99')
  const { status, json } = await relay.ask(`${path.replace(/\?.*/, '')}?from=x&max_results=0`, {
    ...request,
    body: '{',
    headers: { ...OPERATE, 'content-type': 'text/plain' },
  })
  expect([status, json, seen.length]).toEqual([404, { message: 'there is no company 99 in gateway.yaml' }, 0])
})

it.each(RELAYED)('the relay needs an oauth_token of the company for %s', async (name) => {
  const seen = await answering(200)
  const { path, ...request } = requestOf(name, '8')
  const { status, json } = await relay.ask(path, request)
  const message = 'company 8 has no oauth_token in gateway.yaml: add it there, next to its apikey'
  expect([status, json, seen.length]).toEqual([403, { message }, 0])
})

it('the relay uses the oauth_token of the present configuration', async () => {
  const seen = await answering(200)
  const before = relay.companies
  onTestFinished(() => void (relay.companies = before))
  relay.companies = [{ company_id: '99', apikey: 'k', oauth_token: 'canary-new' }]
  const [gone, come] = [await relay.ask(NUMBER), await relay.ask('/api/v1/companies/99/numbers')]
  expect([gone.status, come.status]).toEqual([404, 200])
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(['OAuth canary-new'])
})

it.each(RELAYED.flatMap((name) => parametersOf(OPERATIONS[name].path).map((parameter) => [name, parameter] as const)))(
  'the relay refuses without a call: %s with a wrong %s',
  async (name, parameter) => {
    const seen = await answering(200)
    const { method } = OPERATIONS[name]
    const path = OPERATIONS[name].path.replaceAll(/\{(\w+)\}/g, (_, id: string) => (id === parameter ? '-5' : '7'))
    const { status, json } = await relay.ask(path, { method })
    expect([status, json]).toEqual([
      422,
      expect.objectContaining({ errors: [{ path: parameter, message: `expected an integer from 0 to ${MAX_ID}` }] }),
    ])
    expect(seen).toEqual([])
  },
)

it.each(BY_BODY)('the relay refuses %s without a call if its body is missing, no JSON or too large', async (name) => {
  const seen = await answering(200)
  const { path, method, headers } = requestOf(name)
  const bodies = [undefined, '', '{', 'null', '[{}]', ' '.repeat(4 * 1024 * 1024 + 1)]
  for (const body of bodies) expect((await relay.ask(path, { method, headers, body })).status).toBe(422)
  expect((await relay.ask(path, { method, headers: OPERATE, body: BODIES[name] })).status).toBe(422)
  expect(seen).toEqual([])
})

it.each([
  ['addItems', 'number'],
  ['returnItems', 'item_id'],
] as const)('the relay refuses %s without a call if two entries have the same %s', async (name, field) => {
  const seen = await answering(200)
  const { path, method, headers, body = '' } = requestOf(name)
  const twice = `[${body.slice(1, -1)},${body.slice(1, -1)}]`
  const { status, json } = await relay.ask(path, { method, headers, body: twice })
  const errors = [{ path: `1.${field}`, message: 'it occurs twice in this body' }]
  expect([status, json]).toEqual([422, { message: `1.${field}: it occurs twice in this body`, errors }])
  expect(seen).toEqual([])
})

it.each([
  ['to=200', 'from'],
  ['from=x', 'from'],
  ['from=200&to=100', 'to'],
  [`from=0&to=${31 * 86_400 + 1}`, 'to'],
  ['from=1&from=2', 'from'],
])('the relay answers 400 without a call for positions of %s', async (query, path) => {
  const seen = await answering(200)
  const { status, json } = await relay.ask(`/api/v2/companies/7/routes/1/courier-positions?${query}`)
  expect([status, json, seen.length]).toEqual([
    400,
    expect.objectContaining({ errors: [expect.objectContaining({ path })] }),
    0,
  ])
})

it('the relay names the longest interval in a refusal', async () => {
  const { json } = await relay.ask('/api/v2/companies/7/routes/1/courier-positions?from=0&to=2678401')
  expect(json).toMatchObject({ message: 'to: must be at most 744 hours after from' })
})

it.each([
  ['a path that is no percent-encoding', '/api/v1/companies/7/numbers/%zz', {}, 'the path cannot be decoded'],
  ['a content type that is none', NUMBER, { 'content-type': '?' }, 'the content type cannot be understood'],
])('the relay answers 422 to %s', async (_, path, headers, message) => {
  const seen = await answering(200)
  const { status, json } = await relay.ask(path, { method: 'POST', headers: { ...OPERATE, ...headers }, body: '{}' })
  expect([status, json, seen.length]).toEqual([422, { message }, 0])
})

it('the relay refuses a body that ends early without a call, and audits that', async () => {
  const seen = await answering(200)
  const path = '/api/v1/companies/7/numbers/404'
  const socket = createConnection(relay.port, '127.0.0.1')
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer canary-operate\r\ncontent-length: 99\r\n`
  socket.end(`${head}content-type: application/json\r\n\r\n{"number":"1"}`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /)
  const entry = { method: 'POST', path, status: 422 }
  await expect
    .poll(async () => (await relay.ask('/admin/audit?max_results=1')).json)
    .toMatchObject({ results: [entry] })
  expect(seen).toEqual([])
})

it('the relay relays request headers about the content', async () => {
  const seen = await answering(200)
  const headers = {
    accept: 'application/json',
    'accept-language': 'de',
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'dispatch/1.2',
    'if-none-match': '"1"',
    'content-language': 'de',
    range: 'bytes=0-9',
    'x-request-id': '17',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'a=1',
  }
  await relay.ask(NUMBER, { method: 'POST', headers: { ...OPERATE, ...headers }, body: '{"number":"1"}' })
  const { host, ...got } = seen[0].headers
  expect(got).toEqual({
    ...headers,
    authorization: `OAuth ${TOKEN}`,
    'content-length': '14',
    connection: 'keep-alive',
  })
  expect(host).not.toBe(`127.0.0.1:${relay.port}`)
})

it('the relay relays no request headers about the caller or the connection', async () => {
  const seen = await answering(200)
  const lines = [
    'host: admin.example',
    'accept-encoding: gzip, br',
    'authorization: Bearer canary-operate',
    'cookie: session=canary-cookie',
    'connection: keep-alive, If-Hop, close',
    'if-hop: canary-hop',
    'keep-alive: timeout=5',
    'proxy-authorization: Basic canary-proxy',
    'proxy-connection: keep-alive',
    'te: trailers',
    'forwarded: for=canary-client',
    'x-forwarded-for: canary-client',
    'x-real-ip: canary-client',
    'via: 1.1 canary-proxy',
    'origin: https://canary-page',
    'referer: https://canary-page/',
    'x-api-key: canary-key',
    'trailer: x-late',
    'transfer-encoding: chunked',
    'upgrade: h2c',
    'expect: 100-continue',
    'content-type: application/json',
  ]
  const socket = createConnection(relay.port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(
    `POST ${NUMBER} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\ne\r\n{"number":"1"}\r\n0\r\nx-late: canary\r\n\r\n`,
  )
  await once(socket, 'close')
  expect(Buffer.concat(chunks).toString()).toContain('HTTP/1.1 200 OK')
  expect(Object.keys(seen[0].headers).toSorted()).toEqual([
    'authorization',
    'connection',
    'content-length',
    'content-type',
    'host',
    'traceparent',
    'user-agent',
    'x-request-id',
  ])
  expect(seen[0].headers).toMatchObject({
    'user-agent': `waybridge/${VERSION}`,
    authorization: `OAuth ${TOKEN}`,
    'content-length': '14',
    connection: 'keep-alive',
  })
  expect(JSON.stringify(seen)).not.toMatch(/canary-(?!oauth)|admin\.example/)
})

const PORTS_OWN = ['content-security-policy', 'referrer-policy', 'x-content-type-options', 'cache-control']

it.each([
  ['200', 200, '{"id":9223372036854775807,"number":"1"}'],
  ['a page of another kind', 200, '<html>'],
  ['nothing', 200, ''],
  ['201', 201, 'é'],
  ['301', 301, ''],
  ['400', 400, '{"message":"no"}'],
  ['404', 404, '{"message":"no","more":[1]}'],
  ['418', 418, 'tea'],
  ['429', 429, ''],
  ['500', 500, 'Internal'],
  ['599', 599, 'x'],
])('the relay passes on an answer unchanged: %s', async (_, status, body) => {
  await answering(status, { 'content-type': 'text/x-thing; q=1', location: '/else', 'retry-after': '7' }, body)
  const answer = await relay.ask(NUMBER)
  expect([answer.status, answer.text]).toEqual([status, body])
  expect(answer.headers).toMatchObject({ 'content-type': 'text/x-thing; q=1', location: '/else', 'retry-after': '7' })
})

it.each([204, 304])('the relay passes on %d with its headers, without body and length', async (status) => {
  await answering(status, { etag: '"1"' })
  const { headers, text, ...answer } = await relay.ask(NUMBER)
  expect([answer.status, headers.etag, headers['content-length'], headers['content-type'], text]).toEqual([
    status,
    '"1"',
    undefined,
    undefined,
    '',
  ])
})

it('the relay passes on a 304 with a Content-Length', async () => {
  await answering(304, { etag: '"1"', 'content-length': '99999999' })
  const { status, headers, text } = await relay.ask(NUMBER)
  expect([status, headers.etag, text]).toEqual([304, '"1"', ''])
})

it.each([
  ['no type for an answer without one', {}, 'x', undefined],
  ['no type for an empty answer without one', {}, '', undefined],
  ['the type of an empty answer', JSON_TYPE, '', 'application/json'],
  ['an invalid type', { 'content-type': '?' }, 'x', '?'],
  ['two types', ['content-type', 'a/b', 'content-type', 'c/d'], 'x', ['a/b', 'c/d']],
])('the relay passes on %s', async (_, given, body, type) => {
  await answering(200, given, body)
  const { headers, text } = await relay.ask(NUMBER)
  expect([headers['content-type'], headers['content-length'], text]).toEqual([type, String(body.length), body])
})

it.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
] as const)('the relay passes on an answer encoded as %s', async (encoding, encode) => {
  const body = encode('{"number":"1"}')
  await answering(200, { ...JSON_TYPE, 'content-encoding': encoding, etag: 'W/"1"', vary: 'accept-encoding' }, body)
  const { headers, bytes } = await relay.ask(NUMBER)
  expect(bytes).toEqual(body)
  expect(headers).toMatchObject({
    'content-encoding': encoding,
    etag: 'W/"1"',
    vary: 'accept-encoding',
    'content-length': String(body.length),
  })
})

it('the relay passes on a chunked answer byte for byte', async () => {
  const body = Buffer.from(Array.from({ length: 300_000 }, (_, n) => n % 256))
  const { url } = await recordingServer((response) => {
    for (let at = 0; at < body.length; at += 1_000) response.write(body.subarray(at, at + 1_000))
    response.end()
  })
  relay.relayTo(url)
  expect((await relay.ask(NUMBER)).bytes.equals(body)).toBe(true)
})

it('the relay passes on response headers about the content, and keeps those of the admin port', async () => {
  const headers = [
    'Connection',
    'x-hop',
    'X-Hop',
    'canary',
    'Keep-Alive',
    'timeout=5',
    'Proxy-Authenticate',
    'Basic',
    'Trailer',
    'x-late',
    'Upgrade',
    'h2c',
    'Set-Cookie',
    'a=canary',
    'Set-Cookie',
    'b=canary',
    'Alt-Svc',
    'h3=":443"',
    'Content-Security-Policy',
    'default-src *',
    'Link',
    '<a>',
    'Link',
    '<b>',
    'X-Name',
    'caf\xe9',
    'Cache-Control',
    'max-age=5',
    'WWW-Authenticate',
    'OAuth',
    'Expires',
    'Fri, 01 Jan 2100 00:00:00 GMT',
    'Pragma',
    'x',
    'Age',
    '1',
    'Refresh',
    '0;url=/else',
    'Service-Worker-Allowed',
    '/',
    'Permissions-Policy',
    'camera=*',
    'Strict-Transport-Security',
    'max-age=31536000',
    'Access-Control-Allow-Origin',
    '*',
  ]
  await answering(200, headers, 'x')
  const answer = (await relay.ask(NUMBER)).headers
  expect(answer).toMatchObject({
    link: ['<a>', '<b>'],
    'x-name': 'caf\xe9',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  })
  const others = Object.keys(answer).filter((name) => !PORTS_OWN.includes(name))
  expect(others.toSorted()).toEqual(['connection', 'content-length', 'date', 'keep-alive', 'link', 'x-name'])
  expect(answer.connection).toBe('keep-alive')
})

const WRITINGS = [
  TOKEN,
  encodeURIComponent(TOKEN),
  encodeURIComponent(TOKEN).toLowerCase(),
  TOKEN.replace('/', '\\/'),
  TOKEN.replace('/', '\\u002F'),
  TOKEN.replace('/', '&#x2F;'),
  TOKEN.replaceAll(/./g, (character) => `%${character.charCodeAt(0).toString(16)}`),
  TOKEN.replaceAll(/./g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`),
]
const MASKED = `<p>OAuth ${WRITINGS.map(() => '***').join(' and ')} \xff</p>`
const page = Buffer.from(`<p>OAuth ${WRITINGS.join(' and ')} \xff</p>`, 'latin1')

it.each([
  ['plain', undefined, page],
  ['identity', 'identity', page],
])('the relay masks the token in the body of an error: %s', async (_, encoding, body) => {
  await answering(403, { 'content-type': 'text/html', ...(encoding && { 'content-encoding': encoding }) }, body)
  const { status, headers, bytes } = await relay.ask(NUMBER)
  expect([status, bytes.toString('latin1'), headers['content-encoding']]).toEqual([403, MASKED, undefined])
  expect(headers).toMatchObject({ 'content-type': 'text/html', 'content-length': String(MASKED.length) })
})

it.each([200, 201, 302, 401, 500])('the relay masks the token in headers of a %d', async (status) => {
  for (const written of WRITINGS) {
    await answering(status, { location: `/login?token=${written}&x`, link: [`<${written}>`, '<b>'] })
    const { headers } = await relay.ask(NUMBER)
    expect(headers).toMatchObject({ location: '/login?token=***&x', link: ['<***>', '<b>'] })
  }
})

it('the relay passes on a token in the body of a success', async () => {
  await answering(200, {}, page)
  expect((await relay.ask(NUMBER)).bytes).toEqual(page)
})

it.each([
  ['encoded in a way that nobody knows', 'aes'],
  ['encoded although nobody asked for it', 'gzip'],
])('the relay leaves out the body of an error that is %s', async (_, encoding) => {
  await answering(500, { 'content-encoding': encoding }, page)
  const { status, bytes, headers } = await relay.ask(NUMBER)
  expect([status, bytes.length, headers['content-encoding']]).toEqual([500, 0, undefined])
})

it('the relay passes on an error without the token unchanged', async () => {
  const body = Buffer.from('{"message":"n\xf6"}')
  await answering(403, { etag: '"1"' }, body)
  const { bytes, headers } = await relay.ask(NUMBER)
  expect([bytes, headers.etag]).toEqual([body, '"1"'])
})

it('the relay audits relayed changes', async () => {
  await answering(418)
  await relay.ask(NUMBER)
  await relay.ask(`${NUMBER}?apikey=canary-x`, { method: 'DELETE' })
  const { json } = await relay.ask('/admin/audit?max_results=1')
  expect(json).toMatchObject({
    results: [
      {
        token: 'admin.tokens[0]',
        method: 'DELETE',
        path: `${NUMBER}?apikey=***`,
        operation: OPERATIONS.deleteNumber.path,
        status: 418,
      },
    ],
  })
})

it('the relay audits a change once with its result although its caller disconnected', async () => {
  const asked = Promise.withResolvers<ServerResponse>()
  const { url } = await recordingServer((response) => asked.resolve(response))
  relay.relayTo(url)
  const path = '/api/v1/companies/7/numbers/8'
  const logged = relay.log.length
  const caller = new AbortController()
  const body = '{"number":"+49891234567"}'
  const answer = relay.ask(path, { method: 'POST', headers: { ...OPERATE, ...JSON_TYPE }, body, signal: caller.signal })
  const response = await asked.promise
  caller.abort()
  await expect(answer).rejects.toThrow()
  response.end('{"id":1}')
  const newest = async () => {
    const { json } = await relay.ask('/admin/audit?max_results=2')
    return (json as { results: { path: string; status: number }[] }).results.map((entry) => [entry.path, entry.status])
  }
  await expect.poll(newest).toContainEqual([path, 200])
  expect((await newest()).filter(([changed]) => changed === path)).toHaveLength(1)
  const errors = relay.log.slice(logged).filter((line) => line.includes('"level":50'))
  // After ten seconds the log says that no gateway and no worker run.
  expect(errors.filter((line) => !line.includes('"reason":"no_'))).toEqual([])
})

it('the relay logs no secret', () => {
  expect(relay.log.length).toBeGreaterThan(100)
  expect(relay.log.join('')).not.toContain('canary')
})
