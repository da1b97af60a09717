import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { join } from 'node:path'
import tls from 'node:tls'
import { describe, expect, it } from 'vitest'
import type { ApiAnswer } from '../../src/tracking/answer.ts'
import type { PushRequest, TrackingClientOptions } from '../../src/tracking/client.ts'
import { atEnd, client, httpServer, listen, OK, PUSH, rawServer } from '../support/tracking/http-servers.ts'

/** Answer to an accepted push. */
const DELIVERED = { status: 200, text: '', date: expect.stringMatching(/ GMT$/) }

it('the client pushes with a POST that has content length and type', async () => {
  expect(await received((url) => [url, {}])).toEqual({
    answer: DELIVERED,
    seen: {
      method: 'POST',
      url: '/api/v1/couriers/42/routes/9223372036854775807/push-positions-v3?apikey=CANARY',
      length: '16',
      type: 'application/json',
      encoding: undefined,
      body: '{"positions":[]}',
    },
  })
})

it.each([
  ['text beyond ASCII', '{"note":"é"}'],
  ['a Buffer', Buffer.from('{"note":"é"}')],
])('the client pushes a body of %s with its length in bytes', async (_, body) => {
  const { seen } = await received((url) => [url, {}], { body })
  expect(seen).toMatchObject({ length: '13', body: '{"note":"é"}' })
})

it.each([
  ['/', ''],
  ['/prefix', '/prefix'],
  ['/a/b//', '/a/b'],
])('the client pushes below a base URL that ends in %s to %s/api', async (suffix, prefix) => {
  const { seen } = await received((url) => [url + suffix, {}], {})
  expect(seen).toMatchObject({ url: expect.stringMatching(`^${prefix}/api/v1/couriers/42/`) })
})

it('the client pushes to the push URL if there is one', async () => {
  const { seen } = await received((url) => ['http://127.0.0.1:1/base', { pushUrl: `${url}/push/` }], {})
  expect(seen).toMatchObject({ url: expect.stringMatching('^/push/api/v1/couriers/42/') })
})

it('the client refuses an invalid URL with an error that has no password', () => {
  expect(() => client('http://user:CANARY@host:port/')).toThrow('http://***@host:port/ is not a URL')
})

it('the client percent-encodes the apikey of a push', async () => {
  const { seen } = await received((url) => [url, {}], { apikey: 'a b&c=d/é#\ud800' })
  expect(seen).toMatchObject({ url: expect.stringMatching(/\?apikey=a%20b%26c%3Dd%2F%C3%A9%23%EF%BF%BD$/) })
})

it('the client opens as many connections as configured, and keeps them', async () => {
  let open = 0
  let most = 0
  const server = http.createServer((request, response) => void request.resume().on('end', () => response.end('{}')))
  server.on('connection', () => (most = Math.max(most, ++open)))
  const one = client(await listen(server), { connections: 3 })
  const answers = await Promise.all(Array.from({ length: 50 }, () => one.push(PUSH)))
  for (let i = 0; i < 5; i++) answers.push(await one.push(PUSH))
  expect(answers).toEqual(Array.from({ length: 55 }, () => DELIVERED))
  expect(most).toBe(3)
})

it('the client sends one request at a time on a connection', async () => {
  let busy = 0
  let most = 0
  const url = await httpServer((request, response) => {
    most = Math.max(most, ++busy)
    request.resume().on('end', () => setImmediate(() => response.end('{}', () => busy--)))
  })
  const one = client(url, { connections: 1 })
  await Promise.all(Array.from({ length: 20 }, () => one.push(PUSH)))
  expect(most).toBe(1)
})

it('the client gives a fault for a connection that the server ends, and opens another', async () => {
  const url = await rawServer((socket, count) => (count === 2 ? socket.destroy() : socket.write(OK)))
  const one = client(url, { connections: 1 })
  const answers = [await one.push(PUSH), await one.push(PUSH), await one.push(PUSH)]
  expect(answers).toMatchObject([{ status: 200 }, { fault: 'reset' }, { status: 200 }])
})

describe('HTTPS', () => {
  it('the client gives the fault authority for an untrusted certificate', async () => {
    expect(await client(await httpsServer()).push(PUSH)).toEqual({ fault: 'authority' })
  })

  it('the client gives the fault no_tls if the server speaks no TLS', async () => {
    const url = await httpServer((_, response) => response.end())
    expect(await client(url.replace('http:', 'https:')).push(PUSH)).toEqual({ fault: 'no_tls' })
  })

  it('the client pushes over HTTPS with a trusted certificate', async () => {
    const usual = tls.getCACertificates()
    tls.setDefaultCACertificates([...usual, pem('cert')])
    atEnd(() => tls.setDefaultCACertificates(usual))
    expect(await client(await httpsServer()).push(PUSH)).toEqual(DELIVERED)
  })
})

/** Pushes with a client for the URL of a server; returns the answer and the received request. */
async function received(
  options: (url: string) => [string, Partial<TrackingClientOptions>],
  push: Partial<PushRequest> = {},
): Promise<{ answer: ApiAnswer; seen: object }> {
  let seen: object = {}
  const url = await httpServer((request, response) => {
    const { 'content-length': length, 'content-type': type, 'transfer-encoding': encoding } = request.headers
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      seen = { method: request.method, url: request.url, length, type, encoding, body }
      response.end('{}')
    })
  })
  return { answer: await client(...options(url)).push({ ...PUSH, ...push }), seen }
}

async function httpsServer(): Promise<string> {
  const server = https.createServer({ key: pem('key'), cert: pem('cert') }, (request, response) => {
    request.resume()
    response.end('{}')
  })
  return (await listen(server)).replace('http:', 'https:')
}

function pem(name: 'key' | 'cert'): string {
  return readFileSync(join(import.meta.dirname, '../support/tracking', `localhost.${name}.pem`), 'utf8')
}
