import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Fault, Reply, TrackingClient } from '../../tracking/client.ts'
import { OPERATIONS, type OperationName } from '../../tracking/operations.ts'
import type { Outcome } from './attempts.ts'
import { passedOn } from './headers.ts'
import { withoutToken } from './secret.ts'

/** Which request it was. */
export interface Asked {
  readonly tracking: TrackingClient
  readonly operation: OperationName
  readonly token: string
}

/** Answers with what the service said, byte for byte but for the token; or with why it said nothing: 502, 504. */
export function answerWith(reply: FastifyReply, outcome: Outcome, asked: Asked): FastifyReply {
  if ('fault' in outcome) return explain(reply, outcome.fault, asked)
  if (outcome.status > MAX_STATUS) return explain(reply, 'malformed', asked)
  return pass(reply, withoutToken(outcome, asked.token))
}

/** As a stream: to a Buffer fastify would give another content type where it does not understand the one there is. */
function pass(reply: FastifyReply, { status, headers, body }: Reply): FastifyReply {
  reply.code(status).headers(passedOn(headers))
  return body.length === 0 ? reply.send() : reply.header('content-length', body.length).send(Readable.from([body]))
}

function explain(reply: FastifyReply, fault: Fault, { tracking, operation }: Asked): FastifyReply {
  const { method, path, repeatable } = OPERATIONS[operation]
  const unsure =
    !repeatable && !NEVER_SENT.has(fault) ? '; it may have been done all the same: look before you repeat it' : ''
  const message = `${tracking.baseUrl} ${SENTENCES[fault]}: ${method} ${path}${unsure}`
  return reply.code(fault === 'timeout' ? 504 : 502).send({ message })
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
  given_up: 'was not waited for any more',
  closed: 'is not asked any more, this port closes',
  failed: 'could not be asked',
} satisfies Record<Fault, string>

const NEVER_SENT: ReadonlySet<Fault> = new Set(['refused', 'dns', 'unreachable', 'tls', 'closed', 'failed'])
/** What an HTTP server can send. */
const MAX_STATUS = 599
