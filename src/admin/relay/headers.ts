import type { Reply } from '../../tracking/client.ts'

type Headers = Reply['headers']

/** A caller's headers that are for the service: not who the caller is here, nor what concerns a connection. */
export function forwarded(headers: Headers): Record<string, string | string[]> {
  return endToEnd(headers, NOT_FORWARDED)
}

/** The service's headers that are for the caller. */
export function passedOn(headers: Headers): Record<string, string | string[]> {
  return endToEnd(headers, NOT_PASSED_ON)
}

/** RFC 9110 §7.6.1: what Connection names is hop-by-hop as well. */
function endToEnd(headers: Headers, others: ReadonlySet<string>): Record<string, string | string[]> {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(/[\s,]+/),
  )
  const kept = Object.entries(headers).filter((entry): entry is [string, string | string[]] => {
    const [name, value] = entry
    if (value === undefined || named.has(name) || name.startsWith('proxy-')) return false
    return !HOP_BY_HOP.has(name) && !others.has(name)
  })
  return Object.fromEntries(kept)
}

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/** The length is said anew of the same bytes. */
const NOT_FORWARDED = new Set(['authorization', 'cookie', 'host', 'content-length', 'expect'])

/** Beside the length what a browser would keep, or take as said of all of this port. */
const NOT_PASSED_ON = new Set([
  'content-length',
  'set-cookie',
  'alt-svc',
  'clear-site-data',
  'content-security-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
])
