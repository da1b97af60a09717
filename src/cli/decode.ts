import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { protocolsByName } from '../../protocols/index.ts'
import {
  cut,
  DecodeError,
  type Framer,
  type Message,
  type Protocol,
  type Session,
  type Settings,
  type Transport,
} from '../../protocols/kit/index.ts'

/** What a frame came as: bytes, text, or an HTTP request. */
export type DecodeFrame =
  | { readonly hex: string }
  | { readonly text: string }
  | {
      readonly http: string
      readonly uri: string
      readonly headers?: Readonly<Record<string, string>>
      readonly bodyHex?: string
    }

/** One input of `waybridge decode`. `deviceId` is logged in before; inputs of one `session` share a connection. */
export interface DecodeInput {
  readonly id?: unknown
  readonly protocol: string
  readonly input: DecodeFrame
  readonly session?: string
  readonly deviceId?: string
  readonly settings?: Readonly<Record<string, unknown>>
}

/** One position as `waybridge decode` prints it: RFC 3339, degrees, metres, metres a second. */
export interface DecodedFix {
  readonly time?: string
  readonly valid: boolean
  readonly lat?: number
  readonly lon?: number
  readonly altitude?: number
  readonly speed?: number
  readonly heading?: number
  readonly accuracy?: number
  readonly hdop?: number
  readonly satellites?: number
}

export type DecodedReply = { readonly hex: string } | { readonly http: 200; readonly bodyHex: string }

/** What one input said. Where `error` is, `fixes` and `replies` are empty. */
export interface DecodeOutput {
  readonly id?: unknown
  readonly device?: string
  readonly fixes: readonly DecodedFix[]
  readonly replies: readonly DecodedReply[]
  readonly error?: string
}

/** `sessions`: the connections so far, which inputs with a `session` join; `now`: the arrival of the frame, ms UTC. */
export interface DecodeOptions {
  readonly sessions?: Map<string, Session>
  readonly lenient?: boolean
  readonly now?: () => number
}

/** Decodes one input as the bytes of a stream. What is wrong with the input is the output's `error`. */
export function decodeInput(line: DecodeInput, options: DecodeOptions = {}): DecodeOutput {
  const id = line.id === undefined ? {} : { id: line.id }
  try {
    const protocol = protocolsByName.get(line.protocol)
    if (!protocol) throw new InputError(`there is no protocol "${line.protocol}": see waybridge protocols`)
    const { transport, frames } = framesOfInput(protocol, line.input)
    const session = sessionOf(line, transport, options)
    const messages = frames.map((frame) => decodeFrame(protocol, frame, session))
    const device = session.device === undefined ? {} : { device: session.device }
    return { ...id, ...device, fixes: messages.flatMap(fixesOf), replies: messages.flatMap(replyOf(transport)) }
  } catch (error) {
    if (error instanceof DecodeError || error instanceof InputError)
      return { ...id, fixes: [], replies: [], error: error.message }
    throw error
  }
}

/**
 * Reads one JSON `DecodeInput` a line and writes one JSON `DecodeOutput` for each, in order, with back-pressure; a line
 * that cannot be read yields an `error`. Leaves `output` open.
 */
export async function decodeLines(input: Readable, output: Writable, options: DecodeOptions = {}): Promise<void> {
  const sessions = options.sessions ?? new Map<string, Session>()
  const answers = async function* (source: AsyncIterable<Buffer | string>) {
    for await (const line of linesOf(source)) yield `${JSON.stringify(decodeLine(line, { ...options, sessions }))}\n`
  }
  await pipeline(input, answers, output, { end: false })
}

/** Input that is no frame at all: the sentence says what to change. */
class InputError extends Error {}

/** Lines end at LF alone: JSON text may hold every other line separator. */
async function* linesOf(source: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of source) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

