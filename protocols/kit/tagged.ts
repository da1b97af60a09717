import type { ByteReader } from './bytes.ts'

/** One tagged value; the reader holds the value alone. */
interface TaggedValue {
  readonly tag: number
  readonly value: ByteReader
}

/** How many bytes a tag and a length take; `order`: which comes first. */
interface TagLayout {
  readonly tag: 1 | 2
  readonly length: 1 | 2
  readonly endian?: 'big' | 'little'
  readonly order?: 'tag, length' | 'length, tag'
  /** What the length counts besides the value. */
  readonly counted?: number
}

/**
 * The tagged values up to the end of the reader. It stops where no whole one follows: filling bytes, or a layout that is not
 * known; `r.left` tells.
 */
export function* tlv(r: ByteReader, layout: TagLayout): Generator<TaggedValue, void> {
  const { endian = 'big', order = 'tag, length', counted = 0 } = layout
  const integer = (width: number) => (endian === 'big' ? r.uint(width) : r.uintle(width))
  while (r.left >= layout.tag + layout.length) {
    const first = integer(order === 'tag, length' ? layout.tag : layout.length)
    const second = integer(order === 'tag, length' ? layout.length : layout.tag)
    const [tag, length] = order === 'tag, length' ? [first, second - counted] : [second, first - counted]
    if (!(length >= 0 && length <= r.left)) return
    yield { tag, value: r.part(length) }
  }
}
