import { DecodeError } from './errors.ts'
import type { Session, UnfinishedMessage } from './protocol.ts'

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
 * Takes a part of the message that a session is sending in parts (`Session.unfinished`). Returns the whole message if no part is
 * missing any more, else undefined. A part of another message drops those that are there: devices send one message after
 * another. A part that is sent again counts once.
 * @throws DecodeError `unsupported` if the message has more than 255 parts or more than 64 KB (4 KB before the device
 * is known), `malformed` if the number of the part is not among them
 */
export function assemble(part: Part, session: Session): Assembled | undefined {
  const { index, count } = part
  if (!(index >= 0 && index < count)) throw new DecodeError('malformed', `part ${index + 1} of ${count}`)
  if (count > MAX_PARTS) throw new DecodeError('unsupported', `a message in ${count} parts`)
  const { unfinished } = session
  const assembly = unfinished instanceof Assembly && unfinished.isOf(part) ? unfinished : new Assembly(part)
  session.unfinished = assembly
  assembly.add(part)
  const isTooLong = assembly.length > (session.device === undefined ? MAX_UNIDENTIFIED_BYTES : MAX_BYTES)
  if (isTooLong || assembly.missing === 0) session.unfinished = undefined
  if (isTooLong) throw new DecodeError('unsupported', 'a message in parts that is too long')
  return assembly.missing === 0 ? assembly.whole() : undefined
}

class Assembly implements UnfinishedMessage {
  bytes = 0
  /** Bytes of the content that has arrived. */
  length = 0
  missing: number
  readonly #key: Part['key']
  readonly #parts: (Pick<Part, 'content' | 'reply'> | undefined)[]

  constructor({ key, count }: Part) {
    this.#key = key
    this.#parts = Array<undefined>(count).fill(undefined)
    this.missing = count
    this.bytes = PART_BYTES
  }

  isOf({ key, count }: Part): boolean {
    return key === this.#key && count === this.#parts.length
  }

  add({ index, content, reply }: Part): void {
    const before = this.#parts[index]
    if (!before) {
      this.missing--
      this.bytes += PART_BYTES
    }
    const more = content.length - (before?.content.length ?? 0)
    this.length += more
    this.bytes += more
    this.#parts[index] = { content: copyOf(content), reply: reply && copyOf(reply) }
  }

  /** The message, of which no part is missing. */
  whole(): Assembled {
    const parts = this.#parts.filter((each) => each !== undefined)
    return {
      content: Buffer.concat(parts.map(({ content }) => content)),
      reply: parts.flatMap(({ reply = [] }) => reply as Buffer),
    }
  }
}

/** Allocated outside Node's pool: a few bytes would keep a whole slab of the pool in memory. */
function copyOf(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}

const MAX_PARTS = 255
const MAX_BYTES = 65_536
const MAX_UNIDENTIFIED_BYTES = 4096
/** Memory of a part beside its content: two buffers, and its place. */
const PART_BYTES = 500
