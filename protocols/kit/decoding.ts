/* What the gateway calls: bytes become frames, a frame becomes a message, and a message has replies. */
import { DecodeError } from './errors.ts'
import { looksLikePlace } from './place-search.ts'
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
 * What one frame or request says, with finite numbers, and ids that are not empty and have no padding. Where a decoder says that it
 * holds no place, but it is JSON or parameters with what looks like one, under names that the decoder does not know, the message has
 * `fixes: []`: a place that could not be read.
 * @throws DecodeError, also where the protocol is not spoken in this way.
 */
export function decodeFrame(protocol: Protocol, frame: Buffer | HttpRequest, session: Session): Message {
  const message = Buffer.isBuffer(frame) ? protocol.decode?.(frame, session) : protocol.request?.(frame, session)
  if (!message) {
    const how = Buffer.isBuffer(frame) ? 'spoken over HTTP alone' : 'not spoken over HTTP'
    throw new DecodeError('unsupported', `${protocol.name} is ${how}`)
  }
  const whole = isSound(message) ? message : sound(message, session.now)
  const { fixes = [], none } = whole
  if (none === undefined || fixes.length > 0) return whole
  const isPlace = looksLikePlace(frame, session.transport === 'mqtt', protocol.isPlaceOfOthers)
  return isPlace ? { ...whole, none: undefined, fixes } : whole
}

/** The answers of a message, in order. */
export function repliesOf(reply: Message['reply']): readonly Buffer[] {
  return reply === undefined ? [] : Buffer.isBuffer(reply) ? [reply] : reply
}

/** Whether a message is as `sound` makes it, as nearly all are. */
function isSound({ device, fixes = [] }: Message): boolean {
  if (device !== undefined && isPadded(device)) return false
  for (const fix of fixes) {
    const { altitude = 0, speed = 0, heading = 0, accuracy = 0, hdop = 0, satellites = 0 } = fix
    const sum = fix.time + fix.latitude + fix.longitude + altitude + speed + heading + accuracy + hdop + satellites
    // One sum says whether a number in it is not finite.
    if (sum - sum !== 0 || (fix.device !== undefined && isPadded(fix.device))) return false
  }
  return true
}

/**
 * A message with finite numbers and non-empty ids without padding, so that no decoder has to check this: a float may be
 * NaN, a number with very many digits is infinite, and a field of fixed width is filled up with blanks or NUL. A value that
 * is not finite is left out. A fix without a place or a time is invalid, with the time `now`.
 */
function sound(message: Message, now: number): Message {
  return {
    ...message,
    device: unpadded(message.device),
    fixes: message.fixes?.map((fix) => soundFix(fix, now)),
  }
}

function soundFix(fix: Fix, now: number): Fix {
  const { device, time, latitude, longitude, valid, said, ...measured } = fix
  const known = Object.entries(measured).filter(([, value]) => Number.isFinite(value))
  return {
    ...Object.fromEntries(known),
    said,
    device: unpadded(device),
    time: Number.isFinite(time) ? time : now,
    latitude: Number.isFinite(latitude) ? latitude : 0,
    longitude: Number.isFinite(longitude) ? longitude : 0,
    valid: valid && [time, latitude, longitude].every(Number.isFinite),
  }
}

/** Whether an id is empty, or begins or ends with what fills up a field. */
function isPadded(id: string): boolean {
  return !(id.charCodeAt(0) > BLANK && id.charCodeAt(id.length - 1) > BLANK)
}

/** An id without what fills up its field; undefined of an empty one. */
function unpadded(id = ''): string | undefined {
  let [start, end] = [0, id.length]
  while (start < end && id.charCodeAt(start) <= BLANK) start++
  while (end > start && id.charCodeAt(end - 1) <= BLANK) end--
  return id.slice(start, end) || undefined
}

const BLANK = 0x20

const NOTHING = Buffer.alloc(0)
