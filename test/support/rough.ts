import { runInNewContext } from 'node:vm'
import {
  cut,
  decodeFrame,
  DecodeError,
  type DecodeReason,
  type Framer,
  type Protocol,
  type Session,
} from '../../protocols/kit/index.ts'
import { ARRIVED } from './vectors.ts'

/** A conversation that has just begun. */
export function newSession(lenient = false): Session {
  return { settings: {}, transport: 'tcp', now: ARRIVED, lenient }
}

/** Runs `work` and stops it, throwing, when it takes longer: the deadline of a case that may hang. */
export function within(ms: number, work: () => void): void {
  runInNewContext('work()', { work }, { timeout: ms })
}

/**
 * What a decoder makes of a frame cut short at each byte (at most 300 places) and with single bits flipped (seeded):
 * throws where that is anything but a message or a `DecodeError`.
 */
export function decodesRough(protocol: Protocol, frame: Buffer, flips = 60): void {
  const step = Math.ceil(frame.length / 300)
  for (let end = 0; end < frame.length; end += step) decodesOrRefuses(protocol, frame.subarray(0, end))
  const random = randomOf(frame.length)
  for (let i = 0; i < flips; i++) decodesOrRefuses(protocol, flipped(frame, random(frame.length * 8)))
}

/** Throws where a framer answers one of the stream's beginnings with anything but a part of it. */
export function framesRough(framer: Framer, stream: Buffer): void {
  const session = newSession()
  for (let end = 0; end <= stream.length; end++) {
    const n = framer(stream.subarray(0, end), session)
    if (!Number.isInteger(n) || Math.abs(n) > end) throw new Error(`the framer answers ${n} for ${end} bytes`)
  }
}

/** The frames (hex) of a stream that arrives in two parts, and what is left over. */
export function framesOfParts(framer: Framer, stream: Buffer, at: number): string[] {
  const session = newSession()
  const first = cut(stream.subarray(0, at), framer, session)
  const second = cut(Buffer.concat([first.rest, stream.subarray(at)]), framer, session)
  const frames = [...first.frames, ...second.frames].map((frame) => frame.toString('hex'))
  return [...frames, `left over: ${second.rest.toString('hex')}`]
}

/** Why work refuses a frame, or undefined where it does not. */
export function reasonOf(work: () => unknown): DecodeReason | undefined {
  try {
    work()
  } catch (error) {
    if (error instanceof DecodeError) return error.code
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

function decodesOrRefuses(protocol: Protocol, frame: Buffer): void {
  for (const lenient of [true, false]) {
    try {
      reasonOf(() => decodeFrame(protocol, frame, newSession(lenient)))
    } catch (error) {
      throw new Error(`${frame.toString('hex')}: ${String(error)}`, { cause: error })
    }
  }
}

/** A generator of whole numbers below a limit, the same from run to run (mulberry32). */
function randomOf(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000) * limit) | 0
  }
}
