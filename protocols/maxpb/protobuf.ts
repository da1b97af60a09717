import { ByteReader, DecodeError } from '../kit/index.ts'

const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const FIXED32 = 5

/** A message of Protocol Buffers; of a field that comes again the first one counts. */
class ProtobufMessage {
  readonly #numbers = new Map<number, number>()
  readonly #bytes = new Map<number, Buffer>()

  constructor(bytes: Buffer) {
    const r = new ByteReader(bytes)
    while (r.left > 0) {
      const tag = r.varint()
      const field = Math.floor(tag / 8)
      const kind = tag % 8
      if (kind === BYTES) {
        const value = r.slice(r.varint())
        if (!this.#bytes.has(field)) this.#bytes.set(field, value)
      } else {
        const value = numberOf(r, kind)
        if (!this.#numbers.has(field)) this.#numbers.set(field, value)
      }
    }
  }

  /** A field that is a number: as it is, without sign. */
  number(field: number): number | undefined {
    return this.#numbers.get(field)
  }

  /** A field that is a message itself. @throws DecodeError */
  message(field: number): ProtobufMessage | undefined {
    const bytes = this.#bytes.get(field)
    return bytes === undefined ? undefined : new ProtobufMessage(bytes)
  }
}

/** A message from its bytes. @throws DecodeError */
export const messageOf = (bytes: Buffer): ProtobufMessage => new ProtobufMessage(bytes)

function numberOf(r: ByteReader, kind: number): number {
  if (kind === VARINT) return r.varint()
  if (kind === FIXED32) return r.u32le()
  if (kind === FIXED64) return r.u64le()
  throw new DecodeError('malformed', `a field of type ${kind}`)
}
