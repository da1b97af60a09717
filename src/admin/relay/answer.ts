import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { masked } from '../../masking.ts'
import { bodyOf, type Failure, isEncoded, isSuccess, type Reply } from '../../tracking/exchange.ts'
import { OPERATIONS, type OperationName } from '../../tracking/operations.ts'

export interface RelayedRequest {
  /** The URL of the tracking API, printable. */
  readonly baseUrl: string
  readonly operation: OperationName
  readonly token: string
}

/**
 * Sends the tracking API's answer, unchanged byte for byte except for the token; or 502, 503 or 504 with the reason why there
 * is none.
 */
export function answerWith(reply: FastifyReply, outcome: Reply | Failure, request: RelayedRequest): FastifyReply {
  if ('fault' in outcome) return explain(reply, outcome, request)
  if (outcome.status > MAX_STATUS) return explain(reply, { fault: 'malformed' }, request)
  const { status, headers, chunks } = withoutToken(outcome, request.token)
  reply.code(status).headers(endToEnd(headers, (name) => PASSED_ON.test(name)))
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  // Sent as a stream: for a Buffer, fastify would set a content type if the answer has none.
  return length === 0 ? reply.send() : reply.header('content-length', length).send(Readable.from(chunks))
}

/**
 * Returns the headers of the caller for the tracking API: content and its negotiation, but nothing about the caller or the
 * connection. The answer must not be encoded, because windows are joined and errors are searched for the token.
 */
export function forwardedHeaders(headers: Reply['headers'], hasBody: boolean): Record<string, string | string[]> {
  return endToEnd(headers, (name) => FORWARDED.test(name) && (hasBody || !name.startsWith('content-')))
}

/** RFC 9110 §7.6.1: headers that Connection names are hop-by-hop as well. */
function endToEnd(headers: Reply['headers'], isKept: (name: string) => boolean): Record<string, string | string[]> {
  const named = String(headers.connection).toLowerCase()
  const kept = Object.entries(headers).filter(([name]) => isKept(name) && !named.split(/[\s,]+/).includes(name))
  return Object.fromEntries(kept.filter((entry): entry is [string, string | string[]] => entry[1] !== undefined))
}

/**
 * Masks the token if the tracking API quotes it: in all headers, and in the body of an error. Leaves out an encoded error
 * body. The body of a success is data and stays unchanged.
 */
function withoutToken(reply: Reply, token: string): Reply {
  const mask = (text: string) => masked(text, token)
  const entries = Object.entries(reply.headers).map(([name, value = '']) => {
    return [name, Array.isArray(value) ? value.map(mask) : mask(value)] as const
  })
  const headers = Object.fromEntries(entries)
  if (isSuccess(reply.status)) return { ...reply, headers }
  const text = isEncoded(reply) ? '' : mask(bodyOf(reply).toString('latin1'))
  return { ...reply, headers: { ...headers, 'content-encoding': undefined }, chunks: [Buffer.from(text, 'latin1')] }
}

function explain(
  reply: FastifyReply,
  { fault, unsent }: Failure,
  { baseUrl, operation }: RelayedRequest,
): FastifyReply {
  const { method, path, repeatable } = OPERATIONS[operation]
  const advice = repeatable ? ', and may be repeated' : ': look before you repeat it'
  const doubt = unsent || method === 'GET' ? '' : `; it may have been done all the same${advice}`
  const message = `${baseUrl} ${SENTENCES[fault]}: ${method} ${path}${doubt}`
  if (fault === 'no_room') return reply.code(503).header('retry-after', 5).send({ message })
  return reply.code(fault === 'timeout' ? 504 : 502).send({ message })
}

const SENTENCES = {
  timeout: 'did not answer in time',
  refused: 'refuses connections',
  reset: 'ended the connection without a whole answer',
  dns: 'is a name without an address',
  unreachable: 'cannot be reached',
  tls: 'has no TLS that can be trusted',
  handshake: 'does not complete a TLS handshake',
  authority: 'has a certificate of an authority that is not trusted',
  needs_tls: 'speaks TLS, and is asked without',
  no_tls: 'does not speak TLS at that port',
  proxy: 'cannot be reached through the proxy',
  malformed: 'gave an answer that cannot be understood',
  too_large: 'gave an answer that is too large',
  long_error: 'gave an error that is too large',
  no_room: 'cannot be relayed until other answers are read, ask again later',
  given_up: 'is not waited for any more, as waybridge stops',
  closed: 'is not asked any more, as waybridge stops, or the company has another API now',
  failed: 'could not be asked',
} satisfies Record<Failure['fault'], string>

/** The highest status that an HTTP server can send. */
const MAX_STATUS = 599

/** Content-Length is not among them: it is computed from the body. */
const FORWARDED =
  /^(?!content-length$|accept-encoding$)(?:(?:accept|content|if)-.+|accept|range|user-agent|x-request-id|traceparent|tracestate)$/

/** Headers about the content. A browser would apply other headers, such as cookies, policies and caching, to the admin port. */
const PASSED_ON =
  /^(?!content-length$|content-security-policy|x-content-type-options$)(?:(?:content|x)-.+|accept-ranges|allow|date|etag|last-modified|link|location|retry-after|server|vary|via|warning)$/
