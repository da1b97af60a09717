import { type Dispatcher, errors } from 'undici'

/**
 * Why there is no answer. `reset`: the connection ended before the whole answer arrived, or was aborted. `timeout`: the
 * host can be reached, but did not answer in time. `long_error`: the body of an answer other than 2xx is too large.
 * `handshake`: TLS is refused, for another reason than the host's certificate.
 * `needs_tls`: the host speaks TLS at a port that is asked without. `no_tls`: the other way round. `authority`: its certificate is of an
 * authority that is not trusted. `proxy`: the proxy did not connect to the host. `no_room`: there is no memory for the answer. `given_up`: the caller no longer waits for the answer.
 */
export type Fault =
  | keyof typeof CAUSES
  | 'needs_tls'
  | 'timeout'
  | 'too_large'
  | 'long_error'
  | 'no_room'
  | 'given_up'
  | 'failed'

export interface Failure {
  readonly fault: Fault
  /** Nothing of the request was sent: it was certainly not done. */
  readonly unsent?: boolean
}

/** An answer as it came; header names in lower case, header bytes beyond ASCII as latin1. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body, in the pieces in which it came. */
  readonly chunks: readonly Buffer[]
  /** The body was longer than the limit, and is truncated. */
  readonly cut: boolean
}

export interface ExchangeLimits {
  /** Time-out of the whole exchange, including the wait for a free connection. */
  readonly timeoutMs: number
  /** Aborts the request: the fault is `given_up`. */
  readonly signal?: AbortSignal
  readonly maxBytes: number
  /** The longest body of an answer other than 2xx; default: `maxBytes`. */
  readonly maxErrorBytes?: number
  /**
   * Returns true once enough of the answer has arrived: the remainder, which may be endless, gets a second, so that the
   * connection can be reused. Called with the head of the answer and with each piece of its body.
   */
  readonly isEnough?: (reply: Reply) => boolean
  /** Reserves memory for this many more bytes of the answer. Returns false if there is none: the fault is then `no_room`. */
  readonly take?: (bytes: number) => boolean
}

/**
 * Sends one request and resolves to its answer. Never rejects. Uses its own handler in place of undici's `request`: an answer
 * of two bytes needs no stream, and one timer is the deadline for the whole exchange.
 */
export function exchange(
  pool: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
): Promise<Reply | Failure> {
  const { signal, maxBytes, maxErrorBytes = maxBytes, isEnough, take } = limits
  if (signal?.aborted) return Promise.resolve({ fault: 'given_up', unsent: true })
  const { promise, resolve } = Promise.withResolvers<Reply | Failure>()
  const reply = { status: 0, headers: {} as Reply['headers'], chunks: [] as Buffer[], cut: false }
  let left = maxBytes
  let controller: Dispatcher.DispatchController | undefined
  let isOver = false
  let resting: NodeJS.Timeout | undefined

  const deadline = setTimeout(fail, limits.timeoutMs, 'timeout')
  const abort = () => fail('given_up')
  signal?.addEventListener('abort', abort)

  function end(outcome: Reply | Failure): void {
    isOver = true
    clearTimeout(deadline)
    clearTimeout(resting)
    signal?.removeEventListener('abort', abort)
    resolve(outcome)
  }

  /** undici starts a request only on a ready connection: without a controller, nothing was sent. */
  function failure(fault: Fault): Failure {
    return controller ? { fault } : { fault, unsent: true }
  }

  function fail(fault: Fault): void {
    end(failure(fault))
    controller?.abort(GIVEN_UP)
  }

  /** Ends the exchange with the bytes so far, and closes its connection. */
  function cut(): void {
    end({ ...reply, cut: true })
    controller?.abort(GIVEN_UP)
  }

  function awaitRest(): void {
    if (!isOver && !resting && isEnough?.(reply)) resting = setTimeout(cut, REST_MS)
  }

  pool.dispatch(request, {
    onRequestStart(started) {
      // Thrown rather than aborted: nothing was sent, so the connection stays usable.
      if (isOver) throw GIVEN_UP
      controller = started
    },
    onResponseStart(_controller, status, headers) {
      // An informational response: the final one follows.
      if (status < 200) return
      reply.status = status
      reply.headers = headers
      if (status > 299) left = Math.min(maxBytes, maxErrorBytes)
      // The length in a 304 is that of a body that it does not have. With `isEnough`, the body decides when it is enough.
      if (!isEnough && status !== 304 && Number(headers['content-length']) > left) cut()
      awaitRest()
    },
    onResponseData(_controller, chunk) {
      if (take?.(chunk.length + CHUNK_BYTES) === false) return fail('no_room')
      reply.chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk)
      left -= Math.max(chunk.length, CHUNK_BYTES)
      if (left < 0) cut()
      awaitRest()
    },
    onResponseEnd: () => end(reply),
    onResponseError: (_controller, error) => end(failure(faultOf(error))),
  })
  return promise
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** Whether the body must be decoded before it can be read. */
export function isEncoded({ headers }: Reply): boolean {
  return (headers['content-encoding'] ?? 'identity') !== 'identity'
}

/** Returns the whole body; copies it only if it came in more than one piece. */
export function bodyOf({ chunks }: Pick<Reply, 'chunks'>): Buffer {
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
}

/** Returns the milliseconds to wait by a Retry-After header in seconds or as an HTTP date; undefined if it is neither. */
export function retryAfterMs(header: string, now: number): number | undefined {
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000
  const date = header.endsWith(' GMT') ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** Returns the fault for an error of undici or the system. The error's message may contain the URL and is never shown. */
export function faultOf(error: unknown): Fault {
  const { code, message } = error as NodeJS.ErrnoException
  // The messages are undici's for a `100 Continue` or `101 Switching Protocols` that was not requested.
  if (error instanceof errors.HTTPParserError || /^bad (?:response|upgrade)$/.test(message)) return 'malformed'
  const causes = Object.entries(CAUSES) as [keyof typeof CAUSES, RegExp][]
  return causes.find(([, codes]) => codes.test(code ?? ''))?.[0] ?? 'failed'
}

/** The codes of errors that mean a fault. */
const CAUSES = {
  refused: /^ECONNREFUSED$/,
  reset: /^(?:ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/,
  dns: /^(?:ENOTFOUND|EAI_AGAIN)$/,
  unreachable: /^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/,
  authority: /^(?:DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/,
  no_tls: /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL)$/,
  tls: /^(?:ERR_TLS_|CERT_)/,
  handshake: /^(?:ERR_SSL_|EPROTO$)/,
  malformed: /^UND_ERR_HEADERS_OVERFLOW$/,
  proxy: /^PROXY$/,
  closed: /^UND_ERR_(?:DESTROYED|CLOSED)$/,
}
const REST_MS = 1000
const GIVEN_UP = new Error('the answer is not waited for any more')
/** Memory of a Buffer in addition to its bytes. It counts, because an answer may come in chunks of one byte. */
const CHUNK_BYTES = 200
