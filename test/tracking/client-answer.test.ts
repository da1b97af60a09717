import { createServer, type OutgoingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { ApiAnswer } from '../../src/tracking/answer.ts'
import { retryAfterMs } from '../../src/tracking/exchange.ts'
import { client, httpServer, listen, OK, PUSH, rawServer } from '../support/tracking/http-servers.ts'

/** Time of the server. */
const date = expect.stringMatching(/ GMT$/)

it.each([
  ['with its message', '{"message":"no such route","errors":[]}', 'no such route'],
  ['with its body where the message is no text', '{"message":1}', '{"message":1}'],
  ['with its body where it has no message', '{"error":"x"}', '{"error":"x"}'],
  ['with its body where it is no JSON', '{oops', '{oops'],
  ['with its body where it is HTML', '<h1>Bad Gateway</h1>', '<h1>Bad Gateway</h1>'],
  ['without a body', '', ''],
  ['without the apikey that it quotes', 'Cannot POST /x?apikey=CANARY, CANARY', 'Cannot POST /x?apikey=***, ***'],
  ['of at most 512 bytes', 'x'.repeat(5_000), 'x'.repeat(512)],
  ['of at most 512 bytes of a message', JSON.stringify({ message: 'x'.repeat(5_000) }), 'x'.repeat(512)],
  ['of at most 512 bytes, without half a character', `x${'é'.repeat(2_000)}`, `x${'é'.repeat(255)}`],
])('the client returns an error answer %s as its text', async (_, body, text) => {
  expect(await answering(404, body)).toEqual({ status: 404, text, date })
})

it('the client masks an apikey that the answer quotes percent-encoded', async () => {
  const url = await httpServer((request, response) => {
    request.resume()
    response.writeHead(500).end(request.url)
  })
  const answer = await client(url).push({ ...PUSH, apikey: 'CAN/ARY' })
  expect(answer).toMatchObject({ status: 500, text: expect.stringMatching(/\?apikey=\*\*\*$/) })
})

it.each([429, 503])('the client reads the Retry-After of a %d', async (status) => {
  expect(await answering(status, '', { 'retry-after': '120' })).toEqual({
    status,
    text: '',
    date,
    retryAfterMs: 120_000,
  })
})

it('the client cuts an endless answer and closes its connection', async () => {
  const closed = Promise.withResolvers<void>()
  const url = await httpServer((request, response) => {
    request.resume()
    response.on('close', () => closed.resolve()).writeHead(422)
    const write = (): boolean => response.write('x'.repeat(10_000)) && write()
    response.on('drain', write)
    write()
  })
  expect(await client(url).push(PUSH)).toEqual({ status: 422, text: 'x'.repeat(512), date })
  await closed.promise
})

it('the client cuts an answer in 70,000 pieces of a byte if they take as much memory as a long one', async () => {
  const url = await rawServer((socket) => {
    socket.write(`HTTP/1.1 422 No\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(70_000)}`)
  })
  expect(await client(url).push(PUSH)).toMatchObject({ status: 422, text: 'x'.repeat(328) })
})

it('the client accepts a success in 70,000 pieces of a blank without delay', async () => {
  const url = await rawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(70_000)}`)
  })
  const started = performance.now()
  expect(await client(url).push(PUSH)).toEqual({ status: 200, text: '' })
  expect(performance.now() - started).toBeLessThan(5_000)
})

it('the client skips 103 Early Hints and returns the final answer', async () => {
  const url = await rawServer((socket) => socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${OK}`))
  expect(await client(url).push(PUSH)).toEqual({ status: 200, text: '' })
})

it.each([300, 301, 302, 303, 304, 307, 308])(
  'the client does not follow the redirect %d, which is not an answer of the API',
  async (status) => {
    const seen: (string | undefined)[] = []
    const url = await httpServer((request, response) => {
      request.resume()
      seen.push(request.method)
      response.writeHead(status, { location: 'http://login.example/?from=CANARY', 'content-type': 'text/plain' }).end()
    })
    const location = 'http://login.example/?from=***'
    expect(await client(url).push(PUSH)).toEqual({ notTheApi: { status, type: 'text/plain', location } })
    expect(seen).toEqual(['POST'])
  },
)

