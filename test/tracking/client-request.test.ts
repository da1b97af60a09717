import { getEventListeners } from 'node:events'
import net from 'node:net'
import { gzipSync } from 'node:zlib'
import { errors } from 'undici'
import { expect, it } from 'vitest'
import type { OperationRequest, TrackingClientOptions } from '../../src/tracking/client.ts'
import { faultOf } from '../../src/tracking/exchange.ts'
import { client, httpServer, listen, OK, stopLimits } from '../support/tracking/http-servers.ts'

const MAX_ID = '9223372036854775807'
const NUMBER: OperationRequest = {
  operation: 'getNumber',
  params: { company_id: '7', contractor_company_id: MAX_ID },
  oauthToken: 'CANARY',
}

it.each([
  ['getNumber', 'GET', `/api/v1/companies/1/numbers/${MAX_ID}`],
  ['putNumber', 'POST', `/api/v1/companies/1/numbers/${MAX_ID}`],
  ['listNumbers', 'GET', '/api/v1/companies/1/numbers'],
  ['deleteNumber', 'DELETE', `/api/v1/companies/1/numbers/${MAX_ID}`],
  ['courierPositions', 'GET', '/api/v2/companies/1/routes/2/courier-positions'],
  ['addItems', 'POST', '/api/v1/companies/1/orders/3/items'],
  ['listItems', 'GET', '/api/v1/companies/1/orders/3/items'],
  ['deleteItems', 'DELETE', '/api/v1/companies/1/orders/3/items'],
  ['deleteItem', 'DELETE', '/api/v1/companies/1/orders/3/items/4'],
  ['returnItems', 'POST', '/companies/1/orders/3:return'],
  ['returnItemsV1', 'POST', '/companies/1/orders/3:return'],
] as const)('the client sends %s as a %s to %s, with the token', async (operation, method, path) => {
  const params = { company_id: '1', contractor_company_id: MAX_ID, route_id: '2', order_id: '3', item_id: '4' }
  const { seen } = await requested({ operation, params })
  expect(seen).toMatchObject({ method, url: path, headers: { authorization: 'OAuth CANARY' } })
})

it.each(['returnItems', 'returnItemsV1'] as const)(
  'the client sends %s to the path with the prefix of returns',
  async (operation) => {
    const request = { operation, params: { company_id: '1', order_id: '3' } }
    const { seen } = await requested(request, { returnPrefix: '/api/v1' })
    expect(seen.url).toBe('/api/v1/companies/1/orders/3:return')
  },
)

it('the client sends a request below the path of the base URL, not to the push URL', async () => {
  const { seen } = await requested({}, { pushUrl: 'http://127.0.0.1:1' }, '/base/')
  expect(seen.url).toBe(`/base/api/v1/companies/7/numbers/${MAX_ID}`)
})

it('the client shows its base URL without the password', () => {
  expect(client('https://user:CANARY@host:8443/base').baseUrl).toBe('https://***@host:8443/base')
})

it('the client encodes the query and leaves out parameters without a value', async () => {
  const query = { page_token: 'a b&c=d/é#?+', max_results: undefined }
  const { seen } = await requested({ operation: 'listItems', params: { company_id: '1', order_id: '2' }, query })
  expect(seen.url).toBe('/api/v1/companies/1/orders/2/items?page_token=a+b%26c%3Dd%2F%C3%A9%23%3F%2B')
})

it('the client gives a fault if a header cannot carry the token', async () => {
  const url = await httpServer((_request, response) => response.end())
  expect(await client(url).request({ ...NUMBER, oauthToken: 'a\r\nb: c' })).toMatchObject({ fault: 'failed' })
})

it('the client sends the body and headers of a request, with the length', async () => {
  const body = Buffer.from(' {"number" : "é"}\n')
  const headers = { 'content-type': 'application/json; charset=utf-8', 'x-thing': 'a' }
  const { seen } = await requested({ operation: 'putNumber', headers, body })
  expect(seen.body).toEqual(body)
  expect(seen.headers).toEqual({
    ...headers,
    authorization: 'OAuth CANARY',
    'content-length': '19',
    host: expect.any(String),
    connection: 'keep-alive',
    'user-agent': expect.any(String),
    'x-request-id': expect.any(String),
    traceparent: expect.any(String),
  })
})

it('the client returns an answer of 2 MiB that follows an informational one', async () => {
  const body = 'x'.repeat(2 * 1_048_576)
  const url = await httpServer((_, response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' }, () => response.end(body))
  })
  expect(await client(url).request(NUMBER)).toMatchObject({ status: 200, cut: false })
})

it('the client sends no length and no type without a body', async () => {
  const { seen } = await requested({})
  expect(Object.keys(seen.headers).toSorted()).toEqual([
    'authorization',
    'connection',
    'host',
    'traceparent',
    'user-agent',
    'x-request-id',
  ])
})

