import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as z from 'zod'
import { loadProtocol, loadProtocols } from '../../protocols/index.ts'
import {
  cut,
  DecodeError,
  decodeFrame,
  type Fix,
  type HttpRequest,
  type Message,
  type Protocol,
  repliesOf,
  type Session,
  type Transport,
} from '../../protocols/kit/index.ts'
import { instant } from '../admin/json.ts'
import { UserError } from '../errors.ts'
import { Detector } from '../listen/detect.ts'

interface DecodeArguments {
  readonly protocol?: string
  readonly hex?: string
  readonly text?: string
  readonly jsonl?: boolean
  readonly lenient?: boolean
}

/** `waybridge decode`. @returns the exit code: 1 where the frame could not be understood @throws UserError */
export async function decodeCommand({ protocol, hex, text, jsonl, lenient }: DecodeArguments): Promise<number> {
  if (jsonl) {
    await decodeLines(process.stdin, process.stdout, { lenient }).catch((error: NodeJS.ErrnoException) => {
      // `… | head` closes the pipe, which is not a fault.
      if (error.code !== 'EPIPE') throw error
    })
    return 0
  }
  if ((hex === undefined) === (text === undefined))
    throw new UserError('decode: give the frame as --hex or as --text, or many with --jsonl.')
  if (protocol === undefined) return decodeGuessed({ hex, text }, lenient)
  const output = await decodeNamed({ protocol, input: { hex, text } }, { lenient })
  process.stdout.write(`${JSON.stringify(output)}\n`)
  return output.error === undefined ? 0 : 1
}

/** Prints what each protocol that understands a frame makes of it, the likeliest first. @returns the exit code */
async function decodeGuessed(input: DecodeInput['input'], lenient: boolean | undefined): Promise<number> {
  const protocols = await loadProtocols()
  const detector = new Detector({ protocols, configured: () => undefined })
  const beginning = { bytes: bytesOf(input), now: Date.now() }
  const overTcp = detector.look({ ...beginning, transport: 'tcp' }).guesses
  const overUdp = detector.look({ ...beginning, transport: 'udp' }).guesses
  const others = overUdp.filter(({ protocol }) => !overTcp.some((guess) => guess.protocol === protocol))
  const guesses = [...overTcp, ...others].toSorted((one, other) => other.score - one.score)
  if (guesses.length === 0)
    throw new UserError(`decode: none of ${protocols.length} protocols understands these bytes.`)
  for (const { protocol, evidence } of guesses) {
    const output = decodeInput(protocol, { protocol: protocol.name, input }, { lenient })
    process.stdout.write(`${JSON.stringify({ protocol: protocol.name, evidence, ...output })}\n`)
  }
  return 0
}

/** A field of another type counts as missing. */
const MaybeText = z.string().optional().catch(undefined)
const MaybeObject = z.record(z.string(), z.unknown()).optional().catch(undefined)

/**
 * One input of `--jsonl`: a stream as hex or text, or an HTTP request. `deviceId` is logged in before; inputs of one `session`
 * share a connection.
 */
const DecodeInput = z.object({
  id: z.unknown().optional(),
  protocol: z.string(),
  input: z.object({
    hex: MaybeText,
    text: MaybeText,
    http: MaybeText,
    uri: MaybeText,
    headers: MaybeObject,
    bodyHex: MaybeText,
  }),
  session: z.string().optional(),
  deviceId: z.string().optional(),
  settings: MaybeObject,
})
export type DecodeInput = z.infer<typeof DecodeInput>

/** One position as it is printed: RFC 3339, degrees, metres, metres per second. */
export interface DecodedFix extends Partial<Omit<Fix, 'time' | 'latitude' | 'longitude'>> {
  readonly time?: string
  readonly lat?: number
  readonly lon?: number
}

type DecodedReply = { readonly hex: string } | { readonly http: number; readonly bodyHex: string }

/** What one input contains. With an `error`, `fixes` and `replies` are empty. */
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

/**
 * Reads one JSON `DecodeInput` a line and writes one JSON `DecodeOutput` for each, in order, with back-pressure; a line that
 * cannot be read yields an `error`. Leaves `output` open.
 */