/** Unlike `decodeInput`, answers a fault of a decoder too: the other lines are not to suffer. */
function decodeLine(text: string, options: DecodeOptions): DecodeOutput {
  const line = parse(text)
  if (!isObject(line)) return { fixes: [], replies: [], error: 'the line is no JSON object' }
  try {
    if (isDecodeInput(line)) return decodeInput(line, options)
    return {
      id: line.id,
      fixes: [],
      replies: [],
      error: 'protocol, session and deviceId have to be text, input an object',
    }
  } catch (error) {
    return { id: line.id, fixes: [], replies: [], error: `fault in the decoder: ${String(error)}` }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isDecodeInput(line: Record<string, unknown>): line is Record<string, unknown> & DecodeInput {
  const { protocol, input, session = '', deviceId = '' } = line
  return [protocol, session, deviceId].every((value) => typeof value === 'string') && isObject(input)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function framesOfInput(protocol: Protocol, input: unknown): { transport: Transport; frames: Buffer[] } {
  if (!isObject(input)) throw new InputError('the input holds neither hex, text nor http')
  if (typeof input.http === 'string') return { transport: 'http', frames: [requestFrame(protocol, input)] }
  const transport = protocol.tcp ? 'tcp' : protocol.udp ? 'udp' : protocol.http ? 'http' : 'mqtt'
  const framer = protocol.tcp?.frame ?? protocol.udp?.frame
  const bytes = bytesOf(input)
  const frames = framer ? framesOf(bytes, framer) : [bytes]
  if (frames.length === 0) throw new InputError(`there is no frame of ${protocol.name} in these bytes`)
  return { transport, frames }
}

function requestFrame(protocol: Protocol, input: Record<string, unknown>): Buffer {
  if (!protocol.http) throw new InputError(`${protocol.name} does not come over HTTP`)
  const headers = Object.entries(isObject(input.headers) ? input.headers : {})
  return protocol.http.frame({
    method: String(input.http),
    uri: typeof input.uri === 'string' ? input.uri : '/',
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), String(value)])),
    body: typeof input.bodyHex === 'string' ? fromHex(input.bodyHex) : Buffer.alloc(0),
  })
}

function bytesOf(input: Record<string, unknown>): Buffer {
  if (typeof input.hex === 'string') return fromHex(input.hex)
  if (typeof input.text === 'string') return Buffer.from(input.text)
  throw new InputError('the input holds neither hex, text nor http')
}

function fromHex(text: string): Buffer {
  const digits = text.replace(/\s+/g, '')
  if (digits.length % 2 === 1 || !/^[0-9a-f]*$/i.test(digits)) throw new InputError('the hex is no whole bytes')
  return Buffer.from(digits, 'hex')
}

/** The frames of a stream that ends after these bytes: what is left over at the end is one. */
function framesOf(bytes: Buffer, framer: Framer): Buffer[] {
  const { frames, rest } = cut(bytes, framer)
  return rest.length > 0 ? [...frames, rest] : frames
}

function sessionOf(line: DecodeInput, transport: Transport, options: DecodeOptions): Session {
  const { sessions, now = Date.now, lenient = false } = options
  const key = `${line.protocol} ${line.session}`
  const known = line.session === undefined ? undefined : sessions?.get(key)
  const session: Session = known ?? { settings: {}, transport, now: 0, lenient }
  if (line.session !== undefined && !known) sessions?.set(key, session)
  session.now = now()
  session.device ??= line.deviceId
  if (isObject(line.settings)) session.settings = settingsOf(line.settings)
  return session
}

function settingsOf({ modelOverride, ...settings }: Readonly<Record<string, unknown>>): Settings {
  return typeof modelOverride === 'string' ? { ...settings, model: modelOverride } : settings
}

function decodeFrame(protocol: Protocol, frame: Buffer, session: Session): Message {
  const message = protocol.decode(frame, session)
  session.device = message.device ?? session.device
  return message
}

function fixesOf({ fixes = [] }: Message): DecodedFix[] {
  return fixes.map(({ time, valid, latitude, longitude, altitude, speed, heading, accuracy, hdop, satellites }) => ({
    ...(Math.abs(time) <= LATEST ? { time: new Date(time).toISOString() } : {}),
    valid,
    ...finite({ lat: latitude, lon: longitude, altitude, speed, heading, accuracy, hdop, satellites }),
  }))
}

/** The end of the calendar, ms UTC. */
const LATEST = 8.64e15

function finite(values: Record<string, number | undefined>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
  )
}

function replyOf(transport: Transport): (message: Message) => DecodedReply[] {
  return ({ reply }) => {
    if (transport === 'http') return [{ http: 200, bodyHex: reply?.toString('hex') ?? '' }]
    return reply ? [{ hex: reply.toString('hex') }] : []
  }
}
