import { type Answer, answerOf } from './client/answer.ts'
import { exchange } from './client/exchange.ts'
import type { Failure } from './client/fault.ts'
import { pathOf, type Target } from './client/path.ts'
import { createPool } from './client/pool.ts'
import { bodyOf, isSuccess, type Reply } from './client/reply.ts'
import { OPERATIONS, type OperationName } from './operations.ts'
import { printableUrl } from './printable-url.ts'
import { type CourierPosition, CourierPositions } from './schemas.ts'

export { type Answer, retryAfterMs } from './client/answer.ts'
export type { Failure, Fault } from './client/fault.ts'
export { masked } from './client/masked.ts'
export { bodyOf, isSuccess, type Reply } from './client/reply.ts'

export interface TrackingClientOptions {
  /** May have a path, which goes in front of every operation's. */
  readonly baseUrl: string
  /** Where pushes go; default: baseUrl. */
  readonly pushUrl?: string | null
  /** In front of the path of returns: '' (default) or /api/v1. */
  readonly returnPrefix?: string
  /** For a whole request, waiting for a free connection included. */
  readonly timeoutMs: number
  /** Most connections to each of the two hosts; as many again to the first, for what must not be sent twice. */
  readonly connections: number
}

/** Ids in exact decimal digits; `body` is ready JSON. */
export interface PushRequest {
  readonly courier: string
  readonly route: string
  readonly apikey: string
  readonly body: string | Buffer
}

/** Unix seconds, both ends included. */
export interface PositionsRequest {
  readonly company: string
  readonly route: string
  readonly oauthToken: string
  readonly from: number
  readonly to?: number
}

/** Any operation but the push; the path's ids must be valid. */
export interface OperationRequest extends Target {
  readonly operation: Exclude<OperationName, 'pushPositions'>
  readonly oauthToken: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Ready JSON. */
  readonly body?: Buffer
  /** Default: the client's. */
  readonly timeoutMs?: number
  /** Of the answer, which is else `too_large`; default: 64 MiB. One that is no 2xx has 1 MiB, and is else `long_error`. */
  readonly maxBytes?: number
  /** Whether there is room for so much more of the answer, which is else `no_room`. */
  readonly take?: (bytes: number) => boolean
  /** Gives up the request: the fault is `given_up`. */
  readonly signal?: AbortSignal
}

/** A client of the tracking interface. What may happen is a value: nothing here throws or rejects. No retries. */
export interface TrackingClient {
  /** The base URL, as it may be shown. */
  readonly baseUrl: string
  /** For a whole request. */
  readonly timeoutMs: number
  push(request: PushRequest): Promise<Answer>
  /** The answer as it came, redirects and encoded bodies too. */
  request(request: OperationRequest): Promise<Reply | Failure>
  /** `positions` where the answer is 200 and fits the interface; `malformed` where it is 200 and does not. */
  positions(request: PositionsRequest): Promise<Answer | { readonly positions: readonly CourierPosition[] }>
  /** Waits for what is under way and closes all connections. */
  close(): Promise<void>
}

/** @throws Error where a URL cannot be parsed; it quotes no secret of it. */
export function createTrackingClient(options: TrackingClientOptions): TrackingClient {
  const base = parseUrl(options.baseUrl)
  const pushBase = parseUrl(options.pushUrl ?? options.baseUrl)
  const basePool = createPool(base.origin, options)
  const freshPool = createPool(base.origin, { ...options, fresh: true })
  const pushPool = pushBase.origin === base.origin ? basePool : createPool(pushBase.origin, options)
  const basePath = prefix(base)
  const pushPath = prefix(pushBase)
  const { timeoutMs } = options

  async function push({ courier, route, apikey, body }: PushRequest): Promise<Answer> {
    const key = encodeURIComponent(apikey.toWellFormed())
    const path = `${pushPath}/api/v1/couriers/${courier}/routes/${route}/push-positions-v3?apikey=${key}`
    const reply = await exchange(
      pushPool,
      { method: 'POST', path, headers: JSON_HEADERS, body },
      { timeoutMs, maxBytes: MAX_ANSWER_BYTES },
    )
    return 'fault' in reply ? { fault: reply.fault } : answerOf(reply, apikey)
  }

  async function request({ oauthToken, headers, body, take, signal, ...rest }: OperationRequest) {
    const { method } = OPERATIONS[rest.operation]
    const reply = await exchange(
      mayRepeat(rest.operation) ? basePool : freshPool,
      {
        method,
        path: basePath + pathOf(rest, options.returnPrefix ?? ''),
        headers: { ...headers, authorization: `OAuth ${oauthToken}` },
        body,
      },
      {
        timeoutMs: rest.timeoutMs ?? timeoutMs,
        maxBytes: rest.maxBytes ?? MAX_REPLY_BYTES,
        maxErrorBytes: MAX_ERROR_BYTES,
        take,
        signal,
      },
    )
    if ('fault' in reply || !reply.cut) return reply
    return { fault: isSuccess(reply.status) ? ('too_large' as const) : ('long_error' as const) }
  }

  async function positions({ company, route, oauthToken, from, to }: PositionsRequest) {
    const reply = await request({
      operation: 'courierPositions',
      params: { company_id: company, route_id: route },
      query: { from: String(from), to: to === undefined ? undefined : String(to) },
      oauthToken,
    })
    if ('fault' in reply) return { fault: reply.fault }
    return reply.status === 200 ? parsePositions(bodyOf(reply)) : answerOf(reply, oauthToken)
  }

  const close = async () =>
    void (await Promise.all([...new Set([basePool, freshPool, pushPool])].map((pool) => pool.close())))
  return { baseUrl: printableUrl(base), timeoutMs, push, request, positions, close }
}

/**
 * Whether a request may be sent again though the one before may have been done. A DELETE is then answered 404, as if nothing
 * had been there.
 */
export function mayRepeat(operation: OperationName): boolean {
  const { method, repeatable } = OPERATIONS[operation]
  return repeatable && method !== 'DELETE'
}

/** The error of `new URL` has the whole text in it. */
function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (!url) throw new Error(`${printableUrl(text)} is not a URL`)
  return url
}

function prefix({ pathname }: URL): string {
  return pathname.replace(/\/+$/, '')
}

function parsePositions(body: Buffer) {
  try {
    return { positions: CourierPositions.parse(JSON.parse(body.toString())) }
  } catch {
    return { fault: 'malformed' } as const
  }
}

const JSON_HEADERS = ['content-type', 'application/json']
const MAX_ANSWER_BYTES = 64 * 1_024
const MAX_REPLY_BYTES = 64 * 1_024 * 1_024
// It is looked through for secrets in one piece: 10 ms.
const MAX_ERROR_BYTES = 1_024 * 1_024
