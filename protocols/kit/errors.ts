import type { Fix, Message } from './protocol.ts'

/** Why a frame is refused: its checksum, its end, its content, or its kind, which the protocol does not have. */
export type DecodeReason = 'checksum' | 'truncated' | 'malformed' | 'unsupported'

/**
 * A frame that cannot be understood. Decoders and the kit's readers throw it; the ingest catches it, in one place. It has
 * no stack trace: a stack trace costs several times as much as the rest of a refusal, and anybody may send bad frames.
 */
export class DecodeError extends Error {
  readonly code: DecodeReason
  /** What the frame says all the same, with its answer, where its envelope is sound and its content alone cannot be read: see `enveloped`. */
  envelope?: Message

  constructor(code: DecodeReason, detail?: string) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(detail === undefined ? SENTENCES[code] : `${SENTENCES[code]}: ${detail}`)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'DecodeError'
    this.code = code
  }
}

const SENTENCES = {
  checksum: 'the checksum does not match',
  truncated: 'the frame ends too early',
  malformed: 'the frame is malformed',
  unsupported: 'this kind of frame is not understood',
} satisfies Record<DecodeReason, string>

/**
 * What a frame says, in two steps: `envelope` is what it takes to answer it (device, answer), `content` reads the rest, or knows better. Where the
 * content cannot be read, the error carries the envelope: a tracker sends the same frame until it is answered, so the caller keeps the
 * frame as it came and answers it, if it is not damaged.
 * @throws DecodeError of the content
 */
export function enveloped(envelope: Message, content: () => Message): Message {
  try {
    // Named one by one: to spread two objects takes longer than to read most contents.
    const read = content()
    const { device = envelope.device, secret = envelope.secret, fixes, none, unreadable, sealed, said } = read
    const { reply = envelope.reply, response = envelope.response, refusal = envelope.refusal } = read
    return { device, secret, fixes, none, unreadable, sealed, said, reply, response, refusal }
  } catch (error) {
    if (error instanceof DecodeError) error.envelope = { ...envelope, ...error.envelope }
    throw error
  }
}

/** The readable entries of a frame. */
interface ReadableEntries<Result> {
  readonly good: Result[]
  /** Positions of the entries that are left out, or have what is not read; undefined if none is. */
  readonly unreadable: readonly number[] | undefined
}

/**
 * Reads each entry of a frame that holds several. An entry for which `read` throws a DecodeError is left out: one bad entry
 * must not block the good ones, which would be sent again with it for ever. After 100 bad entries the rest is left out
 * unread, because a refusal costs more than anything else in a frame, and no tracker sends so many. `isUnread` says of an entry
 * without a fix that it holds a place all the same (see `holdsPlace`): its result is good, for the id in it.
 * @throws DecodeError of the first bad entry where no entry is good.
 */
export function eachReadable<Entry, Result>(
  entries: readonly Entry[],
  read: (entry: Entry) => Result,
  isUnread?: (result: Result, entry: Entry) => boolean,
): ReadableEntries<Result> {
  const good: Result[] = []
  const unreadable: number[] = []
  let first: DecodeError | undefined
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]
    if (unreadable.length >= MAX_REFUSALS) {
      unreadable.push(index)
      continue
    }
    try {
      const result = read(entry)
      good.push(result)
      if (isUnread?.(result, entry)) unreadable.push(index)
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      first ??= error
      unreadable.push(index)
    }
  }
  if (first && good.length === 0) throw first
  return { good, unreadable: unreadable.length > 0 ? unreadable : undefined }
}

/**
 * The message of a frame with several entries: the fixes of those that can be read and have a place; if none has, what the frame says
 * `otherwise`. @throws DecodeError of the first bad entry if no entry is good
 */
export function readableFixes<Entry>(
  entries: readonly Entry[],
  read: (entry: Entry) => Fix | undefined,
  otherwise: Message,
): Message {
  const { good, unreadable } = eachReadable(entries, read)
  const fixes = good.filter((fix) => fix !== undefined)
  return fixes.length > 0 ? { fixes, unreadable } : { ...otherwise, unreadable }
}

const MAX_REFUSALS = 100
