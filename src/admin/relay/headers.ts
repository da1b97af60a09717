import type { Reply } from '../../tracking/client/exchange.ts'

type Headers = Reply['headers']

/** A caller's headers that are for the service: what is asked for and how it is to be said, never who or where the caller is. */
export function forwarded(headers: Headers, hasBody: boolean): Record<string, string | string[]> {
  return endToEnd(headers, (name) => FORWARDED.test(name) && (hasBody || !name.startsWith('content-')))
}

/** The service's headers that are for the caller. */
export function passedOn(headers: Headers): Record<string, string | string[]> {
  return endToEnd(headers, (name) => !NOT_PASSED_ON.has(name) && !NOT_PASSED_ON_EITHER.test(name))
}

/** RFC 9110 §7.6.1: what Connection names is hop-by-hop as well. */
function endToEnd(headers: Headers, isForwarded: (name: string) => boolean): Record<string, string | string[]> {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(/[\s,]+/),
  )
  const kept = Object.entries(headers).filter((entry): entry is [string, string | string[]] => {
    const [name, value] = entry
    return value !== undefined && !named.has(name) && isForwarded(name)
  })
  return Object.fromEntries(kept)
}

/** The length is said anew of the same bytes. */
const FORWARDED =
  /^(?!content-length$)(?:(?:accept|content|if)-.+|accept|range|user-agent|x-request-id|traceparent|tracestate)$/

/** Of a connection, or what a client would keep or take as said of this port: what it may keep, which token it wants, its cookies, its rules. */
const NOT_PASSED_ON = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'accept-ch',
  'age',
  'alt-svc',
  'authentication-info',
  'cache-control',
  'clear-site-data',
  'content-security-policy',
  'content-security-policy-report-only',
  'expires',
  'nel',
  'permissions-policy',
  'pragma',
  'referrer-policy',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'set-cookie',
  'strict-transport-security',
  'www-authenticate',
  'x-content-type-options',
])
const NOT_PASSED_ON_EITHER = /^(?:access-control|cross-origin|proxy)-/