it.each([
  ['its type', 'hello', 'text/html', 'hello'],
  ['its type in capitals with a charset', 'hello', 'Text/HTML; charset=utf-8', 'hello'],
  ['its type of XHTML', 'hello', 'application/xhtml+xml', 'hello'],
  ['its first character', '<html>hello nginx', 'application/json', '<html>hello nginx'],
  ['its first character behind blanks and a byte order mark', '\ufeff\r\n\t <p>', undefined, '<p>'],
  ['its first character in UTF-16', Buffer.from('\ufeff<\0p', 'utf16le'), undefined, '< p'],
])('the client recognises HTML in a success as a foreign answer by %s', async (_, body, type, begins) => {
  for (const status of [200, 201, 203]) {
    const answer = await answering(status, body, type === undefined ? {} : { 'content-type': type })
    expect(answer).toEqual({ notTheApi: { status, type, location: undefined, begins } })
  }
})

it.each([
  ['text', 200, 'ok', 'text/plain'],
  ['JSON', 200, '{"saved":"<b>"}', 'application/json'],
  ['JSON that the server calls nothing', 200, '[]', undefined],
  ['text with a < in it', 200, 'saved < 1 s', 'text/plain'],
  ['nothing', 200, '', undefined],
  ['no content', 204, '', undefined],
  ['nothing, which the server calls HTML', 200, '', 'text/html'],
  ['blanks', 200, '\r\n', 'text/plain'],
])('the client accepts a success with %s', async (_, status, body, type) => {
  const answer = await answering(status, body, type === undefined ? {} : { 'content-type': type })
  expect(answer).toMatchObject({ status })
})

it('the client shows the first characters of a foreign answer in one line, without the apikey', async () => {
  const page = `<html>\n\u202e<a href="?apikey=CAN%2FARY">CAN/ARY</a>\0${'é'.repeat(200)}`
  const url = await httpServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  })
  const shown = `<html> <a href="?apikey=***">***</a> ${'é'.repeat(83)}…`
  expect(await client(url).push({ ...PUSH, apikey: 'CAN/ARY' })).toMatchObject({ notTheApi: { begins: shown } })
})

it('the client recognises a foreign answer by its first bytes, and cuts an endless page', async () => {
  const closed = Promise.withResolvers<void>()
  const url = await httpServer((request, response) => {
    request.resume()
    response.writeHead(200)
    const timer = setInterval(() => response.write('<p>x</p>'), 5)
    response.once('close', () => {
      clearInterval(timer)
      closed.resolve()
    })
  })
  expect(await client(url).push(PUSH)).toMatchObject({
    notTheApi: { status: 200, begins: expect.stringMatching(/^<p>x<\/p><p>x/) },
  })
  await closed.promise
})

it('the client recognises a foreign answer in a body announced as longer than it reads', async () => {
  const url = await httpServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-length': 10_000_000 }).write('<html>')
  })
  expect(await client(url).push(PUSH)).toMatchObject({ notTheApi: { status: 200 } })
})

it('the client shows no part of an apikey at the end of a page', async () => {
  const url = await httpServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/html' }).write('<a href="?apikey=CANA')
  })
  const answer = await client(url).push(PUSH)
  expect(answer).toMatchObject({ notTheApi: { begins: '<a href="?apike' } })
})

it('the client keeps the connection of a success with a body', async () => {
  let connections = 0
  const server = createServer((request, response) => void request.resume().on('end', () => response.end('{"a":1}')))
  server.on('connection', () => connections++)
  const one = client(await listen(server), { connections: 1 })
  for (let pushes = 0; pushes < 5; pushes++) expect(await one.push(PUSH)).toMatchObject({ status: 200 })
  expect(connections).toBe(1)
})

describe('Retry-After', () => {
  const now = Date.parse('2026-11-20T10:00:00Z')
  it.each([
    ['0', 0],
    ['3600', 3_600_000],
    ['Fri, 20 Nov 2026 10:01:30 GMT', 90_000],
    ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['9'.repeat(30), undefined],
    ['', undefined],
  ])('reads Retry-After %s as %s ms', (header, ms) => {
    expect(retryAfterMs(header, now)).toBe(ms)
  })
})

/** Returns the answer to a push from a server with this response. */
async function answering(status: number, body: string | Buffer, headers: OutgoingHttpHeaders = {}): Promise<ApiAnswer> {
  const url = await httpServer((request, response) => {
    request.resume()
    response.writeHead(status, headers).end(body)
  })
  return client(url).push(PUSH)
}
