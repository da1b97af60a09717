import { setTimeout as sleep } from 'node:timers/promises'
import { type Failure, type Reply, retryAfterMs } from '../../tracking/exchange.ts'
import { mayRepeat, type OperationRequest, type TrackingClient } from '../../tracking/client.ts'
import { OPERATIONS } from '../../tracking/operations.ts'

/**
 * Sends a request, and up to twice more where that does no harm: the connection failed, or the API is unavailable for now. A
 * DELETE is repeated only where nothing of it was sent. All attempts share the client's deadline for one request. A
 * Retry-After of more than two seconds is left to the caller.
 */
export async function attempt(
  client: Pick<TrackingClient, 'request' | 'timeoutMs'>,
  request: OperationRequest,
): Promise<Reply | Failure> {
  const deadline = performance.now() + client.timeoutMs
  const { operation, signal } = request
  const delays = OPERATIONS[operation].repeatable ? [...DELAYS_MS] : []
  let unsent = true
  for (;;) {
    const last = await client.request({ ...request, timeoutMs: deadline - performance.now() })
    const isUnsent = 'fault' in last && last.unsent === true
    unsent &&= isUnsent
    const outcome = 'fault' in last ? { fault: last.fault, unsent } : last
    const delayMs = mayRepeat(operation) || isUnsent ? delays.shift() : undefined
    const waitMs = delayMs === undefined ? undefined : waitAfter(outcome, delayMs)
    if (waitMs === undefined || performance.now() + waitMs >= deadline) return outcome
    await sleep(waitMs, undefined, { signal }).catch(() => {})
  }
}

/** How long to wait before the next attempt; undefined where another attempt would bring no other answer. */
function waitAfter(outcome: Reply | Failure, delayMs: number): number | undefined {
  if ('fault' in outcome) return TRANSIENT_FAULTS.has(outcome.fault) ? delayMs : undefined
  if (!TRANSIENT_STATUSES.has(outcome.status)) return undefined
  const asked = retryAfterMs(String(outcome.headers['retry-after']), Date.now()) ?? 0
  return asked > MAX_RETRY_AFTER_MS ? undefined : Math.max(asked, delayMs)
}

const DELAYS_MS = [200, 600]
const MAX_RETRY_AFTER_MS = 2000
const TRANSIENT_FAULTS: ReadonlySet<Failure['fault']> = new Set(['refused', 'reset', 'dns', 'unreachable'])
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])
