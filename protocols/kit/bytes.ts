import { inflateSync } from 'node:zlib'
import { DecodeError } from './errors.ts'

/**
 * A cursor over a frame, read in wire order. Every method checks the end of the frame, through `take`. Numbers are
 * big-endian; methods that end in `le` read little-endian ones.
 * @throws DecodeError `truncated` where the frame ends within a value.
 */
export class ByteReader {
  readonly #bytes: Buffer
  readonly #start: number
  readonly #end: number
  #at: number

  /** A reader of all bytes, or of those from `start` to before `end`. */
  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#start = start
    this.#end = end
    this.#at = start
  }

  /** Bytes not read yet. */
  get left(): number {
    return this.#end - this.#at
  }

  /** Bytes read so far. */
  get position(): number {
    return this.#at - this.#start
  }

  /** Moves past n bytes and returns where they begin; an n that is not a number is `truncated` too. */
  take(n: number): number {
    const at = this.#at
    if (!(n >= 0 && at + n <= this.#end)) throw new DecodeError('truncated')
    this.#at = at + n
    return at
  }

  skip(n: number): this {
    this.take(n)
    return this
  }

  /** A cursor of its own over the same bytes, at an index. @throws DecodeError `truncated` behind their end. */
  at(index: number): ByteReader {
    if (!(index >= 0 && this.#start + index <= this.#end)) throw new DecodeError('truncated')
    return new ByteReader(this.#bytes, this.#start + index, this.#end)
  }

  /** A cursor of its own n bytes further on: to look ahead. */
  ahead(n = 0): ByteReader {
    return this.at(this.position + n)
  }

  /** The next n bytes as a cursor of their own. */
  part(n: number): ByteReader {
    const at = this.take(n)
    return new ByteReader(this.#bytes, at, at + n)
  }

  /** The next byte, without moving; −1 at the end. */
  peek(): number {
    return this.#at < this.#end ? this.#bytes[this.#at] : -1
  }

  u8(): number {
    return this.#bytes[this.take(1)]
  }

  i8(): number {
    return (this.u8() << 24) >> 24
  }

  u16(): number {
    const at = this.take(2)
    return (this.#bytes[at] << 8) | this.#bytes[at + 1]
  }

  u16le(): number {
    const at = this.take(2)
    return this.#bytes[at] | (this.#bytes[at + 1] << 8)
  }

  i16(): number {
    const at = this.take(2)
    return ((this.#bytes[at] << 24) >> 16) | this.#bytes[at + 1]
  }

  i16le(): number {
    return (this.u16le() << 16) >> 16
  }

  /** An integer of 1 to 6 bytes: for formats that differ only in the width of a field. */
  uint(width: number): number {
    const at = this.take(width)
    if (width === 1) return this.#bytes[at]
    return width === 2 ? (this.#bytes[at] << 8) | this.#bytes[at + 1] : this.#bytes.readUIntBE(at, width)
  }

  uintle(width: number): number {
    const at = this.take(width)
    if (width === 1) return this.#bytes[at]
    return width === 2 ? this.#bytes[at] | (this.#bytes[at + 1] << 8) : this.#bytes.readUIntLE(at, width)
  }

  u24(): number {
    return this.#bytes.readUIntBE(this.take(3), 3)
  }

  u24le(): number {
    return this.#bytes.readUIntLE(this.take(3), 3)
  }

  i24(): number {
    return this.#bytes.readIntBE(this.take(3), 3)
  }

  i24le(): number {
    return this.#bytes.readIntLE(this.take(3), 3)
  }

  u32(): number {
    return this.i32() >>> 0
  }

  u32le(): number {
    return this.i32le() >>> 0
  }

  i32(): number {
    const b = this.#bytes
    const at = this.take(4)
    return (b[at] << 24) | (b[at + 1] << 16) | (b[at + 2] << 8) | b[at + 3]
  }

  i32le(): number {
    const b = this.#bytes
    const at = this.take(4)
    return b[at] | (b[at + 1] << 8) | (b[at + 2] << 16) | (b[at + 3] << 24)
  }

  /** Exact up to 2^53; above that the nearest number. */
  u64(): number {
    const b = this.#bytes
    const at = this.take(8)
    const high = (b[at] << 24) | (b[at + 1] << 16) | (b[at + 2] << 8) | b[at + 3]
    const low = (b[at + 4] << 24) | (b[at + 5] << 16) | (b[at + 6] << 8) | b[at + 7]
    return (high >>> 0) * 0x1_0000_0000 + (low >>> 0)
  }

  /** Exact up to 2^53; above that the nearest number. */
  u64le(): number {
    const low = this.u32le()
    return this.u32le() * 0x1_0000_0000 + low
  }

  f32(): number {
    return floatOf(this.i32())
  }

  f32le(): number {
    return floatOf(this.i32le())
  }

  f64(): number {
    return this.#bytes.readDoubleBE(this.take(8))
  }

  f64le(): number {
    return this.#bytes.readDoubleLE(this.take(8))
  }

  /** An integer of 7 bits a byte, the lowest first (LEB128), as Protocol Buffers have it. Above 2^53 it is not exact. @throws DecodeError */
  varint(): number {
    let value = 0
    for (let factor = 1; factor < 2 ** 70; factor *= 128) {
      const byte = this.u8()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
    throw new DecodeError('malformed', 'a number of more than 70 bits')
  }

  /** The decimal digits of an unsigned integer of 8 bytes, exact beyond 2^53. */
  digits64(): string {
    return this.#bytes.readBigUInt64BE(this.take(8)).toString()
  }

  digits64le(): string {
    return this.#bytes.readBigUInt64LE(this.take(8)).toString()
  }

  /** n bytes as 2n hexadecimal digits. */
  hex(n: number): string {
    const at = this.take(n)
    return this.#bytes.toString('hex', at, at + n)
  }

  /** n bytes of packed decimals (BCD) as 2n digits. @throws DecodeError `malformed` where a nibble is not a digit. */
  bcd(n: number): string {
    const digits = this.hex(n)
    if (!DIGITS.test(digits)) throw new DecodeError('malformed', `"${digits}" is not packed decimals`)
    return digits
  }

  /** The number that one byte of packed decimals is: 0 to 99. @throws DecodeError `malformed`. */
  bcdByte(): number {
    const byte = this.u8()
    const [tens, ones] = [byte >> 4, byte & 0x0f]
    if (tens > 9 || ones > 9) throw new DecodeError('malformed', `"${byte.toString(16)}" is not packed decimals`)
    return tens * 10 + ones
  }

  /** n bytes as Latin-1 text. */
  ascii(n: number): string {
    const at = this.take(n)
    return this.#bytes.toString('latin1', at, at + n)
  }

  /** The 15 digits of an IMEI as text. @throws DecodeError `malformed` */
  imei(): string {
    const digits = this.ascii(15)
    if (!IMEI.test(digits)) throw new DecodeError('malformed', 'the frame has no IMEI')
    return digits
  }

  /** Latin-1 text up to a byte, which is read too; to the end of the frame where that byte is missing. */
  asciiUntil(end: number): string {
    const found = this.#bytes.indexOf(end, this.#at)
    const isThere = found >= 0 && found < this.#end
    const text = this.ascii((isThere ? found : this.#end) - this.#at)
    if (isThere) this.#at++
    return text
  }

  /** A view of n bytes; left out: of all that are left. */
  slice(n = this.left): Buffer {
    const at = this.take(n)
    return this.#bytes.subarray(at, at + n)
  }
}

const IMEI = /^\d{15}$/
const DIGITS = /^[0-9]*$/

/** The number of hexadecimal digits that are packed decimals; undefined of others, by which devices say that they do not know it. */
export const packedNumber = (digits: string): number | undefined => (DIGITS.test(digits) ? Number(digits) : undefined)

/** The number of the 32 bits of a float. Buffer's methods take longer: they write it byte by byte. */
function floatOf(bits: number): number {
  BITS[0] = bits
  return FLOAT[0]
}

const BITS = new Int32Array(1)
const FLOAT = new Float32Array(BITS.buffer)

/** The content of zlib-compressed bytes, at most `limit` bytes. @throws DecodeError `malformed`. */
export function inflate(bytes: Buffer, limit: number): Buffer {
  try {
    return inflateSync(bytes, { maxOutputLength: limit })
  } catch {
    throw new DecodeError('malformed', `it is not zlib data of at most ${limit} bytes`)
  }
}

/** The signed number that an unsigned one of Protocol Buffers stands for. */
export function zigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}
