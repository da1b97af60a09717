import {
  type DecodeError,
  type DecodeReason,
  type HttpAnswer,
  type HttpRequest,
  type Message,
  type Protocol,
  repliesOf,
  type Transport,
} from '../../protocols/kit/index.ts'
import { type frameCounters, metrics, type Obstacle } from '../observe/metrics.ts'
import { noteNotStored } from '../observe/trouble.ts'
import { type ObservationCode, observations } from '../observe/observations.ts'
import { say } from '../texts/text.ts'
import type { DeviceSession } from './device.ts'
import type { IdentityReason } from './identity.ts'
import { addressOf } from './network.ts'

export type { Obstacle }

/** A frame, and how it is read. */
export interface Reading {
  readonly frame: Buffer | HttpRequest
  readonly session: DeviceSession
  readonly protocol: Protocol
}

/** How a frame came, when, and until when it may wait, in ms of `performance.now()`. */
export interface FrameArrival extends Reading {
  readonly startedAt: number
  readonly deadline: number
  /** The counters of its protocol. */
  readonly counters: ReturnType<typeof frameCounters>
  /** What was read of it; undefined: it was not decoded yet. */
  read?: Message | DecodeError
}

/** What is doubtful about a message; undefined: nothing. */
export function doubtOf({ fixes, none, unreadable }: Message): 'not_read' | 'entries' | 'unknown_type' | undefined {
  if (unreadable) return 'entries'
  if (fixes?.length || none !== undefined) return undefined
  return fixes ? 'not_read' : 'unknown_type'
}

/**
 * The outcome of one frame. Only `stored` has an answer for the device: its fixes are on disk, or it has none.
 * - `misunderstood`: damaged, or not a frame of the protocol; counted, and not answered (HTTP 400).
 * - `refused`: the sender is not a device that may send (see identity.ts); the connection ends, after `refusal` if the
 * protocol has one (403).
 * - `not_stored`: the connection ends without an answer, and the device sends the frame again (503).
 */
export type FrameOutcome =
  | {
      readonly status: 'stored'
      readonly reply?: Message['reply']
      readonly response?: HttpAnswer
      /** Its sender has proved nothing, and nothing of it had to be stored. */
      readonly isAtOnce?: boolean
    }
  | { readonly status: 'misunderstood'; readonly reason: DecodeReason }
  /** `device`: the one that its sender says to be. */
  | { readonly status: 'refused'; readonly reason: IdentityReason; readonly refusal?: Buffer; readonly device?: string }
  | { readonly status: 'not_stored'; readonly reason: Obstacle }

/**
 * Returns in how many ms frames may be answered that arrived at a time, by `performance.now()`. An answer that waits for no fsync, to
 * a sender that has proved nothing, takes 20 ms: its time does not tell what was looked up, and so which ids are configured.
 */
export function answeredIn(outcomes: readonly FrameOutcome[], arrivedAt: number): number {
  return outcomes.some((outcome) => outcome.status !== 'stored' || outcome.isAtOnce) ? restOf(arrivedAt) : 0
}

/** Returns how many ms are left of the 20 that such an answer takes. */
export function restOf(arrivedAt: number): number {
  return Math.max(0, arrivedAt + ANSWERED_MS - performance.now())
}

/** More than the roster is looked at for, unless the machine is busy. */
const ANSWERED_MS = 20

/** The outcome of a message that is not stored, counted. */
export function failed(
  failure: Obstacle | IdentityReason,
  { refusal, device }: Pick<Message, 'refusal' | 'device'>,
): FrameOutcome {
  if (isObstacle(failure)) {
    noteNotStored(failure)
    return { status: 'not_stored', reason: failure }
  }
  metrics.refused.inc({ reason: failure })
  return { status: 'refused', reason: failure, refusal, device }
}

/** Whether a device is told that its message has arrived. */
export function isAnswered({ reply, response }: Message, { transport }: { readonly transport: Transport }): boolean {
  return transport === 'http' || transport === 'mqtt' || response !== undefined || repliesOf(reply).length > 0
}

/** Notes a frame with a wrong checksum. @param device undefined if it is not known */
export function noteDamaged(device: string | undefined, { protocol: { name }, session: { remote } }: Reading): void {
  const subject = device === undefined ? { listener: name } : { device }
  observations.note('checksum_errors', { subject, evidence: say('{} from {}', name, addressOf(remote)) })
}

/** Notes that a message of a configured device was accepted: ends the findings that it shows to be over. */
export function noteTaken(device: string, message: Message, { isWrongPort }: Pick<DeviceSession, 'isWrongPort'>): void {
  const isUnderstood = message.fixes?.length !== undefined && message.fixes.length > 0 && !doubtOf(message)
  observations.over(device, isUnderstood ? UNDERSTOOD : IDENTIFIED)
  if (!isWrongPort) observations.over(device, RIGHT_PORT)
}

const IDENTIFIED: readonly ObservationCode[] = ['wrong_secret', 'not_permitted', 'checksum_errors']
const RIGHT_PORT: readonly ObservationCode[] = ['wrong_port']
const UNDERSTOOD: readonly ObservationCode[] = [...IDENTIFIED, 'not_understood']

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
