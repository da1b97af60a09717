import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { createNodeServer } from './http/node-server.ts'
import { ApiRefusal } from './refusal.ts'

export interface HttpServerOptions {
  /** Without it, HEAD is served wherever GET is. */
  readonly exposeHeadRoutes?: false
  /** Most bytes of a body that is read by a content type parser. */
  readonly bodyLimit?: number
  /** Answers a fault of the server itself. */
  readonly fault: (error: Error, request: FastifyRequest, reply: FastifyReply) => FastifyReply
  /** How long requests in flight may still take once the server closes. */
  readonly closeMs: number
  /** A client that reads nothing of its answer for this long is disconnected; default: a minute. */
  readonly readerMs?: number
}

/** The HTTP server of the tracking service and of the admin port, still without operations and content type parsers. */
export interface HttpServer {
  readonly app: FastifyInstance
  /** Resolves to its port. Port 0: any free one. */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>
  /** Stops accepting and answers what has arrived; resolves after the last answer, at the latest after `closeMs`. */
  close(): Promise<void>
}

/**
 * Every refusal, whether by an operation, by fastify or by Node, is answered with its status and a JSON `message`. fastify logs
 * nothing: URLs and headers contain secrets.
 */
export function createHttpServer({ fault, closeMs, readerMs = READER_MS, ...options }: HttpServerOptions): HttpServer {
  const servers: Server[] = []
  const app = fastify({
    ...options,
    logger: false,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    // fastify's own answer would quote the URL.
    frameworkErrors: (_error, _request: FastifyRequest, reply: FastifyReply) =>
      void reply.code(422).send({ message: 'the path cannot be decoded' }),
    // Called for each address of `localhost`; fastify would handle client errors only at the first one.
    serverFactory: (handler) => {
      const server = createNodeServer(handler)
      servers.push(server)
      return server
    },
    clientErrorHandler: () => {},
  })
  let closing = false
  const closeIdle = () => servers.forEach((server) => server.closeIdleConnections())
  app.addHook('onResponse', async () => void (closing && closeIdle()))
  app.removeAllContentTypeParsers()
  app.addHook('onSend', async (request, reply) => {
    reply.raw.setTimeout(readerMs)
    if (!request.raw.complete && isLast(reply)) await readRest(request.raw)
  })
  answerErrors(app, fault)
  return {
    app,
    async listen(address) {
      // fastify modifies the object that it is given.
      await app.listen({ ...address })
      return (app.server.address() as AddressInfo).port
    },
    async close() {
      closing = true
      const cut = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), closeMs)
      await app.close()
      clearTimeout(cut)
    },
  }
}

/** Whether the connection ends with this answer. */
function isLast(reply: FastifyReply): boolean {
  return !reply.raw.shouldKeepAlive || reply.getHeader('connection') === 'close'
}

/**
 * Reads and drops the rest of a request, up to 16 MiB and 2 s: a connection that is closed with unread bytes is reset, and the
 * client would lose its answer.
 */
function readRest(request: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const late = setTimeout(resolve, MAX_REST_MS)
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_REST_BYTES) resolve()
  })
  for (const end of ['end', 'error', 'close']) request.once(end, resolve)
  request.resume()
  return promise.finally(() => clearTimeout(late))
}

function answerErrors(app: FastifyInstance, fault: HttpServerOptions['fault']): void {
  app.setErrorHandler<FastifyError | ApiRefusal>((error, request, reply) => {
    if (error instanceof ApiRefusal) return refuse(reply, error)
    // The client went away while its answer was sent.
    if (error.code === 'ERR_STREAM_PREMATURE_CLOSE') return reply.hijack()
    const { statusCode = 500 } = error
    if (statusCode >= 500) return fault(error, request, reply)
    const [status, message] = FRAMEWORK_ERRORS.get(statusCode) ?? [statusCode, NOT_UNDERSTOOD]
    return reply.code(status).send({ message })
  })
}

function refuse(reply: FastifyReply, { code, message, errors }: ApiRefusal): FastifyReply {
  // Only operations of the tracking interface refuse with 401: the admin port checks its own token before any operation.
  if (code === 401) reply.header('www-authenticate', 'OAuth')
  return reply.code(code).send(errors.length > 0 ? { message, errors } : { message })
}

const READER_MS = 60_000
const NOT_UNDERSTOOD = 'the request cannot be understood: its method, Content-Length or Content-Type is wrong'
/** By fastify's status; in the tracking interface, incorrect input is 422. */
const FRAMEWORK_ERRORS = new Map<number, readonly [status: number, message: string]>([
  [413, [413, 'the body is too large: nothing here needs one']],
  [415, [422, 'the content type cannot be understood']],
])
// The operation refuses a long path parameter with 422; without this, the path would be unknown. Node limits the whole URL.
const MAX_PARAMETER_LENGTH = 16_384
const MAX_REST_BYTES = 16 * 1024 * 1024
const MAX_REST_MS = 2_000
