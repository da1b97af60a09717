import type { FastifyInstance } from 'fastify'
import type { Logger } from '../../observe/log.ts'
import type { HttpServerOptions } from '../http.ts'

/** Logs what is wrong with the service itself, and answers 500. */
export function answerFault(logger: Logger): HttpServerOptions['fault'] {
  return (error, { routeOptions }, reply) => {
    logger.error({ err: error, operation: routeOptions.url }, 'a request failed')
    return reply.code(500).send({ message: 'a fault of the service; nothing of this request was stored' })
  }
}

/** Any other path or method than those of the operations. */
export function answerUnknown(app: FastifyInstance): void {
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ message: 'there is no such operation' }))
}
