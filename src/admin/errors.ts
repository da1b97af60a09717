import type { Redis } from '../lanes/index.ts'
import type { Logger } from '../observe/log.ts'
import type { HttpServerOptions } from '../tracking/http.ts'

/** Answers 503 while Redis is away; logs what is our fault, and answers 500. */
export function answerFault(redis: Redis, logger: Logger): HttpServerOptions['fault'] {
  return (error, { routeOptions }, reply) => {
    if (redis.status !== 'ready' || error.message === 'Command timed out')
      return reply.code(503).header('retry-after', '1').send({ message: 'Redis does not answer: ask again later' })
    if (OUT_OF_MEMORY.test(error.message)) return reply.code(503).header('retry-after', '1').send({ message: FULL })
    logger.error({ err: error, operation: routeOptions.url }, 'a request of the admin port failed')
    return reply.code(500).send({ message: 'a fault of waybridge; its log says more' })
  }
}

/** As Redis says it; before 7 with what it was doing in front. */
const OUT_OF_MEMORY = /^(?:ERR .*-)?OOM /
const FULL =
  'the memory of Redis is full: nothing is changed; ask again once positions have been delivered, or raise redis.max_memory'
