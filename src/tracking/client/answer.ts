import { masked } from '../../masking.ts'
import { bodyOf, type Fault, type Reply } from './exchange.ts'

/**
 * The answer to a push, or why there is none. `text`: the answer's `message` where it has one, else its body; at most 2 KiB,
 * without the secret; empty for a 200. `date`: the header of that name, which says what time it is there.
 */
export type ApiAnswer =
  | { readonly status: number; readonly text: string; readonly retryAfterMs?: number; readonly date?: string }
  | { readonly fault: Fault }

/** The answer for callers: the server may quote the request, so the secret is masked. */
export function answerOf(reply: Reply, secret: string): ApiAnswer {
  const { status, headers } = reply
  const body = bodyOf(reply)
  const text = body.length === 0 ? '' : cut(masked(messageOf(body.toString()), secret))
  const answer = { status, text, date: dateOf(reply) }
  const retryAfter = headers['retry-after']
  return retryAfter === undefined ? answer : { ...answer, retryAfterMs: retryAfterMs(String(retryAfter), Date.now()) }
}

/** The time that an answer says it is, as it came. */
export function dateOf({ headers }: Reply): string | undefined {
  return typeof headers.date === 'string' ? headers.date : undefined
}

/** Milliseconds to wait from a Retry-After header in seconds or as an HTTP date; undefined where it is neither. */
export function retryAfterMs(header: string, now: number): number | undefined {
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000
  const date = header.endsWith(' GMT') ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

function messageOf(text: string): string {
  if (!text.startsWith('{')) return text
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? message : text
  } catch {
    return text
  }
}

/** Cuts at the limit, before a character that the limit would split. */
function cut(text: string): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_TEXT_BYTES), { stream: true })
}

const MAX_TEXT_BYTES = 2_048
