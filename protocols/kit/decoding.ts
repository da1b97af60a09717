/* What the gateway calls: bytes become frames, a frame becomes a message, and a message has replies. */
import { DecodeError } from './errors.ts'
import type { Fix, HttpRequest, Message, Protocol, Session } from './protocol.ts'

/** The frames at the beginning of a stream; `noise` counts the bytes that were skipped between them. */
interface CutStream {
  /** Views of the stream's bytes. */
  readonly frames: Buffer[]
  /** The beginning of the next frame, which is not complete yet. */
  readonly rest: Buffer
  readonly noise: number
  /** Whether it stopped before the end: there may be further frames in `rest`. */
  readonly isStopped: boolean
}

/** Cuts complete frames off the beginning of a stream: all, or what `most` calls of the framer find in about `mostBytes`. */
export function cut<S>(
  bytes: Buffer,
  frame: (bytes: Buffer, session: S) => number,
  session: S,
  most = Number.POSITIVE_INFINITY,
  mostBytes = Number.POSITIVE_INFINITY,
): CutStream {
  let frames: Buffer[] = []
  let at = 0
  let noise = 0
  let steps = 0
  for (; at < bytes.length && steps < most && at < mostBytes; steps++) {
    const length = frame(at === 0 ? bytes : bytes.subarray(at), session)
    if (length === 0) break
    // Most frames arrive alone.
    if (length === bytes.length) frames = [bytes]
    else if (length > 0) frames.push(bytes.subarray(at, at + length))
    else noise -= length
    at += Math.abs(length)
  }
  const rest = at < bytes.length ? bytes.subarray(at) : NOTHING
  return { frames, rest, noise, isStopped: steps === most || at >= mostBytes }
}

/**
 * What one frame or request says, with finite numbers and ids that are not empty.
 * @throws DecodeError, also where the protocol is not spoken in this way.
 */
export function decodeFrame(protocol: Protocol, frame: Buffer | HttpRequest, session: Session): Message {
  const message = Buffer.isBuffer(frame) ? protocol.decode?.(frame, session) : protocol.request?.(frame, session)
  if (!message) {
    const how = Buffer.isBuffer(frame) ? 'spoken over HTTP alone' : 'not spoken over HTTP'
    throw new DecodeError('unsupported', `${protocol.name} is ${how}`)
  }
  const { device, fixes = [] } = message
  if (device === '') return sound(message, session.now)
  for (const fix of fixes) {
    const { altitude = 0, speed = 0, heading = 0, accuracy = 0, hdop = 0, satellites = 0 } = fix
    const sum = fix.time + fix.latitude + fix.longitude + altitude + speed + heading + accuracy + hdop + satellites
    // As good as always: one sum says whether a number in it is not finite.
    if (sum - sum !== 0 || fix.device === '') return sound(message, session.now)
  }
  return message
}

/** The answers of a message, in order. */
export function repliesOf(reply: Message['reply']): readonly Buffer[] {
  return reply === undefined ? [] : Buffer.isBuffer(reply) ? [reply] : reply
}

/**
 * A message with finite numbers and non-empty ids, so that no decoder has to check this: a float may be NaN, and a
 * number with very many digits is infinite. A value that is not finite is left out. A fix without a place or a time is
 * invalid, with the time `now`.
 */
function sound(message: Message, now: number): Message {
  return {
    ...message,
    device: message.device || undefined,
    fixes: message.fixes?.map((fix) => soundFix(fix, now)),
  }
}

function soundFix(fix: Fix, now: number): Fix {
  const { device, time, latitude, longitude, valid, ...measured } = fix
  const known = Object.entries(measured).filter(([, value]) => Number.isFinite(value))
  return {
    ...Object.fromEntries(known),
    device: device || undefined,
    time: Number.isFinite(time) ? time : now,
    latitude: Number.isFinite(latitude) ? latitude : 0,
    longitude: Number.isFinite(longitude) ? longitude : 0,
    valid: valid && [time, latitude, longitude].every(Number.isFinite),
  }
}

const NOTHING = Buffer.alloc(0)
