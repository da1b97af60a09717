import {
  type Escaping,
  type HttpRequest,
  type Protocol,
  type Session,
  withEscapes,
} from '../../../protocols/kit/index.ts'
import { type DecodeOptions, type DecodeOutput, decodeInput } from '../../../src/cli/decode-input.ts'
import { usualTransport } from '../own-frames.ts'
import { ARRIVED, type Vector, type VectorReply } from './vectors.ts'

/** What a protocol reads of a vector, as `waybridge decode` does, leniently. */
export function decodeVector(protocol: Protocol, vector: Vector, options: DecodeOptions): DecodeOutput {
  return decodeInput(protocol, vector, options)
}

/** How vectors are decoded: wrong checksums are accepted, because ids were changed. */
export function vectorOptions(): DecodeOptions {
  return { sessions: new Map<string, Session>(), lenient: true, now: () => ARRIVED }
}

/** A vector as the decoder sees it: with the escapes that were undone, without the end that was cut off. */
export function vectorFrame({ escaping }: Pick<Protocol, 'escaping'>, { input }: Vector): Buffer | HttpRequest {
  const { http: method, uri = '/', headers = {}, bodyHex = '' } = input
  if (method === undefined) return wired(bytesOf(input), escaping)
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return { method, uri, headers: Object.fromEntries(names), body: Buffer.from(bodyHex, 'hex') }
}

/** A vector as its device sent it, with its end, which some still have. */
export function onWire(protocol: Protocol, vector: Vector): Buffer | HttpRequest {
  const frame = vectorFrame(protocol, vector)
  const end = Buffer.from(vector.input.delimiter ?? '')
  return Buffer.isBuffer(frame) && !frame.subarray(-end.length).equals(end) ? Buffer.concat([frame, end]) : frame
}

/** A vector with its answers as they are on the wire. */
export function withEscapedReplies({ escaping }: Protocol, vector: Vector): Vector {
  const answers = vector.replies ?? vector.repliesAckOn
  const hexOf = (reply: VectorReply) => wired(bytesOf(reply), escaping).toString('hex')
  if (!escaping || !answers) return vector
  return { ...vector, replies: answers.map((reply) => ({ ...reply, text: undefined, hex: hexOf(reply) })) }
}

/** A session that has just begun, for a vector alone. */
export function vectorSession(protocol: Protocol, { input, settings, deviceId }: Vector): Session {
  const { modelOverride: model, ...rest } = settings ?? {}
  const own = typeof model === 'string' ? { ...rest, model } : rest
  return {
    device: deviceId,
    settingsOf: () => own,
    transport: input.http !== undefined ? 'http' : usualTransport(protocol),
    now: ARRIVED,
    lenient: true,
  }
}

/** A vector as its file has it: with escapes, where they were left in it. */
export function asGiven(protocol: Protocol, vector: Vector): Buffer | HttpRequest {
  return vectorFrame({ ...protocol, escaping: undefined }, vector)
}

function bytesOf(input: { readonly hex?: string; readonly text?: string }): Buffer {
  return input.hex === undefined ? Buffer.from(input.text ?? '') : Buffer.from(input.hex, 'hex')
}

function wired(bytes: Buffer, escaping: Escaping | undefined): Buffer {
  return escaping ? withEscapes(bytes, escaping) : bytes
}
