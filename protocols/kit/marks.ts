import { type Stream, StreamState } from './protocol.ts'

/** Bytes that frames begin or end with: text (Latin-1), one byte, or several. */
export type Mark = string | number | Uint8Array

/** Finds any of several marks in a stream. */
export class Marks {
  readonly all: readonly Buffer[]
  readonly #firsts = new Uint8Array(256)

  constructor(marks: Mark | readonly Mark[]) {
    this.all = (Array.isArray(marks) ? marks : [marks]).map((mark) => bytesOf(mark))
    if (this.all.length === 0 || this.all.some(({ length }) => length === 0))
      throw new RangeError('a mark has no bytes')
    for (const mark of this.all) this.#firsts[mark[0]] = 1
  }

  /** The length of the first mark, in their order, that is at an index; 0: none is; −1: the bytes end within one. */
  lengthAt(bytes: Buffer, at: number): number {
    if (at >= bytes.length) return -1
    if (this.#firsts[bytes[at]] === 0) return 0
    let partial = 0
    for (const mark of this.all) {
      let i = 0
      while (i < mark.length && bytes[at + i] === mark[i]) i++
      if (i === mark.length) return i
      if (at + i >= bytes.length) partial = -1
    }
    return partial
  }

  /**
   * Index of the first mark, or of the beginning of one at the end of the bytes; the number of bytes if there is
   * neither.
   */
  next(bytes: Buffer, from: number): number {
    const firsts = this.#firsts
    let at = from
    while (at < bytes.length && (firsts[bytes[at]] === 0 || this.lengthAt(bytes, at) === 0)) at++
    return at
  }
}

/**
 * Finds where a frame ends that arrives in many parts. The stream remembers how far it has looked, so that each byte is
 * looked at once, in however small parts a long frame arrives.
 */
export class EndSearch {
  readonly #ends: Marks
  /** The only end there is; one byte is found faster as a number. */
  readonly #end: Buffer | number | undefined
  readonly #longest: number
  readonly #looked = new StreamState<Looked>()

  constructor(ends: Mark | readonly Mark[]) {
    this.#ends = new Marks(ends)
    const { all } = this.#ends
    this.#longest = Math.max(...all.map(({ length }) => length))
    if (all.length === 1) this.#end = this.#longest === 1 ? all[0][0] : all[0]
  }

  /** Index behind the first end that begins at or after `from`; 0 if there is none yet. */
  after(bytes: Buffer, from: number, stream: Stream): number {
    const isLong = bytes.length >= LONG
    const at = isLong ? Math.max(from, this.#resume(bytes, stream)) : from
    const end = this.#end
    const found = end === undefined ? this.#next(bytes, at) : bytes.indexOf(end, at)
    if (found >= 0) return found + (end === undefined ? this.#ends.lengthAt(bytes, found) : this.#longest)
    if (isLong) this.#looked.set(stream, { length: bytes.length, tail: Buffer.from(bytes.subarray(-TAIL)) })
    return 0
  }

  #next(bytes: Buffer, from: number): number {
    for (let at = this.#ends.next(bytes, from); at < bytes.length; at = this.#ends.next(bytes, at + 1))
      if (this.#ends.lengthAt(bytes, at) > 0) return at
    return -1
  }

  /** Where to go on, if these are the bytes that were looked at before, and more. */
  #resume(bytes: Buffer, stream: Stream): number {
    const looked = this.#looked.of(stream)
    if (!looked) return 0
    this.#looked.drop(stream)
    const { length, tail } = looked
    if (bytes.length < length || tail.compare(bytes, length - TAIL, length) !== 0) return 0
    return length - this.#longest + 1
  }
}

interface Looked {
  readonly length: number
  /** The last bytes that were looked at: other bytes end otherwise. */
  readonly tail: Buffer
}

/** Looking at fewer bytes again costs less than remembering. */
const LONG = 1024
const TAIL = 32

function bytesOf(mark: Mark): Buffer {
  return typeof mark === 'string' ? Buffer.from(mark, 'latin1') : Buffer.from(typeof mark === 'number' ? [mark] : mark)
}
