import type { ApiAnswer } from '../tracking/client/answer.ts'

/** What an answer of the tracking API leads to. */
export type Consequence =
  | { readonly to: 'delivered'; readonly status: number }
  /** They stay, and are tried again. `leastMs`: what `Retry-After` asked for. */
  | { readonly to: 'retry'; readonly status: number | string; readonly leastMs: number }
  /** The service refuses these positions. */
  | { readonly to: 'refuse'; readonly status: number; readonly message: string }
  /** The service refuses the lane. */
  | { readonly to: 'park'; readonly status: number; readonly message: string }

/** Pure: 2xx delivers; 408, 425, 429, 5xx and every fault may pass; 422 and 413 are the positions'; the rest is the lane's. */
export function consequence(answer: ApiAnswer): Consequence {
  if ('fault' in answer) return { to: 'retry', status: answer.fault, leastMs: 0 }
  const { status, text, retryAfterMs = 0 } = answer
  if (status >= 200 && status < 300) return { to: 'delivered', status }
  if (status >= 500 || MAY_PASS.has(status)) return { to: 'retry', status, leastMs: retryAfterMs }
  return { to: POSITIONS.has(status) ? 'refuse' : 'park', status, message: text }
}

const MAY_PASS = new Set([408, 425, 429])
const POSITIONS = new Set([413, 422])
