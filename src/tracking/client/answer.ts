import type { Fault } from './fault.ts'
import { masked } from './masked.ts'
import { bodyOf, type Reply } from './reply.ts'

/** What became of a request. `text`: the answer's `message` where it has one, else its body; at most 2 KiB. */
export type Answer =
  | { readonly status: number; readonly text: string; readonly retryAfterMs?: number }
  | { readonly fault: Fault }

/** What an answer says, without the secret, should the server have quoted the request. */
export function answerOf(reply: Reply, secret: string): Answer {
  const { status, headers } = reply
  const body = bodyOf(reply)
  const text = body.length === 0 ? '' : cut(masked(messageOf(body.toString()), secret))
  const retryAfter = headers['retry-after']
  if (retryAfter === undefined) return { status, text }
  return { status, text, retryAfterMs: retryAfterMs(String(retryAfter), Date.now()) }
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

/** Leaves out a character that the limit would halve. */
function cut(text: string): string {
  const bytes = Buffer.from(text)
  return bytes.length <= MAX_TEXT_BYTES
    ? text
    : new TextDecoder().decode(bytes.subarray(0, MAX_TEXT_BYTES), { stream: true })
}

const MAX_TEXT_BYTES = 2_048
