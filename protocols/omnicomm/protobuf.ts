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
    const tag = varint(r)
    const field = Math.floor(tag / 8)
    const kind = tag % 8
    if (kind === VARINT) {
      const value = varint(r)
      current?.set(field, value)
    } else if (kind === GROUP) groups.set(field, (current = new Map()))
    else if (kind === END_GROUP) current = undefined
    else if (kind === BYTES) r.skip(varint(r))
    else if (kind === FIXED32 || kind === FIXED64) r.skip(kind === FIXED32 ? 4 : 8)
    else throw new DecodeError('malformed', `a field of type ${kind}`)
  }
  return groups
}

/** The signed number that an unsigned one stands for (zigzag). */
export function signed(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}

function varint(r: ByteReader): number {
  let value = 0
  for (let factor = 1; factor < 2 ** 49; factor *= 128) {
    const byte = r.u8()
    value += (byte & 0x7f) * factor
    if (byte < 0x80) return value
  }
  throw new DecodeError('malformed', 'a number of more than 49 bits')
}