it('the client returns an answer unchanged: status, headers, bytes', async () => {
  const body = gzipSync('{"number":"1"}')
  const url = await httpServer((_, response) => {
    response.writeHead(203, ['Content-Encoding', 'gzip', 'X-Late', 'caf\xe9', 'Vary', 'a', 'Vary', 'b']).end(body)
  })
  const reply = await client(url).request(NUMBER)
  expect(reply).toMatchObject({
    status: 203,
    headers: { 'content-encoding': 'gzip', 'x-late': 'caf\xe9', vary: ['a', 'b'] },
    chunks: [body],
  })
})

it('the client gives the fault too_large for an answer longer than the limit', async () => {
  const url = await httpServer((_, response) => void response.end('x'.repeat(1_000)))
  expect(await client(url).request({ ...NUMBER, maxBytes: 999 })).toEqual({ fault: 'too_large' })
  expect(await client(url).request({ ...NUMBER, maxBytes: 1_000 })).toMatchObject({ status: 200, cut: false })
})

it('the client gives the fault too_large as soon as Content-Length is beyond the limit', async () => {
  const url = await httpServer((_, response) => {
    response.setHeader('content-length', 1_000)
    response.flushHeaders()
  })
  expect(await client(url).request({ ...NUMBER, maxBytes: 999 })).toEqual({ fault: 'too_large' })
})

it('the client gives the fault no_room without memory for the answer, and closes the connection', async () => {
  const closed = Promise.withResolvers<void>()
  const url = await httpServer((_, response) => {
    response.on('close', () => closed.resolve())
    response.write('x'.repeat(1_000))
  })
  let taken = 0
  const take = (bytes: number) => (taken += bytes) < 1_000
  expect(await client(url).request({ ...NUMBER, take })).toEqual({ fault: 'no_room' })
  await closed.promise
})

it('the client ends a request at the time limit of that request', async () => {
  const sent = Promise.withResolvers<void>()
  const url = await httpServer(() => sent.resolve())
  const pass = stopLimits()
  const reply = client(url).request({ ...NUMBER, timeoutMs: 50 })
  await sent.promise
  pass(50)
  expect(await reply).toEqual({ fault: 'timeout' })
})

it('the client gives the fault given_up when its signal aborts, and closes the connection', async () => {
  const closed = Promise.withResolvers<void>()
  const abort = new AbortController()
  const url = await httpServer((_, response) => {
    response.on('close', () => closed.resolve())
    abort.abort()
  })
  expect(await client(url).request({ ...NUMBER, signal: abort.signal })).toEqual({ fault: 'given_up' })
  await closed.promise
})

it('the client keeps the connection if a request is aborted before it is sent', async () => {
  const seen: string[] = []
  const url = await httpServer((request, response) => {
    seen.push(request.url ?? '')
    response.end()
  })
  const one = client(url, { connections: 1 })
  expect(await one.request({ ...NUMBER, signal: AbortSignal.abort() })).toEqual({ fault: 'given_up', unsent: true })
  expect(await one.request({ ...NUMBER, operation: 'listNumbers' })).toMatchObject({ status: 200 })
  expect(seen).toEqual(['/api/v1/companies/7/numbers'])
})

it('the client removes its listener from a signal that outlives the request', async () => {
  const abort = new AbortController()
  const url = await httpServer((_, response) => void response.end())
  const one = client(url)
  await one.request({ ...NUMBER, signal: abort.signal })
  expect(getEventListeners(abort.signal, 'abort')).toEqual([])
})

it('the client does not repeat a request if the connection ends', async () => {
  let count = 0
  const url = await httpServer((request) => {
    count++
    request.socket.destroy()
  })
  const reply = await client(url).request({
    ...NUMBER,
    operation: 'addItems',
    params: { company_id: '7', order_id: '1' },
  })
  expect([reply, count]).toEqual([{ fault: 'reset' }, 1])
})

it.each(['100 Continue', '101 Switching Protocols'])(
  'the client gives the fault malformed if the answer is %s, which was not requested',
  async (said) => {
    const url = await listen(
      net.createServer((socket) => {
        socket.once('data', () => socket.write(`HTTP/1.1 ${said}\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n${OK}`))
      }),
    )
    expect(await client(url).request(NUMBER)).toEqual({ fault: 'malformed' })
  },
)

it('the client gives the fault unreachable if the host does not accept the connection in time', () => {
  expect(faultOf(new errors.ConnectTimeoutError())).toBe('unreachable')
})

interface Seen {
  method?: string
  url?: string
  headers: object
  body: Buffer
}

/** Returns the request that a server receives from a client. */
async function requested(
  request: Partial<OperationRequest>,
  options: Partial<TrackingClientOptions> = {},
  path = '',
): Promise<{ seen: Seen }> {
  const seen = Promise.withResolvers<Seen>()
  const url = await httpServer((incoming, response) => {
    const { method, url: target, headers } = incoming
    const chunks: Buffer[] = []
    incoming
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        seen.resolve({ method, url: target, headers, body: Buffer.concat(chunks) })
        response.end('{}')
      })
  })
  await client(url + path, options).request({ ...NUMBER, ...request })
  return { seen: await seen.promise }
}
