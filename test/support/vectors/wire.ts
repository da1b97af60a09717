import type { Escaping, HttpRequest, Protocol, Session } from '../../../protocols/kit/index.ts'
import { type DecodeOptions, type DecodeOutput, decodeInput } from '../../../src/cli/decode.ts'
import { usualTransport } from '../own-frames.ts'
import { ARRIVED, type Vector, type VectorReply } from './vectors.ts'

/** What a protocol reads of a vector, as `waybridge decode` does: without the end that was cut off, and leniently. */
export function decodeVector(protocol: Protocol, vector: Vector, options: DecodeOptions): DecodeOutput {
  const frame = vectorFrame(protocol, vector)
  if (!Buffer.isBuffer(frame)) return decodeInput(protocol, vector, options)
  return decodeInput(protocol, { ...vector, input: { hex: frame.toString('hex') } }, options)
}

/** How vectors are decoded: wrong checksums are accepted, because ids were changed. */
export function vectorOptions(): DecodeOptions {
  return { sessions: new Map<string, Session>(), lenient: true, now: () => ARRIVED }
}

/** A vector as the decoder sees it: with the escapes that were undone, without the end that was cut off. */
export function vectorFrame({ escaping }: Pick<Protocol, 'escaping'>, { input }: Vector): Buffer | HttpRequest {
  const { http: method, uri = '/', headers = {}, bodyHex = '' } = input
  if (method === undefined) return escaped(bytesOf(input), escaping)
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return { method, uri, headers: Object.fromEntries(names), body: Buffer.from(bodyHex, 'hex') }
}

/** A vector as its device sent it, with its end. */
export function onWire(protocol: Protocol, vector: Vector): Buffer | HttpRequest {
  const frame = vectorFrame(protocol, vector)
  return Buffer.isBuffer(frame) ? Buffer.concat([frame, Buffer.from(vector.input.delimiter ?? '')]) : frame
}

/** A vector with its answers as they are on the wire. */
export function withEscapes({ escaping }: Protocol, vector: Vector): Vector {
  const answers = vector.replies ?? vector.repliesAckOn
  const hexOf = (reply: VectorReply) => escaped(bytesOf(reply), escaping).toString('hex')
  if (escaping === 'none' || !answers) return vector
  return { ...vector, replies: answers.map((reply) => ({ ...reply, text: undefined, hex: hexOf(reply) })) }
}

/** A session that has just begun, for a vector alone. */
export function vectorSession(protocol: Protocol, { input, settings, deviceId }: Vector): Session {
  const { modelOverride: model, ...rest } = settings ?? {}
  return {
    device: deviceId,
    settings: typeof model === 'string' ? { ...rest, model } : rest,
    transport: input.http !== undefined ? 'http' : usualTransport(protocol),
    now: ARRIVED,
    lenient: true,
  }
}

function bytesOf(input: { readonly hex?: string; readonly text?: string }): Buffer {
  return input.hex === undefined ? Buffer.from(input.text ?? '') : Buffer.from(input.hex, 'hex')
}

/** A frame with its escapes; the flags at its beginning and end stay. */
export function escaped(frame: Buffer, escaping: Escaping | 'none'): Buffer {
  if (escaping === 'none') return frame
  const { escape, codes } = escaping
  const codeOf = new Map([...codes].map(([code, byte]) => [byte, code]))
  const result = Buffer.alloc(2 * frame.length)
  let to = 0
  for (let at = 0; at < frame.length; at++) {
    const code = codeOf.get(frame[at])
    const isFlag = frame[at] !== escape && (at === 0 || at === frame.length - 1)
    if (code !== undefined && !isFlag) result[to++] = escape
    result[to++] = code === undefined || isFlag ? frame[at] : code
  }
  return result.subarray(0, to)
}
