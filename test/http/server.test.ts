import { spawn } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createHttpServer } from '../../src/http/server.ts'
import { answerOn, raw } from '../support/tracking/raw.ts'
import { startService, temporaryFolder } from '../support/tracking/service.ts'

const service = await startService()
const HOST = 'host: x\r\n'
const OAUTH = 'authorization: OAuth token-7\r\n'
const NUMBER = '/api/v1/companies/7/numbers/5'
const JSON_TYPE = 'content-type: application/json\r\n'

/** Returns a request that puts a number, with these headers and bytes of a body. */
function put(headers: string, body = '{"number":"1"}'): string {
  return `POST ${NUMBER} HTTP/1.1\r\n${HOST}${OAUTH}${JSON_TYPE}${headers}\r\n${body}`
}

const CASES: readonly (readonly [what: string, status: number, message: string, bytes: string])[] = [
  ['what is no HTTP', 400, 'this is not HTTP/1.1: Invalid method encountered', '\x16\x03\x01\x02\r\n\r\n'],
  ['a version of tomorrow', 400, 'this is not HTTP/1.1: Invalid HTTP version', `GET / HTTP/9.9\r\n${HOST}\r\n`],
  ['a header of bytes', 400, 'this is not HTTP/1.1: Invalid header value char', `GET / HTTP/1.1\r\nx: \x01\r\n\r\n`],
  ['bytes in the path', 400, 'this is not HTTP/1.1: Invalid char in url path', `GET /\xe9 HTTP/1.1\r\n${HOST}\r\n`],
  [
    'a Content-Length that is no number',
    400,
    'this is not HTTP/1.1: Invalid character in Content-Length',
    put('content-length: x\r\n'),
  ],
  [
    'a length beside chunks',
    400,
    "this is not HTTP/1.1: Transfer-Encoding can't be present with Content-Length",
    put('content-length: 9\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n'),
  ],
  [
    'a chunk that is none',
    400,
    'this is not HTTP/1.1: Invalid character in chunk size',
    put('transfer-encoding: chunked\r\n', 'x\r\n'),
  ],
  [
    'chunks with long extensions',
    413,
    'the extensions of the chunks are too long: leave them out',
    put('transfer-encoding: chunked\r\n', `1;${'x'.repeat(20_000)}\r\n{\r\n`),
  ],
  [
    'long headers',
    431,
    'the URL and the headers are too long: together they may have 16 KiB',
    `GET /healthz HTTP/1.1\r\n${HOST}x: ${'x'.repeat(20_000)}\r\n\r\n`,
  ],
  ['QUERY', 404, 'there is no such operation', `QUERY ${NUMBER} HTTP/1.1\r\n${HOST}\r\n`],
  ['PROPFIND', 404, 'there is no such operation', `PROPFIND ${NUMBER} HTTP/1.1\r\n${HOST}\r\n`],
  [
    'a content type that is none',
    422,
    'the body must be sent as application/json',
    `POST ${NUMBER} HTTP/1.1\r\n${HOST}${OAUTH}content-type: ?\r\ncontent-length: 2\r\n\r\n{}`,
  ],
]

it.each(CASES)('the HTTP server answers %s with %i and a sentence', async (_, status, message, bytes) => {
  expect(await raw(service.port, bytes)).toEqual({ status, message, type: 'application/json; charset=utf-8' })
})

it('the HTTP server serves others after malformed requests, and logs nothing', async () => {
  expect((await service.send('/healthz')).status).toBe(200)
  expect(service.log).toEqual([])
})

