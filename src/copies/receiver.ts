import type { CopiedFix, RefusalReason } from '../store/index.ts'
import type { Text } from '../texts/text.ts'

/** Result of a request to the receiver of a copy. */
export type ReceiverAnswer =
  | { readonly to: 'delivered' }
  /** `mayBeFixes`: these fixes themselves may be why. `leastMs`: what `Retry-After` asked for. */
  | { readonly to: 'retry'; readonly reason: Text; readonly mayBeFixes: boolean; readonly leastMs?: number }
  /** `isWhole`: it is about the lane, so all fixes of the request are refused. */
  | ({ readonly to: 'refuse'; readonly isWhole?: boolean } & RefusalReason)

/** Whether the fixes of a request may be the cause of an error answer, rather than a limit, a credential or an outage. */
export function mayBeFixes(status: number, leastMs: number | undefined): boolean {
  return status >= 400 && leastMs === undefined && !NEVER_FIXES.has(status)
}

const NEVER_FIXES: ReadonlySet<number> = new Set([401, 403, 405, 407, 408, 410, 425, 429, 503])

/** The receiver of a copy. */
export interface Receiver {
  /** Most fixes in one request. */
  readonly most: number
  /** Names the queue of a fix: the requests of a queue follow one another, so all fixes of a device and lane are in one. */
  queueOf(fix: CopiedFix): string
  /** Sends fixes of one company in order. Never rejects. */
  send(company: string, fixes: readonly CopiedFix[], signal: AbortSignal): Promise<ReceiverAnswer>
  /** Call it once a second: it shows that a connection is used. */
  keepAlive?(): void
  close(): void
}

/** Lookups of the senders of a copy. */
export interface CopyNames {
  /** Returns the name of a device of a company; undefined if it has none, or belongs to another company now. */
  nameOf(company: string, device: string): string | undefined
  /** The apikeys of a company. */
  apikeysOf(company: string): readonly string[]
}
