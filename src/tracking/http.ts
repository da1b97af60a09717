import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { sendToTheEnd } from './http/last-bytes.ts'
import { createNodeServer } from './http/node-server.ts'
import { ApiRefusal } from './refusal.ts'

export interface HttpServerOptions {
  /** Without it, HEAD is served wherever GET is. */
  readonly exposeHeadRoutes?: false
  /** Most bytes of a body that is read by a content type parser. */
  readonly bodyLimit?: number
  /** Answers what is nobody's mistake but ours. */
  readonly fault: (error: Error, request: FastifyRequest, reply: FastifyReply) => FastifyReply
  /** How long requests under way have once it closes. */
  readonly closeMs: number
  /** A reader who takes nothing of an answer for so long is cut; default: a minute. */
  readonly readerMs?: number
}

/** What the service and the admin port are served by. It has no content type parser, and no operations yet. */
export interface HttpServer {
  readonly app: FastifyInstance
  /** Resolves to its port. Port 0: any free one. */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>
  /** Stops accepting, answers what has arrived; resolves with the end of the last answer, or after `closeMs`. */
  close(): Promise<void>
}

/**
 * Whatever is refused, by operations, by fastify or by Node, is answered with its status and a JSON `message`. fastify logs
 * nothing: URLs and headers have secrets in them.
 */
export function createHttpServer({ fault, closeMs, readerMs = READER_MS, ...options }: HttpServerOptions): HttpServer {
  const servers: Server[] = []
  const app = fastify({
    ...options,
    logger: false,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    // Its own answer quotes the URL.
    frameworkErrors: (_error, _request: FastifyRequest, reply: FastifyReply) =>
      void reply.code(422).send({ message: 'the path cannot be decoded' }),
    // Called for each address of `localhost`; fastify itself handles errors of clients at the first one alone.
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
  sendToTheEnd(app, readerMs)
  answerErrors(app, fault)
  return {
    app,
    async listen(address) {
      // fastify writes into what it is given.
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

function answerErrors(app: FastifyInstance, fault: HttpServerOptions['fault']): void {
  app.setErrorHandler<FastifyError | ApiRefusal>((error, request, reply) => {
    if (error instanceof ApiRefusal) return refuse(reply, error)
    // Its answer is under way, or done, and nobody reads it any more.
    if (error.code === 'ERR_STREAM_PREMATURE_CLOSE') return reply.hijack()
    const { statusCode = 500 } = error
    if (statusCode >= 500) return fault(error, request, reply)
    const [status, message] = FRAMEWORK_ERRORS.get(statusCode) ?? [statusCode, NOT_UNDERSTOOD]
    return reply.code(status).send({ message })
  })
}

function refuse(reply: FastifyReply, { code, message, errors }: ApiRefusal): FastifyReply {
  // Of the tracking interface; the admin port asks for its own token before any operation.
  if (code === 401) reply.header('www-authenticate', 'OAuth')
  return reply.code(code).send(errors.length > 0 ? { message, errors } : { message })
}

const READER_MS = 60_000
const NOT_UNDERSTOOD = 'the request cannot be understood: its method, Content-Length or Content-Type is wrong'
/** By fastify's status. Wrong input is 422 in the tracking interface. */
const FRAMEWORK_ERRORS = new Map<number, readonly [status: number, message: string]>([
  [413, [413, 'the body is too large: nothing here needs one']],
  [415, [422, 'the content type cannot be understood']],
])
// A path parameter of any length is answered by its operation (422), not as an unknown path; Node limits the whole.
const MAX_PARAMETER_LENGTH = 16_384
