/**
 * What a thread hears just now, in memory that another thread sees: a decoder that never returns cannot say so itself.
 */
export class Watch {
  readonly memory: SharedArrayBuffer
  readonly #numbers: Int32Array
  readonly #bytes: Uint8Array

  constructor(memory = new SharedArrayBuffer(HEAD + MOST_BYTES)) {
    this.memory = memory
    this.#numbers = new Int32Array(memory, 0, 3)
    this.#bytes = new Uint8Array(memory, HEAD)
  }

  /** Notes a frame before it is heard, with the place of its protocol in the list of all. */
  note(protocol: number, frame: Buffer): void {
    const length = Math.min(frame.length, MOST_BYTES)
    this.#bytes.set(frame.subarray(0, length))
    this.#numbers[1] = protocol
    this.#numbers[2] = length
    Atomics.add(this.#numbers, 0, 1)
  }

  /** How many frames were noted. */
  get count(): number {
    return Atomics.load(this.#numbers, 0)
  }

  /** The frame that was noted last. */
  get last(): { readonly protocol: number; readonly frame: Buffer } {
    const [, protocol, length] = this.#numbers
    return { protocol, frame: Buffer.from(this.#bytes.slice(0, length)) }
  }
}

const HEAD = 16
const MOST_BYTES = 70_000
