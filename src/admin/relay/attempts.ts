import { setTimeout as sleep } from 'node:timers/promises'
import { retryAfterMs } from '../../tracking/client/answer.ts'
import type { Failure, Fault, Reply } from '../../tracking/client/exchange.ts'
import { mayRepeat, type OperationRequest, type TrackingClient } from '../../tracking/client.ts'
import { OPERATIONS } from '../../tracking/operations.ts'

/** What became of a request: the service's answer, or why there is none. */
export type Outcome = Reply | Failed

/** `unsent`: of none of the attempts. */
export interface Failed extends Omit<Failure, 'fault'> {
  readonly fault: Trouble
}

/** `full`: it was not sent, as there was no room for an answer. */
export type Trouble = Fault | 'full'

/**
 * A request, at most twice more where repeating does no harm: the connection failed, or the service cannot now. A DELETE of
 * which anything was sent is not sent again. All within the client's deadline for one. Who is to come again later than in two
 * seconds is told so at once.
 */
export async function attempt(client: TrackingClient, request: OperationRequest): Promise<Outcome> {
  const deadline = performance.now() + client.timeoutMs
  const { operation } = request
  const delays = OPERATIONS[operation].repeatable ? [...DELAYS_MS] : []
  let unsent = true
  for (;;) {
    const last = await client.request({ ...request, timeoutMs: deadline - performance.now() })
    unsent &&= isUnsent(last)
    const outcome = 'fault' in last ? { fault: last.fault, unsent } : last
    if (!mayRepeat(operation) && !isUnsent(last)) return outcome
    const delayMs = delays.shift()
    const waitMs = delayMs === undefined ? undefined : waitAfter(outcome, delayMs)
    if (waitMs === undefined || performance.now() + waitMs >= deadline) return outcome
    await sleep(waitMs, undefined, { signal: request.signal }).catch(() => {})
  }
}

function isUnsent(outcome: Reply | Failure): boolean {
  return 'fault' in outcome && outcome.unsent === true
}

/** Undefined where another attempt would bring nothing else. */
function waitAfter(outcome: Outcome, delayMs: number): number | undefined {
  if ('fault' in outcome) return PASSING_FAULTS.has(outcome.fault) ? delayMs : undefined
  if (!PASSING_STATUSES.has(outcome.status)) return undefined
  const asked = retryAfterMs(String(outcome.headers['retry-after']), Date.now()) ?? 0
  return asked > MAX_RETRY_AFTER_MS ? undefined : Math.max(asked, delayMs)
}

const DELAYS_MS = [200, 600]
const MAX_RETRY_AFTER_MS = 2000
const PASSING_FAULTS: ReadonlySet<Trouble> = new Set(['refused', 'reset', 'dns', 'unreachable'])
const PASSING_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])
