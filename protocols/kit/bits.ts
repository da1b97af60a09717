import { DecodeError } from './errors.ts'

/** A cursor over bits, the most significant of each byte first. @throws DecodeError `truncated`. */
export class BitReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Bits not read yet. */
  get left(): number {
    return this.#bytes.length * 8 - this.#at
  }

  /** An unsigned integer of 1 to 53 bits. */
  u(bits: number): number {
    if (!(bits >= 0 && bits <= this.left)) throw new DecodeError('truncated')
    let value = 0
    for (const end = this.#at + bits; this.#at < end; this.#at++)
      value = value * 2 + ((this.#bytes[this.#at >> 3] >> (7 - (this.#at & 7))) & 1)
    return value
  }

  /** A two's complement integer of 1 to 53 bits. */
  i(bits: number): number {
    const value = this.u(bits)
    return value >= 2 ** (bits - 1) ? value - 2 ** bits : value
  }

  skip(bits: number): this {
    if (!(bits >= 0 && bits <= this.left)) throw new DecodeError('truncated')
    this.#at += bits
    return this
  }
}

/**
 * The parts of an integer of at most 32 bits, by their widths from the most significant on:
 * `splitBits(0b1010_0011, 4, 4)` is [10, 3].
 */
export function splitBits(value: number, ...widths: readonly number[]): number[] {
  let right = widths.reduce((sum, width) => sum + width, 0)
  return widths.map((width) => {
    right -= width
    return Math.floor((value >>> 0) / 2 ** right) % 2 ** width
  })
}

/** An integer of `bits` bits: the highest one is the sign, the others are the amount. */
export function signMagnitude(value: number, bits: number): number {
  const half = 2 ** (bits - 1)
  return value >= half ? half - value : value
}
