import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import { Refusal } from '../tracking/refusal.ts'

/** Turns what operations throw into answers: refusals with their status, 503 while Redis is away, what is our fault 500. */
export function answerErrors(app: FastifyInstance, redis: Redis, logger: Logger): void {
  app.setErrorHandler<FastifyError | Refusal>((error, request, reply) => {
    if (error instanceof Refusal) return refuse(reply, error)
    const { statusCode = 500 } = error
    if (statusCode === 415) return reply.code(422).send({ message: 'the content type cannot be understood' })
    if (statusCode < 500) return reply.code(statusCode).send({ message: MESSAGES.get(statusCode) ?? NOT_UNDERSTOOD })
    if (redis.status !== 'ready' || error.message === 'Command timed out')
      return reply.code(503).header('retry-after', '1').send({ message: 'Redis does not answer: ask again later' })
    logger.error({ err: error, operation: request.routeOptions.url }, 'a request of the admin port failed')
    return reply.code(500).send({ message: 'a fault of waybridge; its log says more' })
  })
}

/**
 * What fastify itself refuses before any operation: a path that is no percent-encoding, 422 where it would be the tracking
 * interface's. Its own answer quotes the URL.
 */
export function answerBadPath(_error: FastifyError, { raw }: FastifyRequest, reply: FastifyReply): void {
  void reply.code(raw.url?.startsWith('/admin/') ? 400 : 422).send({ message: 'the path cannot be decoded' })
}

function refuse(reply: FastifyReply, { code, message, errors }: Refusal): FastifyReply {
  return reply.code(code).send(errors.length > 0 ? { message, errors } : { message })
}

const NOT_UNDERSTOOD = 'the request cannot be understood'
const MESSAGES = new Map([[413, 'the body is too large: nothing here needs one']])
