import { DecodeError } from './errors.ts'
import type { Session } from './protocol.ts'

/** One part of a split message. */
interface Part {
  /** What the parts of one message have in common. */
  readonly key: string | number
  /** From 0 on. */
  readonly index: number
  readonly count: number
  readonly content: Uint8Array
  /** What acknowledges it. */
  readonly reply?: Buffer
}

/** A message of which all parts have arrived. */
interface Assembled {
  readonly content: Buffer
  /** The answers to all parts, in order: they are sent once what the message says is stored. */
  readonly reply: readonly Buffer[]
}

/**
 * The parts of the message that a session is sending in parts: `sessionState(() => new Assembly())`. A part of another
 * message drops those that are there: devices send one message after another.
 */
export class Assembly {
  #key: Part['key'] | undefined
  #parts: (Part | undefined)[] = []
  #bytes = 0

  /**
   * Takes a part. Returns the whole message if no part is missing any more, else undefined. A part that is sent again
   * counts once.
   * @throws DecodeError `unsupported` if the message has more than 255 parts or more than 64 KB (4 KB before the device
   * is known), `malformed` if the number of the part is not among them
   */
  add(part: Part, session: Session): Assembled | undefined {
    const { key, index, count, content } = part
    if (!(index >= 0 && index < count)) throw new DecodeError('malformed', `part ${index + 1} of ${count}`)
    if (count > MAX_PARTS) throw new DecodeError('unsupported', `a message in ${count} parts`)
    if (key !== this.#key || count !== this.#parts.length) this.#begin(part)
    this.#bytes += content.length - (this.#parts[index]?.content.length ?? 0)
    if (this.#bytes > (session.device === undefined ? MAX_UNIDENTIFIED_BYTES : MAX_BYTES)) {
      this.#end()
      throw new DecodeError('unsupported', 'a message in parts that is too long')
    }
    this.#parts[index] = { ...part, content: Buffer.from(content) }
    const parts = this.#parts.filter((each) => each !== undefined)
    if (parts.length < count) return undefined
    this.#end()
    return {
      content: Buffer.concat(parts.map((each) => each.content)),
      reply: parts.flatMap(({ reply = [] }) => reply),
    }
  }

  #begin({ key, count }: Part): void {
    this.#key = key
    this.#parts = Array<Part | undefined>(count).fill(undefined)
    this.#bytes = 0
  }

  #end(): void {
    this.#key = undefined
    this.#parts = []
    this.#bytes = 0
  }
}

const MAX_PARTS = 255
const MAX_BYTES = 65_536
const MAX_UNIDENTIFIED_BYTES = 4096
