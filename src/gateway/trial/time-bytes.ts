import {
  decodeFrame,
  type HttpRequest,
  type Message,
  type Protocol,
  type Session,
} from '../../../protocols/kit/index.ts'
import type { Conversation } from '../conversation.ts'

/** A frame that was answered, and the session in which it was read. */
interface AnsweredFrame {
  readonly frame: Buffer | HttpRequest
  readonly session: Conversation
  readonly protocol: Protocol
  /** When it was read, ms UTC. */
  readonly at: number
}

/**
 * Returns which bytes of an answer depend on the time of answering, including its checksum, by decoding the frame at other
 * times. Undefined if the same frame does not give the same answer twice.
 */
export function timeBytesOf(
  answered: AnsweredFrame,
  answer: Buffer,
  bytesOf: (message: Message) => Buffer,
): ReadonlySet<number> | undefined {
  const answerAt = (now: number) => {
    try {
      return bytesOf(decodeFrame(answered.protocol, answered.frame, sessionAt(answered.session, now)))
    } catch {
      return undefined
    }
  }
  if (!answerAt(answered.at)?.equals(answer)) return undefined
  const changing = new Set<number>()
  for (const shift of SHIFTS_MS) {
    const other = answerAt(answered.at + shift)
    if (other?.length !== answer.length) return undefined
    for (const [index, byte] of other.entries()) if (byte !== answer[index]) changing.add(index)
  }
  return changing
}

/** Returns a copy of a session, so that reading in it leaves the original unchanged. */
function sessionAt(session: Conversation, now: number): Session {
  const { device, secret, states = new Map<object, unknown>(), transport } = session
  const copies = Array.from(states, ([owner, state]) => [owner, structuredClone(state)] as const)
  const settingsOf: Session['settingsOf'] = (...claim) => session.settingsOf(...claim)
  return { device, secret, transport, now, lenient: false, states: new Map(copies), settingsOf }
}

const [SECOND_MS, DAY_MS] = [1000, 86_400_000]
/** For each digit of a date and a time, in each base, at least one of these shifts changes it. */
const SHIFTS_MS = [
  ...[1, 7, 59, 601, 3607, 7333, 40_009].map((seconds) => seconds * SECOND_MS),
  ...[1, 11, 33, 97, 401, 4099].map((days) => days * DAY_MS + 77_777),
]