it.each([
  ['no Host', 400, 'GET /healthz HTTP/1.1\r\n\r\n'],
  ['another expectation', 417, put('expect: tea\r\ncontent-length: 14\r\nconnection: close\r\n')],
])('the HTTP server answers %s with %i', async (_, status, bytes) => {
  const socket = connect(service.port, '127.0.0.1')
  socket.write(bytes)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  expect(answer.toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  socket.destroy()
})

it('the HTTP server accepts Expect: 100-continue, and HTTP/1.0 without Host', async () => {
  const socket = connect(service.port, '127.0.0.1')
  socket.write(put('expect: 100-continue\r\ncontent-length: 14\r\nconnection: close\r\n'))
  expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK\r\n/)
  expect(await raw(service.port, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatchObject({ status: 200 })
})

describe('a refused body', () => {
  it('the HTTP server reads the rest of a refused body, so that the answer arrives', async () => {
    const script = join(import.meta.dirname, '../support/tracking/service-process.ts')
    const child = spawn(process.execPath, [script, join(temporaryFolder(), 'other.sqlite'), '1001'])
    onTestFinished(() => void child.kill('SIGKILL'))
    const [port] = (await once(child.stdout, 'data')) as [Buffer]
    const options = { port: Number(port), host: '127.0.0.1', path: NUMBER, method: 'POST', agent: false } as const
    for (let count = 0; count < 10; count++) {
      const sending = request(options).end(Buffer.alloc(5_000_000, 'x'))
      const [answer] = (await once(sending, 'response')) as [IncomingMessage]
      answer.resume()
      await once(answer, 'end')
      expect(answer.statusCode).toBe(401)
    }
  })

  it.each([
    ['that does not arrive', 'x'],
    ['that is larger than anyone reads', 'x'.repeat(17 * 1024 * 1024)],
  ])('the HTTP server does not wait for the rest of a refused body %s', async (_, body) => {
    const head = `POST ${NUMBER} HTTP/1.1\r\n${HOST}connection: close\r\ncontent-length: 900000000\r\n\r\n`
    expect(await raw(service.port, head + body)).toMatchObject({ status: 401 })
  })
})

describe('an HTTP server', () => {
  const { app, listen, close } = createHttpServer({
    closeMs: 1_000,
    readerMs: 200,
    fault: (_error, _request, reply) => reply.code(500).send({ message: 'a fault' }),
  })
  app.get('/fails', () => Promise.reject(new Error('canary')))
  app.get('/half', (_request, reply) => {
    reply.raw.writeHead(200, { 'content-length': 9 }).write('half')
    return reply.hijack()
  })
  app.get('/large', (_request, reply) => reply.type('text/plain').send('x'.repeat(30_000_000)))
  app.get('/slow', async () => {
    await setTimeout(500)
    return {}
  })
  const port = listen({ host: 'localhost', port: 0 })
  afterAll(close)

  it('the HTTP server answers malformed requests in the same way at each address of localhost', async () => {
    for (const { address } of await lookup('localhost', { all: true })) {
      const answer = await raw(await port, '?\r\n\r\n', address)
      expect(answer).toMatchObject({ status: 400, message: expect.stringMatching(/^this is not HTTP/) })
    }
  })

  it('the HTTP server answers 408 if a request does not arrive', async () => {
    const accepted = once(app.server, 'connection')
    const socket = connect(await port, '127.0.0.1')
    const [connection] = (await accepted) as [Socket]
    app.server.emit('clientError', Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), connection)
    expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n.*took too long to arrive/s)
  })

  it('the HTTP server ends a connection that sends malformed HTTP during an answer', async () => {
    const socket = connect(await port, '127.0.0.1')
    let text = ''
    socket.on('data', (part) => {
      text += part.toString()
      if (text.endsWith('half')) socket.write('?\r\n\r\n')
    })
    socket.on('error', () => {})
    socket.write(`GET /half HTTP/1.1\r\n${HOST}\r\n`)
    await once(socket, 'close')
    expect(text).toMatch(/\r\n\r\nhalf$/)
  })

  it('the HTTP server disconnects a client that does not read its answer', async () => {
    const accepted = once(app.server, 'connection') as Promise<[Socket]>
    const socket = connect(await port, '127.0.0.1')
    socket.pause().on('error', () => {})
    socket.write(`GET /large HTTP/1.1\r\n${HOST}\r\n`)
    const [connection] = await accepted
    await once(connection, 'close')
    socket.destroy()
  })

  it('the HTTP server waits for a slow operation, and for the next request of a kept connection', async () => {
    const socket = connect(await port, '127.0.0.1')
    for (const path of ['/slow', '/fails', '/slow']) {
      socket.write(`GET ${path} HTTP/1.1\r\n${HOST}\r\n`)
      expect(await answerOn(socket)).toMatch(path === '/slow' ? / 200 OK/ : / 500 /)
    }
    socket.destroy()
  })

  it('the HTTP server answers its own failure with the configured function', async () => {
    const answer = await raw(await port, `GET /fails HTTP/1.1\r\n${HOST}\r\n`)
    expect(answer).toMatchObject({ status: 500, message: 'a fault' })
  })
})

