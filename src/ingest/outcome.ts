import type { DecodeReason } from '../../protocols/kit/index.ts'
import type { IdentityRefusal } from './identify.ts'

/**
 * What became of one frame. Only `stored` has an answer for the device: the fixes are on disk, or there were none.
 * - `misunderstood`: damaged or none of the protocol's; it is counted, nothing is answered (HTTP 400).
 * - `refused`: not a device of ours, or the wrong secret; the connection ends, after `refusal` where the protocol has one (403).
 * - `not_stored`: Redis could not take it; the connection ends without an answer and the device sends again (503).
 */
export type Outcome =
  | { readonly status: 'stored'; readonly reply?: Buffer }
  | { readonly status: 'misunderstood'; readonly reason: DecodeReason }
  | { readonly status: 'refused'; readonly reason: IdentityRefusal; readonly refusal?: Buffer }
  | { readonly status: 'not_stored' }
