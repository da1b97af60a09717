import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CertificateMaker, type Issued } from '../support/certificates.ts'
import { startConnectProxy } from '../support/connect-proxy.ts'
import { freePorts } from '../support/free-ports.ts'
import { client, httpServer, listen, PUSH } from '../support/tracking/http-servers.ts'

let certificates: CertificateMaker
let authority: Issued
beforeAll(async () => {
  certificates = await CertificateMaker.create()
  authority = await certificates.issue('authority', { cn: 'Fleet CA', isAuthority: true })
})
afterAll(() => certificates.remove())

it('the client reaches an API through its proxy, for pushes and other operations', async () => {
  const url = await httpServer((_, response) => response.end('[]'))
  const proxy = await startConnectProxy()
  const api = client(url, { proxy: proxy.url })
  expect(await api.push(PUSH)).toMatchObject({ status: 200 })
  const request = {
    operation: 'courierPositions',
    params: { company_id: '7', route_id: '1' },
    oauthToken: 't',
  } as const
  expect(await api.request(request)).toMatchObject({ status: 200 })
  expect(new Set(proxy.asked)).toEqual(new Set([new URL(url).host]))
})

it('the client speaks TLS through a proxy, with a private CA and a client certificate', async () => {
  const served = await certificates.issue('api', { cn: 'api', san: 'IP:127.0.0.1', by: authority })
  const own = await certificates.issue('own', { cn: 'waybridge', by: authority })
  const subjects: unknown[] = []
  const server = https.createServer(
    { cert: served.cert, key: served.key, ca: authority.cert, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      subjects.push((request.socket as TLSSocket).getPeerCertificate().subject)
      request.resume().on('end', () => response.end())
    },
  )
  const secure = (await listen(server)).replace('http:', 'https:')
  const proxy = await startConnectProxy()
  const tls = { ca: authority.cert, cert: own.cert, key: own.key }
  for (const more of [{ proxy: proxy.url }, {}]) {
    expect(await client(secure, { tls, ...more }).push(PUSH)).toMatchObject({ status: 200 })
    expect(await client(secure, more).push(PUSH)).toEqual({ fault: 'authority' })
  }
  expect(subjects).toEqual([{ CN: 'waybridge' }, { CN: 'waybridge' }])
  expect(proxy.asked).toEqual([new URL(secure).host, new URL(secure).host])
})

it('the client sends the credentials of a proxy only to the proxy', async () => {
  const seen: http.IncomingHttpHeaders[] = []
  const url = await httpServer((request, response) => {
    seen.push(request.headers)
    response.end()
  })
  const proxy = await startConnectProxy({ credentials: 'fleet:p@ss' })
  const address = proxy.url.replace('http://', 'http://fleet:p%40ss@')
  expect(await client(url, { proxy: address }).push(PUSH)).toMatchObject({ status: 200 })
  expect(JSON.stringify(seen)).not.toMatch(/proxy-auth|p@ss|ZmxlZXQ/)
  expect(await client(url, { proxy: proxy.url }).push(PUSH)).toEqual({ fault: 'proxy' })
})

it.each([
  ['that refuses connections', async () => `http://127.0.0.1:${(await freePorts(1))[0]}`],
  ['that refuses the host', async () => (await startConnectProxy({ status: 502 })).url],
  ['that is no proxy', () => listen(net.createServer((socket) => socket.end('no\r\n\r\n')))],
])('the client does not reach an API directly if its proxy is one %s', async (_, proxyUrl) => {
  let asked = 0
  const url = await httpServer((_request, response) => {
    asked++
    response.end()
  })
  expect(await client(url, { proxy: await proxyUrl() }).push(PUSH)).toEqual({ fault: 'proxy' })
  expect(asked).toBe(0)
})

it('the client finds out through a proxy that an API speaks TLS', async () => {
  const served = await certificates.issue('api-2', { cn: 'api', san: 'IP:127.0.0.1', by: authority })
  const url = await listen(https.createServer({ cert: served.cert, key: served.key }, (_, response) => response.end()))
  const proxy = await startConnectProxy()
  expect(await client(url, { proxy: proxy.url }).push(PUSH)).toEqual({ fault: 'needs_tls' })
  expect(proxy.asked).toHaveLength(2)
})

it('a request through a proxy that hangs ends at its time limit', async () => {
  const server = net.createServer()
  const proxy = await listen(server)
  const connected = once(server, 'connection')
  const pushed = client('http://127.0.0.1:9', { proxy, timeoutMs: 300 }).push(PUSH)
  await connected
  expect(['timeout', 'proxy']).toContain(((await pushed) as { fault: string }).fault)
})