describe('a server with all connections in use', () => {
  const { app, listen, close } = createHttpServer({
    closeMs: 0,
    maxConnections: 3,
    fault: (_error, _request, reply) => reply.code(500).send({ message: 'a fault' }),
  })
  app.get('/', async () => ({}))
  app.get('/waits', () => new Promise(() => {}))
  const port = listen({ host: '127.0.0.1', port: 0 })
  afterAll(close)

  /** Opens a connection with a request; `over` is true when the server has ended it. */
  async function asking(path: string, state = { over: false }) {
    const requested = once(app.server, 'request')
    const socket = connect(await port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {}).on('close', () => (state.over = true))
    socket.write(`GET ${path} HTTP/1.1\r\n${HOST}\r\n`)
    await requested
    return { socket, state }
  }

  it('a full HTTP server closes the oldest idle connection, or the oldest one, and serves a new one', async () => {
    const waiting = await asking('/waits')
    const idle = await asking('/')
    await answerOn(idle.socket)
    const others = [await asking('/waits'), await asking('/waits')]
    await expect.poll(() => idle.state.over).toBe(true)
    expect([waiting, ...others].map(({ state }) => state.over)).toEqual([false, false, false])
    const last = await asking('/')
    expect(await answerOn(last.socket)).toMatch(/^HTTP\/1.1 200 OK/)
    await expect.poll(() => waiting.state.over).toBe(true)
    expect(others.map(({ state }) => state.over)).toEqual([false, false])
  })
})

describe('a closing server', () => {
  /** Starts a server with timeouts longer than a test. */
  async function patient() {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { app, listen, close } = createHttpServer({
      closeMs: 600_000,
      fault: (_error, _request, reply) => reply.code(500).send({ message: 'a fault' }),
    })
    app.get('/late', () => released.then(() => ({})))
    app.get('/large', (_request, reply) => reply.type('text/plain').send('x'.repeat(LARGE)))
    const socket = connect(await listen({ host: '127.0.0.1', port: 0 }), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    return { app, close, release, socket }
  }
  const LARGE = 30_000_000

  it('the HTTP server closes after the last answer, although its connection would be kept', async () => {
    const { app, close, release, socket } = await patient()
    const requested = once(app.server, 'request')
    socket.write(`GET /late HTTP/1.1\r\n${HOST}\r\n`)
    await requested
    const closed = close()
    await expect.poll(() => !app.server.listening).toBe(true)
    release()
    expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    await closed
  })

  it('the HTTP server sends the rest of an answer while it closes', async () => {
    const { app, close, socket } = await patient()
    const responded = once(app.server, 'request') as Promise<[unknown, ServerResponse]>
    socket.write(`GET /large HTTP/1.1\r\n${HOST}\r\n`)
    const [, response] = await responded
    await expect.poll(() => response.writableEnded).toBe(true)
    const closed = close()
    let length = 0
    socket.on('data', (part) => (length += part.length))
    await closed
    await once(socket, 'close')
    expect(length).toBeGreaterThan(LARGE)
  })
})
