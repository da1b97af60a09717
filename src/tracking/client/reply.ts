import type { Fault } from './fault.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** An answer as it came; names of headers in lower case, what is not ASCII in them as latin1. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** The body, in the pieces in which it came. */
  readonly chunks: readonly Buffer[]
  /** The body was longer, and is cut at the limit. */
  readonly cut: boolean
}

export interface ReplyLimits {
  readonly maxBytes: number
  /** Of the body of what is no 2xx; default: `maxBytes`. */
  readonly maxErrorBytes?: number
  /** Takes room for so much more of the answer; where there is none, the fault is `no_room`. Default: there is. */
  readonly take?: (bytes: number) => boolean
}

/** An answer on its way. */
export interface ReplyCollector {
  /** Answers with what has come where it says itself that it will be longer than is wanted. */
  start(status: number, headers: Headers): Reply | undefined
  /** Answers with what came of it where nothing more is wanted. */
  add(chunk: Buffer): Reply | { readonly fault: Fault } | undefined
  /** What has come. */
  reply(): Reply
}

export function collectReply({ maxBytes, maxErrorBytes = maxBytes, take }: ReplyLimits): ReplyCollector {
  let head: Pick<Reply, 'status' | 'headers'> = { status: 0, headers: {} }
  let left = maxBytes
  const chunks: Buffer[] = []
  const reply = () => ({ ...head, chunks, cut: left < 0 })
  return {
    start(status, headers) {
      head = { status, headers }
      left = isSuccess(status) ? maxBytes : Math.min(maxBytes, maxErrorBytes)
      // A 304 has the length of what it stands for.
      if (status === 304 || Number(headers['content-length'] ?? 0) <= left) return undefined
      left = -1
      return reply()
    },
    add(chunk) {
      if (take?.(chunk.length + CHUNK_BYTES) === false) return { fault: 'no_room' }
      chunks.push(chunk.length > left ? chunk.subarray(0, left) : chunk)
      left -= chunk.length
      return left < 0 ? reply() : undefined
    },
    reply,
  }
}

/** Whether it is a 2xx. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** The whole body, which is copied where it came in more than one piece. */
export function bodyOf({ chunks }: Pick<Reply, 'chunks'>): Buffer {
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
}

/** What a Buffer takes beside its bytes: an answer may come in chunks of one byte. */
const CHUNK_BYTES = 200
