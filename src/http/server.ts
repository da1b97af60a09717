import * as http from 'node:http'
import * as https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { SecureContextOptions } from 'node:tls'
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { metrics } from '../observe/metrics.ts'
import { languageOf, toJson } from '../texts/language.ts'
import { replaceIdleEnd } from './insides/idle-connections.ts'
import { endFlood } from './insides/parser.ts'
import { ApiRefusal } from './refusal.ts'

export interface HttpServerOptions {
  /** Set to false, HEAD is not served; by default it is served wherever GET is. */
  readonly exposeHeadRoutes?: false
  /** Answers a request after a fault of the server itself. */
  readonly fault: (error: Error, request: FastifyRequest, reply: FastifyReply) => FastifyReply
  /** How long requests in flight may take once the server closes. */
  readonly closeMs: number
  /** A client that reads nothing of its answer for this long is disconnected; default: a minute. */
  readonly readerMs?: number
  /** The certificate of a server with TLS. */
  readonly secure?: SecureContextOptions
  /** Above this number of connections the oldest is closed, one without a request under way first; default: 1,000. */
  readonly maxConnections?: number
}

export type HttpServer = ReturnType<typeof createHttpServer>

/**
 * Creates the HTTP server of the tracking service and of the admin port, still without operations and content type parsers.
 * Every refusal, whether by an operation, by fastify or by Node, is answered with its status and a JSON `message`. fastify
 * logs nothing: URLs and headers contain secrets.
 */
export function createHttpServer(options: HttpServerOptions) {
  const { fault, closeMs, exposeHeadRoutes, readerMs = READER_MS } = options
  const servers: NodeServer[] = []
  const app = fastify({
    exposeHeadRoutes,
    logger: false,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    // fastify's own answer would quote the URL.
    frameworkErrors: (_error, _request: FastifyRequest, reply: FastifyReply) =>
      void reply.code(422).send({ message: 'the path cannot be decoded' }),
    // Called for each address of `localhost`; fastify would handle client errors only at the first one.
    serverFactory: (handler) => servers[servers.push(createNodeServer(handler, options)) - 1].server,
    clientErrorHandler: () => {},
  })
  let closing = false
  app.addHook('onResponse', async () => {
    if (closing) for (const { server } of servers) server.closeIdleConnections()
  })
  app.removeAllContentTypeParsers()
  app.addHook('onSend', async (request, reply) => {
    reply.raw.setTimeout(readerMs)
    const isLast = !reply.raw.shouldKeepAlive || reply.getHeader('connection') === 'close'
    if (isLast && !request.raw.complete) await readRest(request.raw)
  })
  answerErrors(app, fault)
  return {
    app,
    /** Resolves to its port. Port 0: any free one. */
    async listen(address: { readonly host: string; readonly port: number }): Promise<number> {
      // fastify modifies the object that it is given.
      await app.listen({ ...address })
      return (app.server.address() as AddressInfo).port
    },
    /** Uses another certificate from now on. */
    renew(certificate: SecureContextOptions): void {
      for (const { server } of servers) if ('setSecureContext' in server) server.setSecureContext(certificate)
    },
    /**
     * Accepts no more requests, and answers those that have arrived. Resolves after the last answer, at the latest after
     * `closeMs`.
     */
    async close(): Promise<void> {
      closing = true
      const cut = setTimeout(
        () => servers.forEach(({ sockets }) => sockets.forEach((socket) => socket.destroy())),
        closeMs,
      )
      await app.close()
      clearTimeout(cut)
    },
  }
}

/**
 * Reads and drops the remaining bytes of a request for up to 2 s, because closing a socket with unread bytes would lose the
 * answer.
 */
async function readRest(request: http.IncomingMessage): Promise<void> {
  request.resume()
  await finished(request, { signal: AbortSignal.timeout(MAX_REST_MS) }).catch(() => {})
}

function answerErrors(app: FastifyInstance, fault: HttpServerOptions['fault']): void {
  app.setErrorHandler<FastifyError | ApiRefusal>((error, request, reply) => {
    if (error instanceof ApiRefusal) return answerRefusal(reply, error)
    // The client went away while its answer was sent.
    if (error.code === 'ERR_STREAM_PREMATURE_CLOSE') return reply.hijack()
    const { statusCode = 500 } = error
    if (statusCode >= 500) return fault(error, request, reply)
    const [status, message] = ERRORS.get(statusCode) ?? [statusCode, NOT_UNDERSTOOD]
    return reply.code(status).send({ message })
  })
}

