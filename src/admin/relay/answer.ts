import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Reply } from '../../tracking/client/exchange.ts'
import type { TrackingClient } from '../../tracking/client.ts'
import { OPERATIONS, type OperationName } from '../../tracking/operations.ts'
import type { Failed, Outcome, Trouble } from './attempts.ts'
import { passedOn } from './headers.ts'
import { withoutToken } from './secret.ts'

/** Which request it was. */
export interface Asked {
  readonly tracking: TrackingClient
  readonly operation: OperationName
  readonly token: string
}

/** Answers with what the service said, byte for byte but for the token; or with why it said nothing: 502, 503, 504. */
export function answerWith(reply: FastifyReply, outcome: Outcome, asked: Asked): FastifyReply {
  if ('fault' in outcome) return explain(reply, outcome, asked)
  if (outcome.status > MAX_STATUS) return explain(reply, { fault: 'malformed' }, asked)
  return pass(reply, withoutToken(outcome, asked.token))
}

/** As a stream: to a Buffer fastify would give another content type where it does not understand the one there is. */
function pass(reply: FastifyReply, { status, headers, chunks }: Reply): FastifyReply {
  reply.code(status).headers(passedOn(headers))
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  return length === 0
    ? reply.send()
    : reply.header('content-length', length).send(Readable.from(taking(chunks.toReversed())))
}

/** From the last on, letting go of each. */
function* taking(chunks: Buffer[]): Generator<Buffer> {
  for (let chunk = chunks.pop(); chunk; chunk = chunks.pop()) yield chunk
}

function explain(reply: FastifyReply, failed: Failed, { tracking, operation }: Asked): FastifyReply {
  const { fault: why, unsent } = failed
  const { method, path } = OPERATIONS[operation]
  const message = `${tracking.baseUrl} ${SENTENCES[why]}: ${method} ${path}${unsent ? '' : doubt(operation)}`
  if (why === 'full' || why === 'no_room') reply.header('retry-after', RETRY_AFTER_S)
  return reply.code(STATUSES.get(why) ?? 502).send({ message })
}

/** Whether it may have been done all the same. */
function doubt(operation: OperationName): string {
  const { method, repeatable } = OPERATIONS[operation]
  if (method === 'GET') return ''
  return `; it may have been done all the same${repeatable ? ', and may be repeated' : ': look before you repeat it'}`
}

const SENTENCES = {
  timeout: 'did not answer in time',
  refused: 'refuses connections',
  reset: 'ended the connection without a whole answer',
  dns: 'is a name without an address',
  unreachable: 'cannot be reached',
  tls: 'has no TLS that can be trusted',
  malformed: 'gave an answer that cannot be understood',
  too_large: 'gave an answer that is too large',
  long_error: 'gave an error that is too large',
  no_room: 'gave an answer for which there is no room until others are read, ask again later',
  full: 'is not asked until other answers are read, for which there is no more room, ask again later',
  given_up: 'is not waited for any more, as waybridge stops',
  closed: 'is not asked any more, as waybridge stops',
  failed: 'could not be asked',
} satisfies Record<Trouble, string>

const STATUSES = new Map<Trouble, number>([
  ['timeout', 504],
  ['no_room', 503],
  ['full', 503],
])
const RETRY_AFTER_S = 5

/** What an HTTP server can send. */
const MAX_STATUS = 599
