import type { ByteReader } from './bytes.ts'

/** One tagged value. The reader holds only the bytes of the value. */
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
  const isBig = endian === 'big'
  const isTagFirst = order === 'tag, length'
  const widths = isTagFirst ? [layout.tag, layout.length] : [layout.length, layout.tag]
  while (r.left >= layout.tag + layout.length) {
    const first = isBig ? r.uint(widths[0]) : r.uintle(widths[0])
    const second = isBig ? r.uint(widths[1]) : r.uintle(widths[1])
    const length = (isTagFirst ? second : first) - counted
    if (!(length >= 0 && length <= r.left)) return
    yield { tag: isTagFirst ? first : second, value: r.part(length) }
  }
}
