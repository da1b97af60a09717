import {
  type DecodeError,
  type DecodeReason,
  type Fix,
  type HttpAnswer,
  type HttpRequest,
  type Message,
  type Protocol,
  repliesOf,
  type Session,
  type Transport,
} from '../../protocols/kit/index.ts'
import type { Obstacle } from '../observe/metrics.ts'
import type { DeviceEntry } from '../roster/device-entry.ts'
import type { Spoken } from '../store/index.ts'
import type { MisunderstoodFrame } from '../store/misunderstood-frame.ts'
import type { Conversation } from './conversation.ts'
import type { IdentityReason, Objection, Refusal, ResolvedDevice } from './identity.ts'
import type { Placement } from './place.ts'
import type { Suspicion } from './suspicion.ts'

export type { Obstacle }

/** A frame, and how it is read. */
export interface Reading {
  readonly frame: Buffer | HttpRequest
  readonly session: Session
  readonly protocol: Protocol
}

/** How fixes came. */
export interface FixSource {
  readonly session: Pick<Conversation, 'transport' | 'sender' | 'trial'>
  /** When they arrived, ms UTC. */
  readonly at: number
  /** How they were read, if the device is not configured. */
  readonly spoken?: SpokenNow
  /** When they are stored, ms UTC, if their frame was understood later than it arrived. */
  readonly lateAt?: number
}

/** How fixes were read whose device is not configured, or whose sender is not accepted as the device. */
interface SpokenNow extends Spoken {
  /**
   * The version of the roster by which the sender was judged; 0 if the entry with this id names another protocol: what is held
   * is then judged again at once.
   */
  readonly rosterVersion: number
}

/** How a frame came. Only the path of the frame writes it. */
export interface FrameArrival extends Reading, FixSource {
  readonly session: Conversation
  /** That of its port; or the mapping that reads what this one cannot. */
  protocol: Protocol
  /** When it came, and until when it may wait, in ms of `performance.now()`. */
  readonly startedAt: number
  readonly deadline: number
  /** When it could be decoded, ms UTC, and how often our clock had jumped by then. */
  at: number
  jumps: number
  /** The decoded message; undefined: it was not decoded. */
  read?: Message | DecodeError
  spoken?: SpokenNow
  /** The steps it passed before a fault ended it. */
  course?: Course
}

/** How a message, or a login over MQTT, arrived; a login has no protocol. */
export type MessageSource = Pick<FrameArrival, 'at' | 'session' | 'spoken'> & { readonly protocol?: Protocol }

/**
 * The result of one frame: the listeners answer it, and the Journal notes it. Only `stored` has an answer for the device: its
 * fixes are on disk, or it has none.
 * - `misunderstood`: damaged, or not a frame of the protocol; not answered (HTTP 400).
 * - `refused`: the sender is not a device that may send (see identity.ts); the connection ends, after `refusal` if the
 * protocol has one (403).
 * - `not_stored`: the connection ends without an answer, and the device sends the frame again (503).
 */
export type Outcome = Course &
  (
    | {
        readonly status: 'stored'
        readonly reply?: Message['reply']
        readonly response?: HttpAnswer
        /** Its sender has proved nothing, and nothing of it had to be stored. */
        readonly isAtOnce?: boolean
      }
    | { readonly status: 'misunderstood'; readonly reason: DecodeReason }
    /** `device`: the id that its sender claims. */
    | {
        readonly status: 'refused'
        readonly reason: IdentityReason
        readonly refusal?: Buffer
        readonly device?: string
      }
    /** `fault`: the error of ours that ended its way; one that concerns some of its fixes alone is in their share. */
    | { readonly status: 'not_stored'; readonly reason: Obstacle; readonly fault?: unknown }
  )

/** What happened to a frame on its way. */
export interface Course {
  /** The device that sent it; undefined: it is refused, it was not decoded, or it names no device. */
  readonly sender?: ResolvedDevice
  /** Of a frame that is damaged, or not of its protocol: the configured device of its connection. */
  readonly speaker?: DeviceEntry
  /** The result for its fixes, by device. */
  readonly shares?: readonly Share[]
  /** Its refused senders. A relay's frame is stored without their fixes. */
  readonly refusals?: readonly Refusal[]
  /** Objections to senders about which nothing else is noted. */
  readonly objections?: readonly Objection[]
  /** The frame as stored because it was not fully understood, or as it would have been stored. */
  readonly kept?: MisunderstoodFrame
  /** Only on a trial: the decoded message, and when it arrived, ms UTC. */
  readonly read?: Message | DecodeError
  readonly readAt?: number
}

/** The result for those fixes of a frame that belong to one device. */
export interface Share<Source extends FixSource = FrameArrival> {
  readonly sender: ResolvedDevice
  readonly source: Source
  readonly fixes: readonly Fix[]
  /** Where they go; undefined: storing was given up before. */
  readonly placed: Placement | undefined
  /** How many of them were stored already. */
  readonly duplicates: number
  /** Suspicions about their sender, and about their places. */
  readonly claim: Suspicion | undefined
  readonly move: Suspicion | undefined
  /** Why they are not stored. */
  readonly failure: Obstacle | Refusal | undefined
  /** The error in waybridge's code, if the failure is `fault`. */
  readonly fault?: unknown
}

/** Returns what is doubtful about a message; undefined: nothing. */
export function doubtOf({ fixes, none, unreadable }: Message): 'not_read' | 'entries' | 'unknown_type' | undefined {
  if (unreadable) return 'entries'
  if (fixes?.length || none !== undefined) return undefined
  return fixes ? 'not_read' : 'unknown_type'
}

/** The outcome of a message that is not stored. */
export function failed(failure: Obstacle | Refusal, refusal?: Buffer, course: Course = {}): Outcome {
  if (typeof failure === 'string') return { status: 'not_stored', reason: failure, ...course }
  const { reason, device } = failure
  return { status: 'refused', reason, refusal, device, ...course, refusals: [...(course.refusals ?? []), failure] }
}

/**
 * Returns the ms after which frames that arrived at a time, by `performance.now()`, may be answered. An answer that waits for
 * no fsync, to a sender without proof, takes 20 ms, so that its time does not tell what was looked up, and thereby which ids
 * are configured.
 */
export function answeredIn(outcomes: readonly Outcome[], arrivedAt: number): number {
  return outcomes.some((outcome) => outcome.status !== 'stored' || outcome.isAtOnce) ? restOf(arrivedAt) : 0
}

/** Returns how many ms are left of the 20 that such an answer takes. */
export function restOf(arrivedAt: number): number {
  return Math.max(0, arrivedAt + ANSWERED_MS - performance.now())
}

/** More than the roster is looked at for, unless the machine is busy. */
const ANSWERED_MS = 20

/** Returns whether the device gets an answer to its message. */
export function isAnswered({ reply, response }: Message, { transport }: { readonly transport: Transport }): boolean {
  return transport === 'http' || transport === 'mqtt' || response !== undefined || repliesOf(reply).length > 0
}
