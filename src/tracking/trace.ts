import { randomBytes, randomUUID } from 'node:crypto'
import { VERSION } from '../version.ts'

/** Identifies one request, in our log and in that of the API. */
export interface RequestTrace {
  /** The header `x-request-id`. */
  readonly requestId: string
  /** The header of the same name (W3C Trace Context); its trace id is the request id without hyphens. */
  readonly traceparent: string
}

/** The trace of a new request. */
export function newTrace(): RequestTrace {
  const requestId = randomUUID()
  return { requestId, traceparent: `00-${requestId.replaceAll('-', '')}-${randomBytes(8).toString('hex')}-01` }
}

/** The headers of a request with this trace. */
export function traceHeaders({ requestId, traceparent }: RequestTrace): Record<string, string> {
  return { 'user-agent': USER_AGENT, 'x-request-id': requestId, traceparent }
}

/** The trace of a request with these headers, which may name their own. */
export function traceOf(headers: Readonly<Record<string, string | string[]>>): RequestTrace {
  const made = newTrace()
  const { 'x-request-id': requestId = made.requestId, traceparent = made.traceparent } = headers
  return { requestId: String(requestId), traceparent: String(traceparent) }
}

const USER_AGENT = `waybridge/${VERSION}`
