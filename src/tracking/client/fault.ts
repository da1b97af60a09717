import { errors } from 'undici'

/**
 * Why there was no answer. `reset`: the connection ended before all of the answer was here, or was broken off. `timeout`:
 * the host can be reached, and did not answer in time. `long_error`: what is no 2xx was too large. `no_room`: there was none
 * for the answer. `given_up`: nobody wanted the answer any more.
 */
export type Fault =
  | 'timeout'
  | 'refused'
  | 'reset'
  | 'dns'
  | 'unreachable'
  | 'tls'
  | 'malformed'
  | 'too_large'
  | 'long_error'
  | 'no_room'
  | 'given_up'
  | 'closed'
  | 'failed'

/** A request without an answer. */
export interface Failure {
  readonly fault: Fault
  /** Nothing of it has left: certainly it was not done. */
  readonly unsent?: boolean
}

/** The fault behind an error of undici or the system. Its message, which may have the URL in it, goes nowhere. */
export function faultOf(error: unknown): Fault {
  if (error instanceof errors.HTTPParserError || isUnexpected(error)) return 'malformed'
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return 'failed'
  return FAULTS.get(code) ?? (TLS.test(code) ? 'tls' : 'failed')
}

/** What undici says of a `100 Continue` or `101 Switching Protocols` that nobody asked for: it takes neither. */
function isUnexpected(error: unknown): boolean {
  return error instanceof errors.SocketError && (error.message === 'bad response' || error.message === 'bad upgrade')
}

const FAULTS = new Map<string, Fault>([
  ['ECONNREFUSED', 'refused'],
  ['ECONNRESET', 'reset'],
  ['ECONNABORTED', 'reset'],
  ['EPIPE', 'reset'],
  ['UND_ERR_SOCKET', 'reset'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'reset'],
  ['ETIMEDOUT', 'unreachable'],
  ['UND_ERR_CONNECT_TIMEOUT', 'unreachable'],
  ['ENOTFOUND', 'dns'],
  ['EAI_AGAIN', 'dns'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENETUNREACH', 'unreachable'],
  ['EADDRNOTAVAIL', 'unreachable'],
  ['EPROTO', 'tls'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'tls'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'tls'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls'],
  ['UND_ERR_HEADERS_OVERFLOW', 'malformed'],
  ['UND_ERR_DESTROYED', 'closed'],
  ['UND_ERR_CLOSED', 'closed'],
])

const TLS = /^(?:ERR_TLS_|ERR_SSL_|CERT_)/
