import { type Checksum, sum8, xor, xorOfText } from './checksum.ts'

/** Writes an answer in wire order. Numbers are big-endian; methods that end in `le` write little-endian ones. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(32)
  #length = 0

  /** Bytes written so far. */
  get length(): number {
    return this.#length
  }

  u8(value: number): this {
    const at = this.#grow(1)
    this.#bytes[at] = value
    return this
  }

  u16(value: number): this {
    const at = this.#grow(2)
    this.#bytes[at] = value >> 8
    this.#bytes[at + 1] = value
    return this
  }

  u16le(value: number): this {
    const at = this.#grow(2)
    this.#bytes[at] = value
    this.#bytes[at + 1] = value >> 8
    return this
  }

  u32(value: number): this {
    return this.u16(value >>> 16).u16(value)
  }

  u32le(value: number): this {
    return this.u16le(value).u16le(value >>> 16)
  }

  /** An unsigned integer of 8 bytes, exact up to 2^53. */
  u64(value: number): this {
    return this.u32(Math.floor(value / 0x1_0000_0000)).u32(value)
  }

  u64le(value: number): this {
    return this.u32le(value).u32le(Math.floor(value / 0x1_0000_0000))
  }

  bytes(bytes: Uint8Array | readonly number[]): this {
    const at = this.#grow(bytes.length)
    this.#bytes.set(bytes, at)
    return this
  }

  /** Pairs of hexadecimal digits: a digest, an id, packed decimals. */
  hex(digits: string): this {
    const at = this.#grow(digits.length >> 1)
    this.#length = at + this.#bytes.write(digits, at, 'hex')
    return this
  }

  /** Latin-1 text. */
  ascii(text: string): this {
    const at = this.#grow(text.length)
    for (let i = 0; i < text.length; i++) this.#bytes[at + i] = text.charCodeAt(i)
    return this
  }

  /** A time in six bytes: year of the century, month, day, hour, minute, second, UTC. */
  ymdhms(time: number): this {
    return this.bytes(dateTimeOf(time))
  }

  /** The same in packed decimals. */
  bcdTime(time: number): this {
    return this.hex(digitsOfTime(time))
  }

  /** A checksum of one byte over all that is written from an index on. */
  sum(checksum: Checksum, from = 0): this {
    return this.u8(checksum(this.#written(from)))
  }

  /** Exclusive or of all that is written from an index on. */
  xor(from = 0): this {
    return this.sum(xor, from)
  }

  sum8(from = 0): this {
    return this.sum(sum8, from)
  }

  /** A checksum of two bytes over all that is written from an index on. */
  crc16(checksum: Checksum, from = 0): this {
    return this.u16(checksum(this.#written(from)))
  }

  crc16le(checksum: Checksum, from = 0): this {
    return this.u16le(checksum(this.#written(from)))
  }

  /** What is written. */
  toBuffer(): Buffer {
    return this.#written(0)
  }

  #written(from: number): Buffer {
    return this.#bytes.subarray(from, this.#length)
  }

  /** Makes room for n bytes and returns where they begin. */
  #grow(n: number): number {
    const at = this.#length
    this.#length += n
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(this.#length * 2)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    return at
  }
}

/** Writes an answer of text in order, with its checksum in hexadecimal digits. */
export class TextWriter {
  #text = ''
  readonly #case: 'upper' | 'lower'

  constructor(hexCase: 'upper' | 'lower' = 'upper') {
    this.#case = hexCase
  }

  text(text: string): this {
    this.#text += text
    return this
  }

  /** A number in hexadecimal digits, at least `digits` of them. */
  hex(value: number, digits: number): this {
    const text = value.toString(16).padStart(digits, '0')
    return this.text(this.#case === 'upper' ? text.toUpperCase() : text)
  }

  /** Two digits: exclusive or of all characters from an index on. */
  xor(from = 0): this {
    return this.hex(xorOfText(this.#text, from), 2)
  }

  /** Two digits: the lowest eight bits of the sum of all characters from an index on. */
  sum8(from = 0): this {
    return this.hex(sum8(this.toBuffer().subarray(from)), 2)
  }

  /** Four digits: a checksum over all characters from an index on. */
  crc16(checksum: Checksum, from = 0): this {
    return this.hex(checksum(this.toBuffer().subarray(from)), 4)
  }

  /** What is written, in Latin-1. */
  toBuffer(): Buffer {
    return Buffer.from(this.#text, 'latin1')
  }
}

/** A time as digits, UTC: YYMMDDhhmmss. */
export function digitsOfTime(time: number): string {
  return dateTimeOf(time)
    .map((part) => String(part).padStart(2, '0'))
    .join('')
}

function dateTimeOf(time: number): number[] {
  const at = new Date(time)
  const date = [at.getUTCFullYear() % 100, at.getUTCMonth() + 1, at.getUTCDate()]
  return [...date, at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]
}