function answerRefusal(reply: FastifyReply, { code, text, errors }: ApiRefusal): FastifyReply {
  // Only the tracking interface refuses with 401: the admin port checks its own token before any operation.
  if (code === 401) reply.header('www-authenticate', 'OAuth')
  const language = languageOf(reply.request.headers['accept-language'])
  const answer = toJson({ message: text, ...(errors.length > 0 && { errors }) }, language)
  return reply.code(code).type(JSON_TYPE).send(answer)
}

interface NodeServer {
  readonly server: http.Server | https.Server
  /** Its connections, including those with an unfinished TLS handshake, which Node's `closeAllConnections` leaves open. */
  readonly sockets: ReadonlySet<Socket>
}

/**
 * Makes a server of node:http that answers malformed requests with a JSON `message`. A connection on which too many requests
 * wait for their answers is ended.
 */
function createNodeServer(
  handler: http.RequestListener,
  { secure, maxConnections = MAX_CONNECTIONS }: HttpServerOptions,
): NodeServer {
  /** The answers of each connection that are not sent completely. */
  const answers = new Map<Socket, Set<http.ServerResponse>>()
  const sockets = new Set<Socket>()
  const answer: http.RequestListener = (request, response) => {
    const open = answers.get(request.socket)
    open?.add(response)
    // Both events are needed: fastify's hook onResponse runs at the first one.
    for (const end of ['finish', 'close']) response.once(end, () => open?.delete(response))
    if (open && open.size > MAX_REQUESTS_AHEAD) endFlood(request.socket)
    else handler(request, response)
  }
  const server = secure ? https.createServer({ ...TIMEOUTS, ...secure }, answer) : http.createServer(TIMEOUTS, answer)
  server.on('connection', (socket: Socket) => {
    if (sockets.size >= maxConnections) makeRoom(sockets, answers)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
    answers.set(socket, new Set())
    socket.once('close', () => answers.delete(socket))
  })
  replaceIdleEnd(server, () => {
    for (const [socket, open] of answers) if (open.size === 0) socket.destroy()
  })
  server.on('clientError', (error, socket) => answerClientError(error, socket, answers.get(socket as Socket)))
  return { server, sockets }
}

/** Closes the oldest connection, an idle one if there is one, so that a new client is served. */
function makeRoom(sockets: Set<Socket>, answers: Map<Socket, Set<http.ServerResponse>>): void {
  metrics.refused.inc({ reason: 'max_connections' })
  const [idle] = answers.entries().find(([, open]) => open.size === 0) ?? []
  const [oldest] = sockets
  const ending = idle ?? oldest
  // With TLS it is a socket above one of `sockets`, which closes with it.
  answers.delete(ending)
  sockets.delete(ending)
  ending.destroy()
}

/**
 * Nothing after the error can be parsed, so the connection ends. In the middle of an answer, a refusal would look like a part
 * of it, so none is sent. `reason` is the parser's message, which quotes nothing of the request.
 */
function answerClientError(
  { code = '', reason }: NodeJS.ErrnoException & { readonly reason?: string },
  socket: Duplex,
  answers?: Set<http.ServerResponse>,
): void {
  const isAnswering = answers?.values().some(({ headersSent }) => headersSent)
  if (!socket.writable || isAnswering) return void socket.destroy()
  const [status, message] = ERRORS.get(code) ?? [400, `this is not HTTP/1.1: ${reason ?? code}`]
  const body = JSON.stringify({ message })
  const head = [
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
    `content-type: ${JSON_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

const READER_MS = 60_000
const MAX_CONNECTIONS = 1000
/** The most unanswered requests of one connection. */
const MAX_REQUESTS_AHEAD = 16
const MAX_REST_MS = 2_000
// The request time-out allows for sending the largest body. A proxy in front closes an idle connection after 60 s, before
// this server does.
const TIMEOUTS = {
  headersTimeout: 30_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 72_000,
  handshakeTimeout: 10_000,
}
// An operation refuses a long path parameter with 422; with fastify's own limit, the path would be unknown. Node limits
// the length of a URL.
const MAX_PARAMETER_LENGTH = 16_384
const JSON_TYPE = 'application/json; charset=utf-8'
const NOT_UNDERSTOOD = 'the request cannot be understood: its method, Content-Length or Content-Type is wrong'
/** By fastify's status or Node's code; in the tracking interface, incorrect input is 422. */
const ERRORS = new Map<number | string, readonly [status: number, message: string]>([
  [415, [422, 'the content type cannot be understood']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'the request took too long to arrive: send it again, faster or in parts']],
  ['HPE_HEADER_OVERFLOW', [431, 'the URL and the headers are too long: together they may have 16 KiB']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'the extensions of the chunks are too long: leave them out']],
])
