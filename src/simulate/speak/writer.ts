/** Fills a buffer of known length in wire order; big-endian. */
export class ByteWriter {
  readonly bytes: Buffer
  #at = 0

  constructor(length: number) {
    this.bytes = Buffer.alloc(length)
  }

  u8(value: number): this {
    this.#at = this.bytes.writeUInt8(value, this.#at)
    return this
  }

  u16(value: number): this {
    this.#at = this.bytes.writeUInt16BE(value, this.#at)
    return this
  }

  i16(value: number): this {
    this.#at = this.bytes.writeInt16BE(value, this.#at)
    return this
  }

  u24(value: number): this {
    this.#at = this.bytes.writeUIntBE(value, this.#at, 3)
    return this
  }

  u32(value: number): this {
    this.#at = this.bytes.writeUInt32BE(value, this.#at)
    return this
  }

  i32(value: number): this {
    this.#at = this.bytes.writeInt32BE(value, this.#at)
    return this
  }

  u64(value: number): this {
    return this.u32(Math.floor(value / 0x1_0000_0000)).u32(value % 0x1_0000_0000)
  }

  put(bytes: Uint8Array): this {
    this.bytes.set(bytes, this.#at)
    this.#at += bytes.length
    return this
  }
}
