import { createHttpServer, type HttpServer, type HttpServerOptions } from '../http/server.ts'
import type { Logger } from '../observe/log.ts'
import { isConnectionError, type Redis } from '../store/index.ts'
import { languageOf, toJson } from '../texts/language.ts'

interface ServerOptions extends Pick<HttpServerOptions, 'readerMs' | 'secure'> {
  readonly redis: Redis
  readonly logger: Logger
}

/** The HTTP server of the admin port, without operations: its headers, its languages, its log, and what it answers to a fault. */
export function createServer({ redis, logger, readerMs, secure }: ServerOptions): HttpServer {
  const server = createHttpServer({
    secure,
    fault: answerFault(redis, logger),
    closeMs: CLOSE_TIMEOUT_MS + LAST_ANSWERS_MS,
    readerMs,
  })
  const { app } = server
  app.addHook('onRequest', async (_request, reply) => void reply.headers(HEADERS))
  app.addHook('preSerialization', async ({ headers }, reply, payload) => {
    reply.serializer((answer) => toJson(answer, languageOf(headers['accept-language'])))
    return payload
  })
  app.addHook('onResponse', async ({ method, routeOptions }, { statusCode, elapsedTime }) =>
    logger.debug({ method, path: routeOptions.url, status: statusCode, ms: Math.round(elapsedTime) }, 'request'),
  )
  return server
}

/** Answers 503 while Redis is away or full. Any other error is a fault of waybridge: it is logged, and answered 500. */
function answerFault(redis: Redis, logger: Logger): HttpServerOptions['fault'] {
  return (error, { routeOptions }, reply) => {
    const isAway = redis.status !== 'ready' || isConnectionError(error)
    const message = isAway ? 'Redis or its replicas do not answer: try again later' : FULL
    if (isAway || OUT_OF_MEMORY.test(error.message)) return reply.code(503).header('retry-after', '1').send({ message })
    logger.error({ err: error, operation: routeOptions.url }, 'a request to the admin port failed')
    return reply.code(500).send({ message: 'a fault of waybridge: its log has the details' })
  }
}

/** A browser must not keep, run or frame an answer. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}
/** The error of Redis; before version 7 it begins with the command. */
const OUT_OF_MEMORY = /^(?:ERR .*-)?OOM /
const FULL =
  'the memory of Redis is full: nothing was changed; try again once positions have been delivered, or raise redis.max_memory'
/** How long requests under way may take when the port closes. */
export const CLOSE_TIMEOUT_MS = 2000
const LAST_ANSWERS_MS = 500
