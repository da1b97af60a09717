import { createContext, runInContext } from 'node:vm'
import {
  cut,
  DecodeError,
  type DecodeReason,
  decodeFrame,
  type Framer,
  type HttpRequest,
  noSettings,
  type Protocol,
  type Session,
} from '../../protocols/kit/index.ts'
import { ARRIVED } from './vectors/vectors.ts'

/** A conversation that has just begun. */
export function newSession(lenient = false): Session {
  return { settingsOf: noSettings, transport: 'tcp', now: ARRIVED, lenient }
}

/** Runs `work` and stops it, throwing, when it takes longer: the deadline of a case that may hang. */
export function within(ms: number, work: () => void): void {
  context.work = work
  runInContext('work()', context, { timeout: ms })
}

const context = createContext()

/**
 * What a decoder makes of a frame or a request cut short (see `placesIn`) and with single bits flipped (seeded): throws if
 * that is anything but a message or a `DecodeError`. A request is damaged in its body, or else in its path.
 */
export function decodesRough(protocol: Protocol, whole: Buffer | HttpRequest, flips = 60, session = newSession): void {
  const { bytes, rebuilt } = damageable(whole)
  for (const end of placesIn(bytes.length)) decodesOrRefuses(protocol, rebuilt(bytes.subarray(0, end)), session)
  const random = randomOf(bytes.length)
  for (let i = 0; i < flips; i++) decodesOrRefuses(protocol, rebuilt(flipped(bytes, random(bytes.length * 8))), session)
}

/** The bytes of a frame or request that may be damaged, and what makes a frame or request of damaged ones. */
export function damageable(whole: Buffer | HttpRequest) {
  if (Buffer.isBuffer(whole)) return { bytes: whole, rebuilt: (bytes: Buffer) => bytes }
  if (whole.body.length > 0) return { bytes: whole.body, rebuilt: (body: Buffer): HttpRequest => ({ ...whole, body }) }
  const rebuilt = (bytes: Buffer): HttpRequest => ({ ...whole, uri: bytes.toString('latin1') })
  return { bytes: Buffer.from(whole.uri, 'latin1'), rebuilt }
}

/** Where to cut so many bytes: at each of the first 50, and at 50 further places. */
export function placesIn(length: number): number[] {
  const step = Math.max(1, Math.ceil((length - 50) / 50))
  const first = Array.from({ length: Math.min(length, 50) }, (_, at) => at)
  return [...first, ...Array.from({ length: Math.ceil(Math.max(0, length - 50) / step) }, (_, i) => 50 + i * step)]
}

/** Throws if a framer answers one of the stream's beginnings, none of which is empty, with anything but a part of it. */
export function framesRough(framer: Framer, stream: Buffer, session = newSession()): void {
  for (const end of [...placesIn(stream.length).slice(1), stream.length]) {
    const n = framer(stream.subarray(0, end), session)
    if (!Number.isInteger(n) || Math.abs(n) > end) throw new Error(`the framer answers ${n} for ${end} bytes`)
  }
}

/** The frames (hex) of a stream that arrives in two parts, and what is left over. */
export function framesOfParts(framer: Framer, stream: Buffer, at: number, session = newSession()): string[] {
  const first = cut(stream.subarray(0, at), framer, session)
  const second = cut(Buffer.concat([first.rest, stream.subarray(at)]), framer, session)
  const frames = [...first.frames, ...second.frames].map((frame) => frame.toString('hex'))
  return [...frames, `left over: ${second.rest.toString('hex')}`]
}

/** Why work refuses a frame: the code; undefined if it does not. */
export function reasonOf(work: () => unknown): DecodeReason | undefined {
  return refusalOf(work)?.code
}

/** The error by which work refuses a frame; undefined if it does not. */
export function refusalOf(work: () => unknown): DecodeError | undefined {
  try {
    work()
  } catch (error) {
    if (error instanceof DecodeError) return error
    throw error
  }
  return undefined
}

/** A frame with one bit turned over. */
export function flipped(frame: Buffer, bit: number): Buffer {
  const copy = Buffer.from(frame)
  copy[bit >> 3] ^= 1 << (bit & 7)
  return copy
}

function decodesOrRefuses(protocol: Protocol, frame: Buffer | HttpRequest, session: (lenient: boolean) => Session) {
  for (const lenient of [true, false]) {
    try {
      reasonOf(() => decodeFrame(protocol, frame, Object.assign(session(lenient), { lenient })))
    } catch (error) {
      const shown = Buffer.isBuffer(frame) ? frame.toString('hex') : `${frame.uri} ${frame.body.toString('hex')}`
      throw new Error(`${shown}: ${String(error)}`, { cause: error })
    }
  }
}

/** Whole numbers below a limit. */
export type Random = (limit: number) => number

/** A generator of whole numbers below a limit, the same from run to run (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000) * limit) | 0
  }
}
