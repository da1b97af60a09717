import type { Escaping, HttpRequest, Protocol, Session } from '../../../protocols/kit/index.ts'
import { type DecodeOptions, type DecodeOutput, decodeInput } from '../../../src/cli/decode.ts'
import { usualTransport } from '../own-frames.ts'
import { ARRIVED, type Vector } from './vectors.ts'

/** What a protocol reads of a vector, with the checksum as it is: several vectors' ids were changed. */
export function decodeVector(protocol: Protocol, vector: Vector, options: DecodeOptions): DecodeOutput {
  const { input } = vector
  if ('http' in input) return decodeInput(protocol, { ...vector, input }, options)
  const hex = bytesOf(protocol, vector).toString('hex')
  return decodeInput(protocol, { ...vector, input: { hex } }, options)
}

/** A conversation of vectors as they are tested: all wrong checksums are accepted. */
export function vectorOptions(): DecodeOptions {
  return { sessions: new Map<string, Session>(), lenient: true, now: () => ARRIVED }
}

/** A vector as its device sent it: with its end and its escapes. */
export function onWire(protocol: Protocol, vector: Vector): Buffer | HttpRequest {
  const { input } = vector
  if (!('http' in input)) return Buffer.concat([bytesOf(protocol, vector), Buffer.from(input.delimiter ?? '')])
  const { http: method, uri, headers = {}, bodyHex = '' } = input
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return { method, uri, headers: Object.fromEntries(names), body: Buffer.from(bodyHex, 'hex') }
}

/** A conversation of a vector's own, which has just begun. */
export function vectorSession(protocol: Protocol, { input, settings }: Vector): Session {
  const { modelOverride: model, ...rest } = settings ?? {}
  return {
    settings: typeof model === 'string' ? { ...rest, model } : rest,
    transport: 'http' in input ? 'http' : usualTransport(protocol),
    now: ARRIVED,
    lenient: true,
  }
}

/** The bytes without the end that was cut off, and with the escapes that were undone. */
function bytesOf({ escaping }: Protocol, { input }: Vector): Buffer {
  const bytes = 'hex' in input ? Buffer.from(input.hex, 'hex') : Buffer.from('text' in input ? input.text : '')
  return escaping === 'none' ? bytes : escaped(bytes, escaping)
}

/** A frame with its escapes; the flags at its beginning and end stay. */
export function escaped(frame: Buffer, { escape, codes }: Escaping): Buffer {
  const codeOf = new Map([...codes].map(([code, byte]) => [byte, code]))
  const out: number[] = []
  for (const [at, byte] of frame.entries()) {
    const code = codeOf.get(byte)
    const isFlag = byte !== escape && (at === 0 || at === frame.length - 1)
    if (code === undefined || isFlag) out.push(byte)
    else out.push(escape, code)
  }
  return Buffer.from(out)
}
