import { ByteReader, DecodeError } from '../kit/index.ts'

/** Numbers by field. */
type Fields = Map<number, number>

const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const GROUP = 3
const END_GROUP = 4
const FIXED32 = 5

/** The numbers in the groups of a record of Protocol Buffers, by the field of the group. @throws DecodeError */
export function fieldsOf(bytes: Buffer): ReadonlyMap<number, Fields> {
  const r = new ByteReader(bytes)
  const groups = new Map<number, Fields>()
  let current: Fields | undefined
  while (r.left > 0) {
    const tag = r.varint()
    const field = Math.floor(tag / 8)
    const kind = tag % 8
    if (kind === VARINT) {
      const value = r.varint()
      current?.set(field, value)
    } else if (kind === GROUP) groups.set(field, (current = new Map()))
    else if (kind === END_GROUP) current = undefined
    else if (kind === BYTES) r.skip(r.varint())
    else if (kind === FIXED32 || kind === FIXED64) r.skip(kind === FIXED32 ? 4 : 8)
    else throw new DecodeError('malformed', `a field of type ${kind}`)
  }
  return groups
}
