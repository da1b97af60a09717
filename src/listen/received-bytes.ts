/** Bytes of a stream or body that is not complete yet. */
export class ReceivedBytes {
  bytes: Buffer = EMPTY
  /** Bytes of memory in use. */
  size = 0
  /** Where `bytes` are, with free space behind them; empty while they are a chunk as it arrived. */
  #buffer: Buffer = EMPTY

  /** Appends bytes. The cost is that of the new bytes, however small the chunks are. */
  append(more: Buffer): void {
    const { bytes } = this
    if (bytes.length === 0) {
      this.bytes = more
      this.size = more.length
      return
    }
    const length = bytes.length + more.length
    if (length > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(length * 2)
      this.#buffer.set(bytes)
    }
    this.#buffer.set(more, bytes.length)
    this.bytes = this.#buffer.subarray(0, length)
    this.size = this.#buffer.length
  }

  /** Keeps only the end of the bytes, as a copy: views of the others may be in use. */
  keep(rest: Buffer): void {
    if (rest.length === this.bytes.length) return
    this.#buffer = EMPTY
    // Not from Node's pool: a few bytes would keep a whole slab in memory.
    this.bytes = rest.length === 0 ? EMPTY : Buffer.allocUnsafeSlow(rest.length)
    this.bytes.set(rest)
    this.size = rest.length
  }
}

const EMPTY = Buffer.alloc(0)
