import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import type { Logger } from '../../observe/log.ts'
import { Refusal } from '../refusal.ts'

/** Turns what operations throw into answers: refusals with their status, what is wrong with the server 500, logged. */
export function answerErrors(app: FastifyInstance, logger: Logger): void {
  app.setNotFoundHandler((_request, reply) => answer(reply, 404, { message: 'there is no such operation' }))
  app.setErrorHandler<FastifyError | Refusal>((error, request, reply) => {
    if (error instanceof Refusal) return refuse(reply, error)
    if (error.statusCode === 415) return answer(reply, 422, { message: 'the content type cannot be understood' })
    logger.error({ err: error, operation: request.routeOptions.url }, 'a request failed')
    return answer(reply, 500, { message: 'a fault of the service; nothing of this request was stored' })
  })
}

/** What fastify itself refuses before any operation: a path that is no percent-encoding. Its own answer quotes the URL. */
export function answerBadPath(_error: FastifyError, _request: unknown, reply: FastifyReply): void {
  void answer(reply, 422, { message: 'the path cannot be decoded' })
}

function refuse(reply: FastifyReply, { code, message, errors }: Refusal): FastifyReply {
  if (code === 401) reply.header('www-authenticate', 'OAuth')
  return answer(reply, code, errors.length > 0 ? { message, errors } : { message })
}

function answer(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply.code(status).send(body)
}
