import type { Dispatcher } from 'undici'
import { type Fault, faultOf } from './fault.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** An answer as it came; names of headers in lower case, what is not ASCII in them as latin1. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
  /** The body was longer, and is cut at the limit. */
  readonly cut: boolean
}

export interface Limits {
  /** For everything, waiting for a free connection included. */
  readonly timeoutMs: number
  readonly maxBytes: number
  /** Whether there is room for so much more of the answer; where there is not, the fault is `no_room`. Default: there is. */
  readonly take?: (bytes: number) => boolean
  /** Gives up the request: the fault is `given_up`. */
  readonly signal?: AbortSignal
}

/**
 * One request and its answer. Never rejects. A handler of our own instead of `request`: there is no stream to set up
 * for an empty body, and one timer is the deadline for the whole.
 */
export function exchange(
  pool: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: Limits,
): Promise<Reply | { readonly fault: Fault }> {
  if (limits.signal?.aborted) return Promise.resolve({ fault: 'given_up' })
  const { promise, resolve } = Promise.withResolvers<Reply | { fault: Fault }>()
  let controller: Dispatcher.DispatchController | undefined
  let status = 0
  let headers: Headers = {}
  const chunks: Buffer[] = []
  let left = limits.maxBytes
  let expired = false
  const unwatch = watch(limits, (fault) => {
    expired = true
    resolve({ fault })
    controller?.abort(GIVEN_UP)
  })
  const end = (outcome: Reply | { fault: Fault }) => {
    unwatch()
    resolve(outcome)
  }
  const reply = (): Reply => {
    return { status, headers, body: chunks.length === 1 ? chunks[0] : Buffer.concat(chunks), cut: left < 0 }
  }
  pool.dispatch(request, {
    onRequestStart(started) {
      // Thrown, not aborted: nothing has been sent yet, so the connection stays good.
      if (expired) throw GIVEN_UP
      controller = started
    },
    onResponseStart(_controller, code, received) {
      status = code
      headers = received
    },
    onResponseData(current, chunk) {
      const room = limits.take?.(chunk.length + CHUNK_BYTES) ?? true
      if (room) chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk)
      left -= chunk.length
      if (room && left >= 0) return
      end(room ? reply() : { fault: 'no_room' })
      current.abort(GIVEN_UP)
    },
    onResponseEnd: () => end(reply()),
    onResponseError: (_controller, error) => end({ fault: faultOf(error) }),
  })
  return promise
}

/** Calls `giveUp` once the time is over or the signal says so; answers with what ends the watch. */
function watch({ timeoutMs, signal }: Limits, giveUp: (fault: Fault) => void): () => void {
  const expire = (fault: Fault) => {
    unwatch()
    giveUp(fault)
  }
  const abort = () => expire('given_up')
  const unwatch = () => {
    clearTimeout(deadline)
    signal?.removeEventListener('abort', abort)
  }
  const deadline = setTimeout(expire, timeoutMs, 'timeout')
  signal?.addEventListener('abort', abort)
  return unwatch
}

/** What a Buffer takes beside its bytes: an answer may come in chunks of one byte. */
const CHUNK_BYTES = 200
const GIVEN_UP = new Error('the answer is not waited for any more')
