import { DecodeError } from './errors.ts'
import { type Mark, Marks } from './marks.ts'
import type { Framer, Message, Session } from './protocol.ts'

/** One of several kinds of frames that a protocol has. */
interface Dialect {
  /**
   * What its frames begin with, or a test whether a stream begins with one; undefined: all that no other dialect takes.
   */
  readonly when?: Mark | readonly Mark[] | ((bytes: Buffer) => boolean | 'maybe')
  readonly frame: Framer
  /** Reads the frames of this kind; without it, `decode` of the protocol does. */
  readonly decode?: (frame: Buffer, session: Session) => Message
}

/**
 * A protocol that has several kinds of frames: the first that fits a beginning frames it and decodes it. Bytes that fit none
 * are skipped up to the next that may.
 */
export function dialects(list: readonly Dialect[]): {
  frame: Framer
  decode(frame: Buffer, session: Session): Message
} {
  const tests = list.map(({ when = () => true }) => (typeof when === 'function' ? when : beginsWith(when)))
  const starts = list.map(({ when }) => when).filter((when) => when !== undefined && typeof when !== 'function')
  const marks = starts.length === list.length ? new Marks(starts.flat()) : undefined
  return {
    frame(bytes, stream) {
      for (let i = 0; i < list.length; i++) {
        const fits = tests[i](bytes)
        if (fits !== false) return fits === 'maybe' ? 0 : list[i].frame(bytes, stream)
      }
      return -(marks ? marks.next(bytes, 1) : 1)
    },
    decode(frame, session) {
      for (let i = 0; i < list.length; i++) {
        const fits = tests[i](frame)
        const { decode: read } = list[i]
        if (fits === true && read) return read(frame, session)
        if (fits !== false) break
      }
      throw new DecodeError('unsupported', 'the frame begins like no frame of this protocol')
    },
  }
}

function beginsWith(when: Mark | readonly Mark[]): (bytes: Buffer) => boolean | 'maybe' {
  const marks = new Marks(when)
  return (bytes) => {
    const length = marks.lengthAt(bytes, 0)
    return length > 0 || (length < 0 && 'maybe')
  }
}
