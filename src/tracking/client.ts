import { randomBytes, randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { printableUrl } from '../masking.ts'
import type { Logger } from '../observe/log.ts'
import { VERSION } from '../version.ts'
import { type ApiAnswer, answerOf, isForeign } from './answer.ts'
import { bodyOf, type ExchangeLimits, exchange, type Failure, isSuccess, type Reply } from './exchange.ts'
import { OPERATIONS, type OperationName } from './operations.ts'
import { connectorOf, type TlsSettings } from './proxy.ts'
import { secureProbe } from './secure-probe.ts'

export interface TrackingClientOptions {
  /** The base URL. Its path precedes that of every operation. */
  readonly baseUrl: string
  /** Where pushes go; default: baseUrl. */
  readonly pushUrl?: string | null
  /** Precedes the path of returns: '' (default) or /api/v1. */
  readonly returnPrefix?: string
  /** Time-out of a whole request, including the wait for a free connection. */
  readonly timeoutMs: number
  /** For https: hosts; undefined: the system's settings. A function is called for each connection. */
  readonly tls?: TlsSettings
  /** The URL of a proxy that connects to the hosts; default: none. */
  readonly proxy?: string | null
  /** Logs each request at debug. */
  readonly logger?: Logger
  /** Most connections to each host; as many again to the first, for operations that must not be repeated. */
  readonly connections: number
}

/** What names one request, in our log and in that of the API. */
export interface RequestTrace {
  /** The header `x-request-id`. */
  readonly requestId: string
  /** The header of the same name (W3C Trace Context); its trace id is the request id without hyphens. */
  readonly traceparent: string
}

/** Ids in exact decimal digits; `body` is ready JSON. */
export interface PushRequest {
  readonly courier: string
  readonly route: string
  readonly apikey: string
  readonly body: string | Buffer
  /** Default: a new one. */
  readonly trace?: RequestTrace
}

/** Any operation but the push. Default limits: the client's time, 64 MiB, and 1 MiB of an answer other than 2xx. */
export interface OperationRequest extends Partial<Omit<ExchangeLimits, 'maxErrorBytes' | 'isEnough'>> {
  readonly operation: Exclude<OperationName, 'pushPositions'>
  /** Valid ids, by the names of the path's parameters. */
  readonly params: Readonly<Record<string, string>>
  /** Parameters without a value are left out. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly oauthToken: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Ready JSON. */
  readonly body?: Buffer
}

export type TrackingClient = ReturnType<typeof createTrackingClient>

/**
 * Creates a client of the tracking interface. Its methods return every outcome as a value, and never throw or retry. @throws
 * Error without any secret if a URL cannot be parsed
 */
export function createTrackingClient(options: TrackingClientOptions) {
  const base = hostOf(options.baseUrl)
  const pushBase = hostOf(options.pushUrl ?? options.baseUrl)
  const basePool = createPool(base.origin, options)
  const freshPool = createPool(base.origin, options, true)
  const pushPool = pushBase.origin === base.origin ? basePool : createPool(pushBase.origin, options)
  const { timeoutMs, returnPrefix = '' } = options
  const isSecure = secureProbe(options.proxy)

  async function push({ courier, route, apikey, body, trace = newTrace() }: PushRequest): Promise<ApiAnswer> {
    const key = encodeURIComponent(apikey.toWellFormed())
    const path = `${pushBase.path}/api/v1/couriers/${courier}/routes/${route}/push-positions-v3?apikey=${key}`
    const reply = await exchange(
      pushPool,
      { method: 'POST', path, headers: { 'content-type': 'application/json', ...traceHeaders(trace) }, body },
      { timeoutMs, maxBytes: MAX_ANSWER_BYTES, isEnough: isForeign },
    )
    log('pushPositions', trace, reply, { courier_id: courier, route_id: route })
    if (mayNeedTls(reply) && (await isSecure(pushBase.url))) return { fault: 'needs_tls' }
    return 'fault' in reply ? { fault: reply.fault } : answerOf(reply, apikey)
  }

  /**
   * Resolves to the answer as it came, even a redirect, with its body undecoded. A truncated one is `too_large` or
   * `long_error`.
   */
  async function request(asked: OperationRequest): Promise<Reply | Failure> {
    const { operation, oauthToken, headers = {}, body } = asked
    const trace = traceOf(headers)
    const reply = await exchange(
      mayRepeat(operation) ? basePool : freshPool,
      {
        method: OPERATIONS[operation].method,
        path: base.path + pathOf(asked, returnPrefix),
        headers: { ...traceHeaders(trace), ...headers, authorization: `OAuth ${oauthToken}` },
        body,
      },
      {
        ...asked,
        timeoutMs: asked.timeoutMs ?? timeoutMs,
        maxBytes: asked.maxBytes ?? MAX_REPLY_BYTES,
        maxErrorBytes: MAX_ERROR_BYTES,
      },
    )
    log(operation, trace, reply)
    if ('fault' in reply || !reply.cut) return reply
    return { fault: isSuccess(reply.status) ? 'too_large' : 'long_error' }
  }

  function log(operation: OperationName, trace: RequestTrace, reply: Reply | Failure, ids?: object): void {
    const { requestId: request_id, traceparent } = trace
    const end = 'fault' in reply ? { reason: reply.fault } : { status: reply.status }
    options.logger?.debug({ operation, request_id, traceparent, ...ids, ...end }, 'asked the tracking API')
  }

  /** Waits for the requests in flight, then closes all connections. */
  async function close(): Promise<void> {
    await Promise.all([...new Set([basePool, freshPool, pushPool])].map((pool) => pool.close()))
  }

  return { baseUrl: printableUrl(base.href), timeoutMs, push, request, close }
}

/** The trace of a new request. */
export function newTrace(): RequestTrace {
  const requestId = randomUUID()
  return { requestId, traceparent: `00-${requestId.replaceAll('-', '')}-${randomBytes(8).toString('hex')}-01` }
}

/** The headers of a request with this trace. */
function traceHeaders({ requestId, traceparent }: RequestTrace): Record<string, string> {
  return { 'user-agent': USER_AGENT, 'x-request-id': requestId, traceparent }
}

/** The trace of a request with these headers, which may name their own. */
function traceOf(headers: Readonly<Record<string, string | string[]>>): RequestTrace {
  const made = newTrace()
  const { 'x-request-id': requestId = made.requestId, traceparent = made.traceparent } = headers
  return { requestId: String(requestId), traceparent: String(traceparent) }
}

/**
 * Returns whether a request may be repeated although the first one may have been done. A DELETE may not: its second answer
 * would be a 404, as if there had been nothing to delete.
 */
export function mayRepeat(operation: OperationName): boolean {
  const { method, repeatable } = OPERATIONS[operation]
  return repeatable && method !== 'DELETE'
}

/** Servers with TLS cut a request without it, or answer 400 with a page or a line of text; the API itself answers JSON. */
function mayNeedTls(reply: Reply | Failure): boolean {
  if ('fault' in reply) return reply.fault === 'reset' || reply.fault === 'malformed'
  return reply.status === 400 && !bodyOf(reply).toString().trimStart().startsWith('{')
}

/** The error of `new URL` would quote the whole text. */
function hostOf(text: string) {
  const url = URL.parse(text)
  if (!url) throw new Error(`${printableUrl(text)} is not a URL`)
  return { href: url.href, origin: url.origin, url, path: url.pathname.replace(/\/+$/, '') }
}

/**
 * No pipelining: it may reorder, and one slow answer would delay others. undici's own time-outs only measure idle time.
 * @param fresh each request gets a new connection, so that it cannot meet one that the server is just closing
 */
function createPool(
  origin: string,
  { connections, proxy, timeoutMs, tls }: TrackingClientOptions,
  fresh = false,
): Pool {
  const connectMs = Math.min(timeoutMs, MAX_CONNECT_MS)
  return new Pool(origin, {
    connections,
    connect: connectorOf({ proxy, tls, timeoutMs: connectMs }),
    // In undici, 0 closes a connection after its request. A connection opened for a request that was then given up stays
    // idle.
    ...(fresh ? { pipelining: 0, keepAliveTimeout: 1 } : { pipelining: 1 }),
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
}

/** Path and query below the base URL; a return goes to the path with `returnPrefix`, not with the table's prefix. */
function pathOf({ operation, params, query = {} }: OperationRequest, returnPrefix: string): string {
  const isReturn = operation === 'returnItems' || operation === 'returnItemsV1'
  const template = isReturn ? returnPrefix + OPERATIONS.returnItems.path : OPERATIONS[operation].path
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]))
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}

const USER_AGENT = `waybridge/${VERSION}`
const MAX_ANSWER_BYTES = 64 * 1_024
const MAX_REPLY_BYTES = 64 * 1_024 * 1_024
// A longer error body is cut: masking secrets in 1 MiB already blocks the event loop for 10 ms.
const MAX_ERROR_BYTES = 1_024 * 1_024
const MAX_CONNECT_MS = 10_000
