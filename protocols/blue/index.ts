/*
 * Blue (of one maker): no specification is known, inferred from frames. Big-endian. TCP.
 *
 *   AA LLLL vv ss IIIIIIII (nn TT …)… KK
 *
 *   L  length behind AA, the checksum not counted     I  id     K  exclusive or of all between AA and it
 *   n  bytes of an item of type 80 and above     T  type
 *   01  x{5} dddd mmmm dddd mmmm x{7} YYMMDDhhmmss …       position, the last item that is read
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
  type Fix,
  lengthField,
  type Message,
  type Protocol,
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
const STATE = 0x84
const FIRST_ITEM = 0x80

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: xor, from: 1, width: 1 }, session))
  const device = String(r.skip(4).u32())
  let reply: Buffer | undefined
  while (r.left >= 2) {
    const length = r.u8()
    const type = r.u8()
    if (type === POSITION) return { device, fixes: [fixOf(r)], reply }
    if (type < FIRST_ITEM) return { device, reply }
    if (length < 3) throw new DecodeError('malformed', `an item has ${length} bytes, fewer than its own head`)
    const number = r.u8()
    r.skip(length - 3)
    if (type === STATE) reply = answer(number)
  }
  return { device, none: 'status', reply }
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
