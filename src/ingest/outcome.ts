import type { DecodeReason, HttpAnswer, Message } from '../../protocols/kit/index.ts'
import { metrics } from '../observe/metrics.ts'
import { noteNotStored, type Obstacle } from '../observe/not-stored.ts'
import type { IdentityReason } from './identity.ts'

export type { Obstacle }

/**
 * What became of one frame. Only `stored` has an answer for the device: its fixes are on disk, or it has none.
 * - `misunderstood`: damaged, or no frame of the protocol; counted, and not answered (HTTP 400).
 * - `refused`: nobody that we know (see identity.ts); the connection ends, after `refusal` where the protocol has one (403).
 * - `not_stored`: the connection ends without an answer, and the device sends again (503).
 */
export type FrameOutcome =
  | { readonly status: 'stored'; readonly reply?: Message['reply']; readonly response?: HttpAnswer }
  | { readonly status: 'misunderstood'; readonly reason: DecodeReason }
  | { readonly status: 'refused'; readonly reason: IdentityReason; readonly refusal?: Buffer }
  | { readonly status: 'not_stored'; readonly reason: Obstacle }

export function done({ reply, response }: Pick<Message, 'reply' | 'response'>): FrameOutcome {
  return { status: 'stored', reply, response }
}

/** The outcome of a message that is not stored, counted. */
export function failed(failure: Obstacle | IdentityReason, { refusal }: Pick<Message, 'refusal'>): FrameOutcome {
  if (isObstacle(failure)) {
    noteNotStored(failure)
    return { status: 'not_stored', reason: failure }
  }
  metrics.refused.inc({ reason: failure })
  return { status: 'refused', reason: failure, refusal }
}

export function isObstacle(failure: Obstacle | IdentityReason): failure is Obstacle {
  return failure in OBSTACLES
}

const OBSTACLES: Readonly<Record<Obstacle, true>> = {
  roster: true,
  redis: true,
  memory: true,
  parked: true,
  misunderstood: true,
  flood: true,
  fault: true,
}
