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
  /** What they were read with, where the device is not configured. */
  readonly spoken?: SpokenNow
  /** When they are stored, ms UTC, where their frame is understood later than it arrived. */
  readonly lateAt?: number
}

/** What fixes of a device that is not configured, or not taken for the one with its id, were read with. */
interface SpokenNow extends Spoken {
  /** Whether the entry with this id names another protocol: then its held fixes are judged at once. */
  readonly isRefuted: boolean
}

/** How a frame came. Only the path of the frame writes it. */
export interface FrameArrival extends Reading, FixSource {
  readonly session: Conversation
  /** That of its port; or the mapping that reads what this one cannot. */
  protocol: Protocol
  /** When it came, and until when it may wait, in ms of `performance.now()`. */
  readonly startedAt: number
  readonly deadline: number
  /** When it could be decoded, ms UTC, and how often our clock had jumped then. */
  at: number
  jumps: number
  /** What was read of it; undefined: it was not decoded. */
  read?: Message | DecodeError
  spoken?: SpokenNow
  /** What is known of its way, where a fault ends it. */
  course?: Course
}

/** How a message, or a login over MQTT, came; a login has no protocol. */
export type MessageSource = Pick<FrameArrival, 'at' | 'session' | 'spoken'> & { readonly protocol?: Protocol }

/**
 * What became of one frame: the listeners answer it, and the Journal notes it. Only `stored` has an answer for the device: its fixes
 * are on disk, or it has none.
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
    /** `device`: the one that its sender says to be. */
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
  /** What became of its fixes, by device. */
  readonly shares?: readonly Share[]
  /** Its senders that are refused. A relay's frame is stored without the fixes of those. */
  readonly refusals?: readonly Refusal[]
  /** What is objected to senders of which nothing else is noted. */
  readonly objections?: readonly Objection[]
  /** A frame of which not all is understood, as it is kept, or was to be kept when storing failed. */
  readonly kept?: MisunderstoodFrame
  /** On a trial alone: what was read of the frame, and when it came, ms UTC. */
  readonly read?: Message | DecodeError
  readonly readAt?: number
}

/** What became of the fixes that a frame has of one device. */
export interface Share<Source extends FixSource = FrameArrival> {
  readonly sender: ResolvedDevice
  readonly source: Source
  readonly fixes: readonly Fix[]
  /** Where they go; undefined: storing was given up before. */
  readonly placed: Placement | undefined
  /** How many of them were stored before. */
  readonly duplicates: number
  /** What is odd about who sends them, and about where they are. */
  readonly claim: Suspicion | undefined
  readonly move: Suspicion | undefined
  /** Why they are not stored. */
  readonly failure: Obstacle | Refusal | undefined
  /** The error in our code, where the failure is `fault`. */
  readonly fault?: unknown
}

/** What is doubtful about a message; undefined: nothing. */
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
 * Returns in how many ms frames may be answered that arrived at a time, by `performance.now()`. An answer that waits for no fsync, to
 * a sender that has proved nothing, takes 20 ms: its time does not tell what was looked up, and so which ids are configured.
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

/** Whether a device is told that its message has arrived. */
export function isAnswered({ reply, response }: Message, { transport }: { readonly transport: Transport }): boolean {
  return transport === 'http' || transport === 'mqtt' || response !== undefined || repliesOf(reply).length > 0
}
