import { errors } from 'undici'

/**
 * Why there was no answer. `reset`: the connection ended before all of the answer was here, or was broken off. `timeout`:
 * the host can be reached, and did not answer in time. `given_up`: nobody wanted the answer any more.
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
  | 'given_up'
  | 'closed'
  | 'failed'

/** The fault behind an error of undici or the system. Only its code is looked at: messages may have the URL in them. */
export function faultOf(error: unknown): Fault {
  if (error instanceof errors.HTTPParserError) return 'malformed'
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return 'failed'
  return FAULTS.get(code) ?? (TLS.test(code) ? 'tls' : 'failed')
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
