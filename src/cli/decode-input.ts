import * as z from 'zod'
import {
  cut,
  DecodeError,
  decodeFrame,
  type Escaping,
  type HttpRequest,
  type Message,
  noSettings,
  type Protocol,
  repliesOf,
  type Said,
  type Session,
  type Transport,
  withEscapes,
} from '../../protocols/kit/index.ts'
import { decodedFix } from '../admin/device/json.ts'
import type { DecodedFix } from '../admin/schemas/devices.ts'
import { UserError } from '../errors.ts'

/** A field of another type counts as missing. */
const MaybeText = z.string().optional().catch(undefined)
const MaybeObject = z.record(z.string(), z.unknown()).optional().catch(undefined)

/**
 * One input of `--jsonl`: a stream as hex or text, or an HTTP request. The session is logged in as `deviceId` first; inputs
 * with the same `session` share a connection.
 */
export const DecodeInput = z.object({
  id: z.unknown().optional(),
  protocol: z.string(),
  input: z.object({
    hex: MaybeText,
    text: MaybeText,
    http: MaybeText,
    uri: MaybeText,
    headers: MaybeObject,
    body: MaybeText,
    bodyHex: MaybeText,
  }),
  session: z.string().optional(),
  deviceId: z.string().optional(),
  settings: MaybeObject,
})
export type DecodeInput = z.infer<typeof DecodeInput>

type DecodedReply = { readonly hex: string } | { readonly http: number; readonly bodyHex: string }

/** The content of one input. With an `error`, `fixes` and `replies` are empty. */
export interface DecodeOutput {
  readonly id?: unknown
  readonly device?: string
  readonly fixes: readonly DecodedFix[]
  readonly replies: readonly DecodedReply[]
  /** Values that the tracker sent outside of a fix. */
  readonly said?: Said
  readonly error?: string
}

/** `sessions`: the connections so far, which inputs with a `session` join; `now`: the arrival of the frame, ms UTC. */
export interface DecodeOptions {
  readonly sessions?: Map<string, Session>
  readonly lenient?: boolean
  readonly now?: () => number
}

/** The output for an input that could not be understood. */
export function failure(id: unknown, error: string): DecodeOutput {
  return { id, fixes: [], replies: [], error }
}

/** Decodes one input of a protocol as the bytes of a stream. A mistake in the input is the output's `error`. */
export function decodeInput(protocol: Protocol, line: DecodeInput, options: DecodeOptions = {}): DecodeOutput {
  try {
    const transport = transportOf(protocol, line.input)
    const session = sessionOf(line, transport, options)
    const messages = framesOfInput(protocol, line.input, session).map((frame) => {
      const message = decodeFrame(protocol, frame, session)
      if (message.sealed) throw new DecodeError('unsupported', 'it is encrypted with the secret of its device')
      session.device = message.device ?? session.device
      return message
    })
    return {
      id: line.id,
      device: session.device,
      fixes: messages.flatMap(({ fixes = [] }) => fixes.map(decodedFix)),
      replies: messages.flatMap((message) => decodedReplies(message, transport)),
      said: messages.findLast(({ said }) => said)?.said,
    }
  } catch (error) {
    if (error instanceof DecodeError || error instanceof UserError) return failure(line.id, error.message)
    throw error
  }
}

function transportOf(protocol: Protocol, { http }: DecodeInput['input']): Transport {
  if (http !== undefined) return 'http'
  return protocol.tcp ? 'tcp' : protocol.udp ? 'udp' : protocol.http ? 'http' : 'mqtt'
}

function framesOfInput(protocol: Protocol, input: DecodeInput['input'], session: Session): (Buffer | HttpRequest)[] {
  if (input.http !== undefined) return [requestOf(input)]
  const framer = protocol.tcp?.frame ?? protocol.udp?.frame
  const bytes = asOnWire(protocol, bytesOf(input))
  const { frames, rest } = framer ? cut(bytes, framer, session) : { frames: [], rest: bytes }
  // The stream ends here, so the remaining bytes count as a frame.
  const all = rest.length > 0 ? [...frames, rest] : frames
  if (all.length === 0) throw new UserError(`there is no frame of ${protocol.name} in these bytes`)
  return all
}

/** Test vectors are frames without their escape bytes; these are restored if that makes the frame likelier. */
function asOnWire(protocol: Protocol, bytes: Buffer): Buffer {
  const { escaping } = protocol
  if (!escaping || !protocol.tcp) return bytes
  const escaped = withEscapes(bytes, escaping)
  return likelihood(protocol, escaped, escaping) > likelihood(protocol, bytes, escaping) ? escaped : bytes
}

/** Ranks bytes by their escapes, then by their frames, then by their checksums. */
function likelihood(protocol: Protocol, bytes: Buffer, escaping: Escaping): 0 | 1 | 2 | 3 {
  if (!isEscaped(bytes, escaping)) return 0
  const session: Session = { settingsOf: noSettings, transport: 'tcp', now: 0, lenient: false }
  const { frames, noise, rest } = cut(bytes, protocol.tcp?.frame ?? (() => 0), session)
  if (noise > 0 || rest.length > 0) return 1
  try {
    for (const frame of frames) decodeFrame(protocol, frame, session)
  } catch (error) {
    if (error instanceof DecodeError && error.code === 'checksum') return 2
  }
  return 3
}

function isEscaped(bytes: Buffer, { escape, codes, optional }: Escaping): boolean {
  for (let at = bytes.indexOf(escape); at >= 0; at = bytes.indexOf(escape, at + 2))
    if (!codes.has(bytes[at + 1]) && !optional?.has(bytes[at + 1])) return false
  return true
}

function requestOf({ http = '', uri = '/', headers = {}, body, bodyHex = '' }: DecodeInput['input']): HttpRequest {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)])
  return {
    method: http,
    uri,
    headers: Object.fromEntries(entries),
    body: body === undefined ? fromHex(bodyHex) : Buffer.from(body),
  }
}

/** The bytes of an input that is no request. @throws UserError */
export function bytesOf({ hex, text }: DecodeInput['input']): Buffer {
  if (hex !== undefined) return fromHex(hex)
  if (text !== undefined) return Buffer.from(text)
  throw new UserError('the input must have one of hex, text and http')
}

function fromHex(text: string): Buffer {
  const digits = text.replace(/\s+/g, '')
  if (digits.length % 2 === 1 || !/^[0-9a-f]*$/i.test(digits))
    throw new UserError('the hex is not a sequence of whole bytes')
  return Buffer.from(digits, 'hex')
}

function sessionOf(line: DecodeInput, transport: Transport, options: DecodeOptions): Session {
  const { sessions, now = Date.now, lenient = false } = options
  const key = `${line.protocol} ${line.session}`
  const known = line.session === undefined ? undefined : sessions?.get(key)
  const session: Session = known ?? { settingsOf: noSettings, transport, now: 0, lenient }
  if (line.session !== undefined) sessions?.set(key, session)
  session.now = now()
  session.device ??= line.deviceId
  if (line.settings) {
    const { modelOverride, ...others } = line.settings
    const settings = typeof modelOverride === 'string' ? { ...others, model: modelOverride } : others
    session.settingsOf = () => settings
  }
  return session
}

function decodedReplies({ reply, response = {} }: Message, transport: Transport): DecodedReply[] {
  if (transport !== 'http') return repliesOf(reply).map((each) => ({ hex: each.toString('hex') }))
  const { status = 200, body = Buffer.concat(repliesOf(reply)) } = response
  return [{ http: status, bodyHex: Buffer.from(body).toString('hex') }]
}
