import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as z from 'zod'
import { loadProtocol, loadProtocols } from '../../protocols/index.ts'
import type { Protocol, Session } from '../../protocols/kit/index.ts'
import { UserError } from '../errors.ts'
import { Detector, type Guess, likely } from '../gateway/wire/detect.ts'
import { english } from '../texts/text.ts'
import { bytesOf, DecodeInput, type DecodeOptions, type DecodeOutput, decodeInput, failure } from './decode-input.ts'
import { type PasteReading, readPaste } from './paste.ts'

interface DecodeArguments {
  /** Words; `-`: reads standard input. */
  readonly paste?: readonly string[]
  readonly protocol?: string
  readonly hex?: string
  readonly text?: string
  readonly jsonl?: boolean
  readonly lenient?: boolean
}

/** `waybridge decode`. @returns the exit code: 1 if the frame was not understood @throws UserError */
export async function decodeCommand({ paste = [], ...options }: DecodeArguments): Promise<number> {
  const { protocol, hex, text, jsonl, lenient } = options
  if (jsonl) {
    await decodeLines(process.stdin, process.stdout, { lenient }).catch((error: NodeJS.ErrnoException) => {
      // `… | head` closes the pipe, which is not a fault.
      if (error.code !== 'EPIPE') throw error
    })
    return 0
  }
  if ([hex, text, paste[0]].filter((each) => each !== undefined).length !== 1)
    throw new UserError(
      'decode: give the frame as --hex or as --text, paste it as it is (-: stdin), or many with --jsonl.',
    )
  const readings = paste.length > 0 ? readPaste(await textOf(paste)) : [{ bytes: bytesOf({ hex, text }) }]
  if (protocol === undefined) return decodeGuessed(readings, lenient)
  const outputs = []
  for (const { bytes } of readings.length > 0 ? readings : [{ bytes: Buffer.alloc(0) }])
    outputs.push(await decodeNamed({ protocol, input: { hex: bytes.toString('hex') } }, { lenient }))
  const output = outputs.find(({ error, fixes }) => error === undefined && fixes.length > 0) ?? outputs[0]
  process.stdout.write(`${JSON.stringify(output)}\n`)
  return output.error === undefined ? 0 : 1
}

async function textOf(paste: readonly string[]): Promise<string> {
  return paste.join() === '-' ? Buffer.concat(await process.stdin.toArray()).toString() : paste.join(' ')
}

/** Prints the result of each protocol that understands a frame, likeliest first. @returns the exit code */
async function decodeGuessed(
  readings: readonly (Pick<PasteReading, 'bytes'> & Partial<PasteReading>)[],
  lenient: boolean | undefined,
): Promise<number> {
  const protocols = await loadProtocols()
  const detector = new Detector({ protocols, configured: () => undefined, onFault: printFault })
  const all = readings.flatMap(({ as, bytes }) =>
    guessesOf(detector, bytes)
      .filter(saysSomething)
      .map((guess) => ({ ...guess, as, bytes })),
  )
  const likeliest = all.toSorted((one, other) => other.score - one.score)
  const guesses = new Map(likeliest.map((guess) => [guess.protocol, guess] as const).toReversed())
  if (guesses.size === 0) throw new UserError(`decode: none of ${protocols.length} protocols understands these bytes.`)
  for (const [protocol, { as, bytes, evidence }] of [...guesses].toSorted(([, a], [, b]) => b.score - a.score)) {
    const input = { hex: bytes.toString('hex') }
    const output = decodeInput(protocol, { protocol: protocol.name, input }, { lenient })
    process.stdout.write(
      `${JSON.stringify({ protocol: protocol.name, evidence: evidence.map(english), read_as: as, ...output })}\n`,
    )
  }
  return 0
}

function printFault(error: unknown, { name }: Protocol): void {
  process.stderr.write(`fault in the decoder of ${name}: ${String(error)}\n`)
}

/** Excludes a protocol that accepts any text and reads nothing in it. */
function saysSomething({ device, none, evidence }: Guess): boolean {
  return device !== undefined || none !== 'text' || evidence.length > 1
}

function guessesOf(detector: Detector, bytes: Buffer) {
  const beginning = { bytes, now: Date.now() }
  const overTcp = likely(detector.look({ ...beginning, transport: 'tcp' }).found)
  // A paste may have other text before the frame.
  const overUdp = likely(detector.look({ ...beginning, transport: 'udp' }, detector.protocols).found)
  return [...overTcp, ...overUdp.filter(({ protocol }) => !overTcp.some((guess) => guess.protocol === protocol))]
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
