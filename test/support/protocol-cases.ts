import type { DecodeReason, Fix, HttpRequest, Message, Settings, Transport } from '../../protocols/kit/index.ts'
import type { Correction } from './vectors/corrections.ts'

export { eachPosition, eachSaid } from './vectors/corrections.ts'

/** What the tests know of one protocol: the default export of test/protocols/<name>.ts. It is data; `it` stands elsewhere. */
export interface ProtocolCases {
  /** The frames or requests of 64 KB that cost the decoder most, by title: what anybody may send. */
  readonly costly: Readonly<Record<string, string | Buffer | HttpRequest>>
  /** Our own frames, made from the specification. */
  readonly frames: readonly Conversation[]
  /** Where the vectors are wrong against the specification. */
  readonly corrections?: readonly Correction[]
  /** Vectors that we read otherwise: id → why. At most 3 % of a protocol's frames, or one of a small set. */
  readonly exceptions?: Readonly<Record<string, string>>
  /** Why no frame of its own is of a type that holds positions, where none is known. */
  readonly withoutPositions?: string
  /** A frame of a stream without its escapes, where `escaping` of the protocol cannot say what they are. */
  readonly unescaped?: (frame: Buffer) => Buffer
  /** Why fewer than a third of the real frames with a checksum pass it. */
  readonly wrongChecksums?: string
  /** Streams of the vectors that we cut otherwise: their first 20 bytes in hexadecimal digits → why. */
  readonly streams?: Readonly<Record<string, string>>
}

/** Frames of one connection, in order. */
export interface Conversation {
  readonly title: string
  /** Left out: tcp, where the protocol has it, else udp, http, mqtt. */
  readonly transport?: Transport
  /** Those of the device from the beginning on. */
  readonly settings?: Settings
  readonly frames: readonly OwnFrame[]
}

/**
 * A frame as it is on the wire, with its end and its escapes, and what it says exactly: a key that is left out must be absent
 * in the message. Text is UTF-8; numbers of fixes may differ by 1e-6.
 */
export interface OwnFrame extends Omit<Message, 'fixes' | 'reply' | 'refusal'> {
  readonly frame: string | Buffer | HttpRequest
  readonly fixes?: readonly OwnFix[]
  readonly reply?: string | Buffer | readonly (string | Buffer)[]
  readonly refusal?: string | Buffer
  /** Why it is refused, if it is. */
  readonly error?: DecodeReason
  /** With an error: what its envelope says all the same, see `enveloped`. Left out: it is not looked at. */
  readonly envelope?: Pick<OwnFrame, 'device' | 'secret' | 'reply' | 'response'>
  /** What devices send most, so that its decoding is measured; of all frames at most one. Left out: the first with fixes. */
  readonly isTypical?: true
}

/** `time`: ms or RFC 3339; `valid`: true where it is left out. */
export interface OwnFix extends Omit<Fix, 'time' | 'valid'> {
  readonly time: number | string
  readonly valid?: boolean
}

/** What anybody may send at once, bytes. */
export const COSTLY_SIZE = 65_536

/** A text again and again, 64 KB of it. */
export function many(text: string): string {
  return text.repeat(COSTLY_SIZE / text.length)
}

/** A POST of a form or JSON. */
export function post(uri: string, body: string | Buffer, headers: HttpRequest['headers'] = {}): HttpRequest {
  return { method: 'POST', uri, headers, body: Buffer.from(body) }
}

/** A GET without a body. */
export function get(uri: string, headers: HttpRequest['headers'] = {}): HttpRequest {
  return { method: 'GET', uri, headers, body: Buffer.alloc(0) }
}

/** What the tests know of a protocol. @throws Error if test/protocols/<name>.ts is missing. */
export async function casesOf(name: string): Promise<ProtocolCases> {
  try {
    return (await import(`../protocols/${name}.ts`)).default
  } catch (error) {
    throw new Error(`test/protocols/${name}.ts: ${String(error)} (see "Add a protocol" in protocols/README.md)`, {
      cause: error,
    })
  }
}
