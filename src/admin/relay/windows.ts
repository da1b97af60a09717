import { bodyOf, type Fault, type Reply } from '../../tracking/client/exchange.ts'
import { type PositionInterval, MAX_INTERVAL_S } from '../../tracking/interval.ts'
import { ApiRefusal } from '../../tracking/refusal.ts'
import type { Outcome } from './attempts.ts'

/** Reads positions in an interval of at most two hours, not encoded; an answer beyond so many bytes is `too_large`. */
export type ReadWindow = (window: PositionInterval, maxBytes: number) => Promise<Outcome>

/**
 * The answer for a longer interval: those for its windows, joined in order as they are. The first that is no 200 with a
 * list is the answer for the whole; what is under way then is nobody's any more. @throws ApiRefusal 400 where it is too much.
 */
export async function readWindows(interval: PositionInterval, read: ReadWindow): Promise<Outcome> {
  const lists: Buffer[] = []
  let bytes = 0
  let type: string | string[] = 'application/json'
  for await (const outcome of inOrder(interval, read)) {
    if ('fault' in outcome && outcome.fault === 'too_large') throw tooMuch()
    if ('fault' in outcome || outcome.status !== 200) return outcome
    const body = bodyOf(outcome)
    const list = isPlain(outcome) && isList(body) ? between(body) : undefined
    if (list === undefined) return { fault: 'malformed' satisfies Fault }
    bytes += body.length
    if (bytes > MAX_BYTES) throw tooMuch()
    if (list.length > 0) lists.push(lists.length === 0 ? OPEN : COMMA, list)
    type = outcome.headers['content-type'] ?? type
  }
  const chunks = lists.length === 0 ? [OPEN, CLOSE] : [...lists, CLOSE]
  return { status: 200, headers: { 'content-type': type }, chunks, cut: false }
}

/** Answers in the order of their windows, a few asked for at a time. */
async function* inOrder(interval: PositionInterval, read: ReadWindow): AsyncGenerator<Outcome> {
  const windows = windowsOf(interval)
  const underWay: Promise<Outcome>[] = []
  const ask = () => {
    const { value } = windows.next()
    if (value) underWay.push(read(value, MAX_WINDOW_BYTES))
  }
  for (let n = 0; n < AT_ONCE; n++) ask()
  for (let next = underWay.shift(); next; next = underWay.shift()) {
    yield await next
    ask()
  }
}

/** Both ends of a window are in it: the next one begins a second later. */
function* windowsOf({ from, to }: PositionInterval): Generator<PositionInterval, undefined> {
  for (let start = from; start <= to; start += MAX_INTERVAL_S + 1n) {
    const end = start + MAX_INTERVAL_S
    yield { from: start, to: end < to ? end : to }
  }
}

function isPlain({ headers }: Reply): boolean {
  return (headers['content-encoding'] ?? 'identity') === 'identity'
}

function isList(body: Buffer): boolean {
  try {
    return Array.isArray(JSON.parse(body.toString()))
  } catch {
    return false
  }
}

/** What stands between the brackets of a JSON array. */
function between(array: Buffer): Buffer {
  return trimmed(trimmed(array).subarray(1, -1))
}

function trimmed(json: Buffer): Buffer {
  let start = 0
  let end = json.length
  while (start < end && isWhitespace(json[start])) start++
  while (end > start && isWhitespace(json[end - 1])) end--
  return json.subarray(start, end)
}

/** Of JSON. */
function isWhitespace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d
}

function tooMuch(): ApiRefusal {
  return new ApiRefusal(400, 'to: the positions until then are more than can be joined: ask for a shorter interval')
}

const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(']')
const COMMA = Buffer.from(',')

const AT_ONCE = 4
/** Ten vans on one route, each heard from twice a second. */
const MAX_WINDOW_BYTES = 16 * 1024 * 1024
const MAX_BYTES = 64 * 1024 * 1024
