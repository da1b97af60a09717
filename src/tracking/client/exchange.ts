import type { Dispatcher } from 'undici'
import { type Fault, faultOf } from './fault.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** An answer as it came; `body` cut at the limit. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
}

export interface Limits {
  /** For everything, waiting for a free connection included. */
  readonly timeoutMs: number
  readonly maxBytes: number
}

/**
 * One request and its answer. Never rejects. A handler of our own instead of `request`: there is no stream to set up
 * for an empty body, and one timer is the deadline for the whole.
 */
export function exchange(
  pool: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { timeoutMs, maxBytes }: Limits,
): Promise<Reply | { readonly fault: Fault }> {
  const { promise, resolve } = Promise.withResolvers<Reply | { fault: Fault }>()
  let controller: Dispatcher.DispatchController | undefined
  let status = 0
  let headers: Headers = {}
  const chunks: Buffer[] = []
  let left = maxBytes
  let expired = false
  const deadline = setTimeout(() => {
    expired = true
    resolve({ fault: 'timeout' })
    controller?.abort(GIVEN_UP)
  }, timeoutMs)
  const end = (outcome: Reply | { fault: Fault }) => {
    clearTimeout(deadline)
    resolve(outcome)
  }
  const reply = (): Reply => ({ status, headers, body: chunks.length === 1 ? chunks[0] : Buffer.concat(chunks) })
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
      chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk)
      left -= chunk.length
      if (left >= 0) return
      end(reply())
      current.abort(GIVEN_UP)
    },
    onResponseEnd: () => end(reply()),
    onResponseError: (_controller, error) => end({ fault: faultOf(error) }),
  })
  return promise
}

const GIVEN_UP = new Error('the answer is not waited for any more')
