import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import https from 'node:https'
import net, { type Socket } from 'node:net'
import { getCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTrackingClient } from '../../src/tracking/client.ts'
import { CertificateMaker } from '../support/certificates.ts'
import { securePort } from '../support/secure-port.ts'
import { client, httpServer, listen, OK, PUSH, rawServer, stopLimits } from '../support/tracking/http-servers.ts'

describe('a TLS fault', () => {
  let certificates: CertificateMaker
  beforeAll(async () => void (certificates = await CertificateMaker.create()))
  afterAll(() => certificates.remove())

  async function secureServer(): Promise<{ readonly url: string; readonly ca: string }> {
    const { key, cert } = await certificates.server('api')
    const url = await listen(https.createServer({ key, cert }, (_request, response) => response.end('{}')))
    return { url: url.replace('http://127.0.0.1', 'https://localhost'), ca: cert }
  }

  async function refusingPlain(answer: () => string | undefined): Promise<string> {
    const { key, cert } = await certificates.server('api')
    return listen(securePort(https.createServer({ key, cert }), answer))
  }

  it('the client gives the fault authority for an untrusted certificate, and accepts one of a configured CA', async () => {
    const { url, ca } = await secureServer()
    expect(await client(url).push(PUSH)).toEqual({ fault: 'authority' })
    expect(await client(url, { tls: { ca: [...getCACertificates(), ca] } }).push(PUSH)).toMatchObject({ status: 200 })
  })

  it('the client gives the fault needs_tls for a TLS host without TLS, and none for a host without TLS', async () => {
    const { url } = await secureServer()
    expect(await client(url.replace('https:', 'http:')).push(PUSH)).toEqual({ fault: 'needs_tls' })
  })

  it.each([
    ['nginx', '<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head>'],
    ['Go', 'Client sent an HTTP request to an HTTPS server.\n'],
    ['a proxy without a word', ''],
  ])('the client gives the fault needs_tls if %s answers 400 to a request without TLS', async (_, page) => {
    expect(await client(await refusingPlain(() => BAD_REQUEST + page)).push(PUSH)).toEqual({ fault: 'needs_tls' })
  })

  it('the client gives no fault if the API itself answers 400 at a port with and without TLS', async () => {
    const url = await refusingPlain(() => `${BAD_REQUEST}{"message":"no such field"}`)
    expect(await client(url).push(PUSH)).toEqual({ status: 400, text: 'no such field' })
  })

  it('the client gives no fault if a host without TLS answers 400 with a page', async () => {
    const url = await httpServer((_request, response) => response.writeHead(400).end('<html>Bad Request'))
    expect(await client(url).push(PUSH)).toMatchObject({ status: 400 })
  })

  it('the client gives the fault needs_tls when a host that cut connections begins to speak TLS', async () => {
    let answer: string | undefined
    const one = client(await refusingPlain(() => answer))
    expect(await one.push(PUSH)).toEqual({ fault: 'reset' })
    answer = BAD_REQUEST
    await expect.poll(() => one.push(PUSH), { timeout: 10_000 }).toEqual({ fault: 'needs_tls' })
  })

  it('the client gives the fault no_tls for a host without TLS', async () => {
    const url = await httpServer((_request, response) => response.end('{}'))
    expect(await client(url.replace('http:', 'https:')).push(PUSH)).toEqual({ fault: 'no_tls' })
  })

  it.each<[string, https.ServerOptions]>([
    ['asks for a client certificate', { requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' }],
    ['speaks versions of TLS alone that are refused', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }],
  ])('the client gives the fault handshake if the host %s', async (_, options) => {
    const { cert, key } = await certificates.server('strict')
    const server = https.createServer({ ...options, cert, key, ciphers: 'DEFAULT@SECLEVEL=0' })
    const url = (await listen(server)).replace('http:', 'https:').replace('127.0.0.1', 'localhost')
    expect(await client(url, { tls: { ca: [cert] } }).push(PUSH)).toEqual({ fault: 'handshake' })
  })
})

it.each(['127.0.0.1', 'localhost'])('the client gives the fault refused if nothing listens on %s', async (host) => {
  const server = net.createServer()
  const url = await listen(server)
  server.close()
  await once(server, 'close')
  expect(await client(url.replace('127.0.0.1', host)).push(PUSH)).toEqual({ fault: 'refused' })
})

it('the client gives the fault dns if the host has no address', async () => {
  expect(await client('http://host.invalid').push(PUSH)).toEqual({ fault: 'dns' })
})

it('the client gives the fault reset if the connection is reset', async () => {
  expect(await client(await rawServer((socket) => socket.resetAndDestroy())).push(PUSH)).toEqual({ fault: 'reset' })
})

it('the client gives the fault reset if the connection ends without an answer', async () => {
  expect(await client(await rawServer((socket) => socket.end())).push(PUSH)).toEqual({ fault: 'reset' })
})

it.each([
  ['half a status line', 'HTTP/1.1 20'],
  ['half a head', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ['half a body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{'],
  ['half of the chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'],
])('the client gives the fault reset if the connection ends after %s', async (_, text) => {
  expect(await client(await rawServer((socket) => socket.end(text))).push(PUSH)).toEqual({ fault: 'reset' })
})

it('the client gives the fault malformed if the answer is no HTTP', async () => {
  expect(await client(await rawServer((socket) => socket.end('SSH-2.0-x\r\n'))).push(PUSH)).toEqual({
    fault: 'malformed',
  })
})

it('the client gives the fault timeout if the server is silent', async () => {
  const sent = Promise.withResolvers<void>()
  const url = await rawServer(() => sent.resolve())
  const pass = stopLimits()
  const pushed = client(url, { timeoutMs: 60_000 }).push(PUSH)
  await sent.promise
  pass(60_000)
  expect(await pushed).toEqual({ fault: 'timeout' })
})

it('the client gives the fault timeout if the answer drips until the deadline', async () => {
  const dripped = Promise.withResolvers<void>()
  const url = await rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
    let drops = 0
    const drip = setInterval(() => socket.write('x', () => ++drops === 10 && dripped.resolve()), 10)
    socket.on('close', () => clearInterval(drip))
  })
  const pass = stopLimits()
  const pushed = client(url, { timeoutMs: 60_000 }).push(PUSH)
  await dripped.promise
  pass(60_000)
  expect(await pushed).toEqual({ fault: 'timeout' })
})

