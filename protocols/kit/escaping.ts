import { DecodeError } from './errors.ts'
import { EndSearch } from './marks.ts'
import type { Escaping, Framer } from './protocol.ts'

/** A protocol's way to keep the bytes that mark frames out of their content. */
interface EscapedFrames extends Escaping {
  readonly frame: Framer
  /** The content between the flags of a frame, as it was before it was escaped. @throws DecodeError `malformed`. */
  content(frame: Buffer): Buffer
  /** A frame of a content: escaped, with its flags. */
  wrap(content: Uint8Array): Buffer
}

/**
 * Frames between two flags, within which `escape` and one of `codes` stand for another byte: `codes` maps the second byte
 * to that one.
 */
export function escaped(marks: Escaping & { readonly flag: number; readonly end?: number }): EscapedFrames {
  const { flag, end = flag, escape, codes } = marks
  const search = new EndSearch(end)
  // The code of each byte that must not stand as it is; −1 of others.
  const codeOf = new Int16Array(256).fill(-1)
  for (const [code, byte] of codes) codeOf[byte] = code
  return {
    escape,
    codes,
    frame(bytes, stream) {
      if (bytes[0] !== flag) return -skipTo(bytes, flag)
      // Two flags in a row: the end of a frame that was lost, then a beginning.
      if (bytes[1] === end) return flag === end ? -1 : -2
      return search.after(bytes, 1, stream)
    },
    content: (frame) => unescape(frame.subarray(1, frame.at(-1) === end ? -1 : undefined), escape, codes),
    wrap,
  }

  function wrap(content: Uint8Array): Buffer {
    const frame = Buffer.allocUnsafe(2 * content.length + 2)
    let to = 0
    frame[to++] = flag
    for (let at = 0; at < content.length; at++) {
      const code = codeOf[content[at]]
      if (code >= 0) frame[to++] = escape
      frame[to++] = code >= 0 ? code : content[at]
    }
    frame[to++] = end
    return frame.subarray(0, to)
  }
}

/**
 * Replaces each escaped byte by the one that it stands for; a view of `bytes` if there is nothing to replace. @throws
 * DecodeError `malformed`.
 */
export function unescape(bytes: Buffer, escape: number, codes: ReadonlyMap<number, number>): Buffer {
  let from = bytes.indexOf(escape)
  if (from < 0) return bytes
  const result = Buffer.from(bytes)
  let to = from
  for (; from < bytes.length; from++) {
    const byte = bytes[from] === escape ? codes.get(bytes[++from]) : bytes[from]
    if (byte === undefined) throw new DecodeError('malformed', 'an escape byte stands before a byte that is no code')
    result[to++] = byte
  }
  return result.subarray(0, to)
}

/** A frame whose escapes were undone, with its escapes; the flags at its beginning and its end stay. */
export function withEscapes(frame: Buffer, { escape, codes }: Escaping): Buffer {
  const codeOf = new Map([...codes].map(([code, byte]) => [byte, code]))
  const result = Buffer.alloc(2 * frame.length)
  let to = 0
  for (let at = 0; at < frame.length; at++) {
    const code = codeOf.get(frame[at])
    const isFlag = frame[at] !== escape && (at === 0 || at === frame.length - 1)
    if (code !== undefined && !isFlag) result[to++] = escape
    result[to++] = code === undefined || isFlag ? frame[at] : code
  }
  return result.subarray(0, to)
}

function skipTo(bytes: Buffer, flag: number): number {
  const at = bytes.indexOf(flag)
  return at < 0 ? bytes.length : at
}
