import type { CopiedFix, RefusalReason } from '../store/index.ts'
import type { Text } from '../texts/text.ts'

/** What became of a request to the receiver of a copy. */
export type ReceiverAnswer =
  | { readonly to: 'delivered' }
  /** `isAnswered`: the receiver was reached, so these fixes themselves may be why. `leastMs`: what `Retry-After` asked for. */
  | { readonly to: 'retry'; readonly reason: Text; readonly isAnswered: boolean; readonly leastMs?: number }
  /** `isWhole`: it is about the lane, so all fixes of the request are refused. */
  | ({ readonly to: 'refuse'; readonly isWhole?: boolean } & RefusalReason)

/** Who gets a copy. */
export interface Receiver {
  /** Most fixes in one request. */
  readonly most: number
  /** Names the queue of a fix: the requests of a queue follow one another, so all fixes of a device and lane are in one. */
  queueOf(fix: CopiedFix): string
  /** Sends fixes of one company in their order. Never rejects. */
  send(company: string, fixes: readonly CopiedFix[], signal: AbortSignal): Promise<ReceiverAnswer>
  close(): void
}

/** What the senders of a copy look up. */
export interface CopyNames {
  /** The name of a device; undefined: it has none. */
  nameOf(device: string): string | undefined
  /** The apikeys of a company. */
  apikeysOf(company: string): readonly string[]
}
