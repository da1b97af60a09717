import type { Dispatcher } from 'undici'
import { type Failure, type Fault, faultOf } from './fault.ts'
import { collectReply, type Reply, type ReplyLimits } from './reply.ts'

export interface Limits extends ReplyLimits {
  /** For everything, waiting for a free connection included. */
  readonly timeoutMs: number
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
): Promise<Reply | Failure> {
  if (limits.signal?.aborted) return Promise.resolve({ fault: 'given_up', unsent: true })
  const { promise, resolve } = Promise.withResolvers<Reply | Failure>()
  let controller: Dispatcher.DispatchController | undefined
  const answer = collectReply(limits)
  let expired = false
  // A request starts on a connection that is ready for it.
  const failure = (fault: Fault): Failure => (controller ? { fault } : { fault, unsent: true })
  const unwatch = watch(limits, (fault) => {
    expired = true
    resolve(failure(fault))
    controller?.abort(GIVEN_UP)
  })
  const end = (outcome: Reply | Failure) => {
    unwatch()
    resolve(outcome)
  }
  const endEarly = (current: Dispatcher.DispatchController, outcome: Reply | Failure | undefined) => {
    if (!outcome) return
    end(outcome)
    current.abort(GIVEN_UP)
  }
  pool.dispatch(request, {
    onRequestStart(started) {
      // Thrown, not aborted: nothing has been sent yet, so the connection stays good.
      if (expired) throw GIVEN_UP
      controller = started
    },
    onResponseStart: (current, status, headers) => endEarly(current, answer.start(status, headers)),
    onResponseData: (current, chunk) => endEarly(current, answer.add(chunk)),
    onResponseEnd: () => end(answer.reply()),
    onResponseError: (_controller, error) => end(failure(faultOf(error))),
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

const GIVEN_UP = new Error('the answer is not waited for any more')
