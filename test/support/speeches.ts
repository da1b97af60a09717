import { expect } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import {
  cut,
  decodeFrame,
  type Fix,
  type HttpRequest,
  type Message,
  noSettings,
  type Protocol,
  repliesOf,
  type Session,
} from '../../protocols/kit/index.ts'
import { type Speech, type StreamSpeech, speeches } from '../../src/sandbox/speak/index.ts'

const PROTOCOLS = new Map((await loadProtocols()).map((protocol) => [protocol.name, protocol]))

/** The speech of a name, over TCP. @throws Error if there is none. */
export function streamSpeech(name: string): StreamSpeech {
  const speech = speeches.find((each) => each.name === name)
  if (speech?.transport !== 'tcp') throw new Error(`${name} is not spoken over TCP`)
  return speech
}

/** A conversation of a van with the framer and the decoder of its protocol, which verify checksums. */
export class Conversation {
  readonly #protocol: Protocol
  readonly #session: Session

  constructor({ protocol, transport }: Speech, now: number) {
    this.#protocol = protocolOf(protocol)
    this.#session = { settingsOf: noSettings, transport, now, lenient: false }
  }

  /** The messages of bytes that hold whole frames, or of a request. */
  hear(said: Buffer | HttpRequest): Message[] {
    const { tcp } = this.#protocol
    const isStream = this.#session.transport === 'tcp'
    if (!tcp || !isStream || !Buffer.isBuffer(said)) return [this.#decode(said)]
    const { frames, rest, noise } = cut(said, tcp.frame, this.#session)
    expect([rest.length, noise]).toEqual([0, 0])
    return frames.map((frame) => this.#decode(frame))
  }

  #decode(frame: Buffer | HttpRequest): Message {
    const message = decodeFrame(this.#protocol, frame, this.#session)
    this.#session.device ??= message.device
    return message
  }
}

function protocolOf(name: string): Protocol {
  const protocol = PROTOCOLS.get(name)
  if (!protocol) throw new Error(`no protocol ${name}`)
  return protocol
}

/** What becomes of fixes that a van says behind its login. */
export interface Heard {
  readonly device: string | undefined
  readonly fixes: readonly Fix[]
  /** What the van makes of each answer to its fixes, in order; undefined of HTTP and MQTT, and where no answer is expected. */
  readonly verdicts: readonly (boolean | undefined)[] | undefined
}

/** Lets a van say fixes as its first packet. */
export function say(speech: Speech, fixes: readonly Fix[], { id, now }: { id: string; now: number }): Heard {
  const conversation = new Conversation(speech, now)
  if (speech.transport === 'http')
    return heardOf(
      conversation.hear({ method: 'GET', uri: speech.path(fixes, id), headers: {}, body: Buffer.alloc(0) }),
    )
  if (speech.transport === 'mqtt') return heardOf(conversation.hear(Buffer.from(speech.payload(fixes))))
  const login = speech.transport === 'tcp' ? conversation.hear(speech.login?.(id).bytes ?? Buffer.alloc(0)) : []
  const packet = speech.packet(fixes, { id, serial: 1 })
  const messages = conversation.hear(packet.bytes)
  const answers = answersOf(speech, messages)
  const verdicts = packet.accepted && answers.map(packet.accepted)
  return { ...heardOf([...login, ...messages]), verdicts }
}

function heardOf(messages: readonly Message[]): Heard {
  const device = messages.find((message) => message.device !== undefined)?.device
  return { device, fixes: messages.flatMap(({ fixes }) => fixes ?? []), verdicts: undefined }
}

/** The answers to messages, as the van cuts them. */
export function answersOf(speech: Speech, messages: readonly Message[]): Buffer[] {
  const replies = messages.flatMap(({ reply }) => repliesOf(reply))
  if (speech.transport !== 'tcp') return [...replies]
  const { frames, rest } = cut(Buffer.concat(replies), speech.answers, undefined)
  expect(rest.length).toBe(0)
  return frames
}
