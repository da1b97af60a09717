/*
 * Blue (of one maker): no specification is known, inferred from frames. Big-endian. TCP.
 *
 *   AA LLLL vv ss IIIIIIII (nn TT …)… KK
 *
 *   L  length behind AA     I  id     K  exclusive or of all between AA and it
 *   n  bytes of an item     T  type
 *   01  x{5} dddd mmmm dddd mmmm x{7} YYMMDDhhmmss …       position
 *   12  x{6} s …                                           state: of s, bit 3 alone: ignition, bit 2 alone: none
 *   84  cccc …                                             a state that is answered by its number, the first byte of c
 *
 *   d, m  latitude and longitude: degrees and minutes (ddmm), decimals of the minutes (1e-4)
 *   The frames show only places in the north-east, with a fix. Answer to 84: AA 000B 86 00 06 A4 00 c 0000 KK
 */
import {
  ByteReader,
  ByteWriter,
  bytesYmd,
  DecodeError,
  degreesMinutes,
  eachReadable,
  enveloped,
  type Fix,
  lengthField,
  type Message,
  type Protocol,
  type Said,
  type Session,
  verified,
  xor,
} from '../kit/index.ts'

export default {
  name: 'blue',
  devices: 'Blue trackers',
  acknowledges: 'some',
  integrity: { checksum: 'exclusive or', covers: [3, -1] },
  tcp: { port: 5206, frame: lengthField({ start: 0xaa, at: 1, width: 2, add: 1, most: 2048 }) },
  decode,
} satisfies Protocol

const POSITION = 0x01
const STATE = 0x12
const QUESTION = 0x84
const [ON, OFF] = [8, 4]
const IGNITION = ON | OFF
const FIRST_ITEM = 0x80
const SHORTEST_ITEM = 3

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: xor, from: 1, width: 1 }, session))
  const device = String(r.skip(4).u32())
  const content: Content = { positions: [], isKnown: true }
  // A position is not lost for a damaged item behind it.
  while (r.left >= 2 && (content.positions.length === 0 || beginsItem(r))) readItem(r, content)
  const { asked, state, positions, isKnown } = content
  return enveloped({ device, reply: asked === undefined ? undefined : answer(asked) }, () => {
    const more = state && saidOf(state)
    const { good, unreadable } = eachReadable(positions, (value) => ({ ...fixOf(value), said: more }))
    if (good.length > 0) return { fixes: good, unreadable }
    return isKnown ? { none: 'status', said: more } : {}
  })
}

interface Content {
  readonly positions: ByteReader[]
  state?: ByteReader
  /** The number of the last question. */
  asked?: number
  /** Whether all items are of types that hold no position, or are read. */
  isKnown: boolean
}

function beginsItem(r: ByteReader): boolean {
  const length = r.peek()
  return length >= SHORTEST_ITEM && length <= r.left
}

function readItem(r: ByteReader, content: Content): void {
  const length = r.u8()
  const type = r.u8()
  if (length < SHORTEST_ITEM) throw new DecodeError('malformed', `an item has ${length} bytes, fewer than its own head`)
  const value = r.part(length - 2)
  if (type === POSITION) content.positions.push(value)
  else if (type === STATE) content.state ??= value
  else if (type === QUESTION) content.asked = value.u8()
  else if (type < FIRST_ITEM) content.isKnown = false
}

function saidOf(r: ByteReader): Said | undefined {
  const bits = r.left > 6 ? r.skip(6).u8() & IGNITION : 0
  return bits === ON || bits === OFF ? { ignition: bits === ON } : undefined
}

function fixOf(r: ByteReader): Fix {
  const latitude = angle(r.skip(5))
  const longitude = angle(r)
  return { time: bytesYmd(r.skip(7)), latitude, longitude, valid: true }
}

function angle(r: ByteReader): number {
  return degreesMinutes(r.u16() + r.u16() / 1e4)
}

function answer(number: number): Buffer {
  return new ByteWriter().hex('aa000b860006a400').u8(number).u16(0).xor(1).toBuffer()
}