it('the client does not take a late answer for the next push', async () => {
  const late = Promise.withResolvers<Socket>()
  const url = await rawServer((socket, count) =>
    count === 1 ? late.resolve(socket) : socket.write(OK.replace('200 OK', '404 Not Found')),
  )
  const pass = stopLimits()
  const one = client(url, { timeoutMs: 60_000, connections: 1 })
  const pushed = one.push(PUSH)
  const socket = await late.promise
  pass(60_000)
  expect(await pushed).toEqual({ fault: 'timeout' })
  if (socket.writable) socket.write(OK)
  expect(await one.push(PUSH)).toEqual({ status: 404, text: '{}' })
})

it('the client never sends a request whose deadline ends while it waits for a connection', async () => {
  const sent: string[] = []
  const held: ServerResponse[] = []
  const url = await httpServer((request, response) => {
    sent.push(request.url ?? '')
    request.resume()
    held.push(response)
  })
  const patient = client(url, { connections: 1, timeoutMs: 600_000 })
  const ask = (company: string, timeoutMs?: number) =>
    patient.request({ operation: 'listNumbers', params: { company_id: company }, oauthToken: 'canary', timeoutMs })
  const first = ask('7')
  await expect.poll(() => sent.length).toBe(1)
  expect(await ask('8', 100)).toEqual({ fault: 'timeout', unsent: true })
  const next = ask('9')
  held[0].end('[]')
  await expect.poll(() => sent.length).toBe(2)
  held[1].end('[]')
  expect(await Promise.all([first, next])).toMatchObject([{ status: 200 }, { status: 200 }])
  expect(sent[1]).toContain('/companies/9/')
})

it('the client says whether nothing of a failed request was sent', async () => {
  const sent = Promise.withResolvers<void>()
  const silent = await listen(net.createServer((socket) => socket.once('data', () => sent.resolve())))
  const dialled = await listen(net.createServer())
  const resetting = await listen(net.createServer((socket) => socket.once('data', () => socket.resetAndDestroy())))
  const pass = stopLimits()
  const busy = client(silent, { connections: 1 })
  const asked = { operation: 'listNumbers', params: { company_id: '7' }, oauthToken: 'canary' } as const
  const replies = Promise.all([
    client('http://host.invalid').request(asked),
    client(dialled.replace('http:', 'https:'), { timeoutMs: 100 }).request(asked),
    busy.request({ ...asked, timeoutMs: 1000 }),
    busy.request({ ...asked, timeoutMs: 100 }),
    client(resetting).request(asked),
  ])
  await sent.promise
  pass(1000)
  expect(await replies).toEqual([
    { fault: 'dns', unsent: true },
    { fault: expect.any(String) as unknown, unsent: true },
    { fault: 'timeout' },
    { fault: 'timeout', unsent: true },
    { fault: 'reset' },
  ])
})

it('the client gives the fault closed after close', async () => {
  const one = createTrackingClient({ baseUrl: 'http://127.0.0.1:1', timeoutMs: 1_000, connections: 1 })
  await one.close()
  expect(await one.push(PUSH)).toEqual({ fault: 'closed' })
})

const BAD_REQUEST = 'HTTP/1.0 400 Bad Request\r\n\r\n'
