import { setTimeout as sleep } from 'node:timers/promises'
import { ApiRefusal } from '../http/refusal.ts'
import { isDense, MAX_POSITIONS_BYTES } from './body.ts'
import { mayRepeat, type OperationRequest, type TrackingClient } from './client.ts'
import { bodyOf, type Failure, isEncoded, type Reply, retryAfterMs } from './exchange.ts'
import { OPERATIONS } from './operations.ts'
import { MAX_INTERVAL_S, type PositionInterval } from './parameters.ts'

/**
 * Sends a request, and up to twice more if that does no harm: the connection failed, or the API is unavailable for now.
 * Repeats a DELETE only if nothing of it was sent. All attempts share the client's deadline for one request. Leaves a
 * Retry-After of more than two seconds to the caller.
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

/** Returns how long to wait before the next attempt; undefined if another attempt would have the same result. */
function waitAfter(outcome: Reply | Failure, delayMs: number): number | undefined {
  if ('fault' in outcome) return TRANSIENT_FAULTS.has(outcome.fault) ? delayMs : undefined
  if (!TRANSIENT_STATUSES.has(outcome.status)) return undefined
  const asked = retryAfterMs(String(outcome.headers['retry-after']), Date.now()) ?? 0
  return asked > MAX_RETRY_AFTER_MS ? undefined : Math.max(asked, delayMs)
}

const DELAYS_MS = [200, 600]
const MAX_RETRY_AFTER_MS = 2000
const TRANSIENT_FAULTS: ReadonlySet<Failure['fault']> = new Set(['refused', 'reset', 'dns', 'unreachable', 'proxy'])
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

/** Reads the positions of at most two hours, not encoded; an answer of more than `maxBytes` is the fault `too_large`. */
type ReadWindow = (window: PositionInterval, maxBytes: number) => Promise<Reply | Failure>

/**
 * Reads a longer interval in windows and joins their lists, in order and byte for byte. The first answer that is not a 200
 * with a list becomes the answer for the whole; the caller aborts the windows still in flight. @throws ApiRefusal 400 if the
 * interval is too long
 */
export async function readWindows(interval: PositionInterval, read: ReadWindow): Promise<Reply | Failure> {
  const lists: Buffer[] = []
  let bytes = 0
  let type: string | string[] = 'application/json'
  for await (const outcome of inOrder(interval, read)) {
    if ('fault' in outcome && outcome.fault === 'too_large') throw tooMuch()
    if ('fault' in outcome || outcome.status !== 200) return outcome
    const entries = entriesOf(outcome)
    if (!entries) return { fault: 'malformed' }
    bytes += entries.length
    if (bytes > MAX_BYTES) throw tooMuch()
    if (entries.length > 0) lists.push(lists.length === 0 ? OPEN : COMMA, entries)
    type = outcome.headers['content-type'] ?? type
  }
  const chunks = lists.length === 0 ? [OPEN, CLOSE] : [...lists, CLOSE]
  return { status: 200, headers: { 'content-type': type }, chunks, cut: false }
}

/** Yields the answers in the order of their windows; `AT_ONCE` requests are in flight at a time. */
async function* inOrder(interval: PositionInterval, read: ReadWindow): AsyncGenerator<Reply | Failure> {
  const windows = [...windowsOf(interval)]
  const readNext = (count: number) => windows.splice(0, count).map((window) => read(window, MAX_POSITIONS_BYTES))
  const inFlight = readNext(AT_ONCE)
  for (let next = inFlight.shift(); next; next = inFlight.shift()) {
    yield await next
    inFlight.push(...readNext(1))
  }
}

/** Both ends of a window belong to it: the next one begins a second later. */
function* windowsOf({ from, to }: PositionInterval): Generator<PositionInterval> {
  for (let start = from; start <= to; start += MAX_INTERVAL_S + 1n) {
    const end = start + MAX_INTERVAL_S
    yield { from: start, to: end < to ? end : to }
  }
}

/** Returns the bytes between the brackets of a JSON list, empty for an empty list; undefined if the answer is no list. */
function entriesOf(reply: Reply): Buffer | undefined {
  if (isEncoded(reply)) return undefined
  const body = bodyOf(reply)
  if (isDense(body)) return undefined
  try {
    const list: unknown = JSON.parse(body.toString())
    if (!Array.isArray(list)) return undefined
    return list.length === 0 ? Buffer.alloc(0) : body.subarray(body.indexOf('[') + 1, body.lastIndexOf(']'))
  } catch {
    return undefined
  }
}

function tooMuch(): ApiRefusal {
  return new ApiRefusal(400, 'to: the positions until then are more than can be joined: ask for a shorter interval')
}

const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(']')
const COMMA = Buffer.from(',')

const AT_ONCE = 4
const MAX_BYTES = 64 * 1024 * 1024