export async function decodeLines(input: Readable, output: Writable, options: DecodeOptions = {}): Promise<void> {
  const sessions = options.sessions ?? new Map<string, Session>()
  const answers = async function* (source: AsyncIterable<Buffer | string>) {
    for await (const line of linesOf(source))
      yield `${JSON.stringify(await decodeLine(line, { ...options, sessions }))}\n`
  }
  await pipeline(input, answers, output, { end: false })
}

/** Only LF ends a line: JSON text may contain every other line separator. */
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

/** Unlike `decodeInput`, answers a fault of a decoder too, so that the next lines are still decoded. */
async function decodeLine(text: string, options: DecodeOptions): Promise<DecodeOutput> {
  let id: unknown
  try {
    const line = z.looseObject({}).safeParse(JSON.parse(text)).data
    if (!line) return failure(id, 'the line is not a JSON object')
    id = line.id
    const read = DecodeInput.safeParse(line)
    if (!read.success) return failure(id, 'protocol, session and deviceId must be text, input an object')
    return await decodeNamed(read.data, options)
  } catch (error) {
    if (error instanceof SyntaxError) return failure(id, 'the line is not a JSON object')
    return failure(id, `fault in the decoder: ${String(error)}`)
  }
}

async function decodeNamed(line: DecodeInput, options: DecodeOptions): Promise<DecodeOutput> {
  const protocol = await loadProtocol(line.protocol)
  if (protocol) return decodeInput(protocol, line, options)
  return failure(line.id, `there is no protocol "${line.protocol}": see waybridge protocols`)
}

function failure(id: unknown, error: string): DecodeOutput {
  return { id, fixes: [], replies: [], error }
}

/** Decodes one input of a protocol as the bytes of a stream. A mistake in the input is the output's `error`. */
export function decodeInput(protocol: Protocol, line: DecodeInput, options: DecodeOptions = {}): DecodeOutput {
  try {
    const transport = transportOf(protocol, line.input)
    const session = sessionOf(line, transport, options)
    const messages = framesOfInput(protocol, line.input, session).map((frame) => {
      const message = decodeFrame(protocol, frame, session)
      session.device = message.device ?? session.device
      return message
    })
    return {
      id: line.id,
      device: session.device,
      fixes: messages.flatMap(({ fixes = [] }) => fixes.map(decodedFix)),
      replies: messages.flatMap((message) => decodedReplies(message, transport)),
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
  const bytes = bytesOf(input)
  const { frames, rest } = framer ? cut(bytes, framer, session) : { frames: [], rest: bytes }
  // The stream ends here, so that the rest counts as a frame.
  const all = rest.length > 0 ? [...frames, rest] : frames
  if (all.length === 0) throw new UserError(`there is no frame of ${protocol.name} in these bytes`)
  return all
}

function requestOf({ http = '', uri = '/', headers = {}, bodyHex = '' }: DecodeInput['input']): HttpRequest {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)])
  return { method: http, uri, headers: Object.fromEntries(entries), body: fromHex(bodyHex) }
}

function bytesOf({ hex, text }: DecodeInput['input']): Buffer {
  if (hex !== undefined) return fromHex(hex)
  if (text !== undefined) return Buffer.from(text)
  throw new UserError('the input has neither hex, text nor http')
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
  const session: Session = known ?? { settings: {}, transport, now: 0, lenient }
  if (line.session !== undefined) sessions?.set(key, session)
  session.now = now()
  session.device ??= line.deviceId
  if (line.settings) {
    const { modelOverride, ...settings } = line.settings
    session.settings = typeof modelOverride === 'string' ? { ...settings, model: modelOverride } : settings
  }
  return session
}

/** Without numbers that JSON does not have. */
function decodedFix({ time, latitude, longitude, ...rest }: Fix): DecodedFix {
  const fix = { time: instant(time), lat: latitude, lon: longitude, ...rest }
  return Object.fromEntries(
    Object.entries(fix).filter(([, value]) => typeof value !== 'number' || Number.isFinite(value)),
  )
}

function decodedReplies({ reply, response = {} }: Message, transport: Transport): DecodedReply[] {
  if (transport !== 'http') return repliesOf(reply).map((each) => ({ hex: each.toString('hex') }))
  const { status = 200, body = Buffer.concat(repliesOf(reply)) } = response
  return [{ http: status, bodyHex: Buffer.from(body).toString('hex') }]
}
