import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as z from 'zod'
import { loadProtocol, loadProtocols } from '../../protocols/index.ts'
import type { Session } from '../../protocols/kit/index.ts'
import { UserError } from '../errors.ts'
import { Detector } from '../listen/detect.ts'
import { bytesOf, DecodeInput, decodeInput, type DecodeOptions, type DecodeOutput, failure } from './decode-input.ts'

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
