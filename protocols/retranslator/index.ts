/*
 * Wialon Retranslator (Gurtam: "Wialon Retranslator" 1.0): what Wialon forwards of its units. TCP; no checksum.
 *
 *   LLLLLLLL id 00 TTTTTTTT FFFFFFFF block…                answer: 11
 *   block    0BBB SSSSSSSS h t name 00 value
 *   value of the name "posinfo", t = 2:  OOOOOOOOOOOOOOOO AAAAAAAAAAAAAAAA HHHHHHHHHHHHHHHH VVVV CCCC n
 *
 *   L  length behind it, little-endian      S  length of the block behind it      O, A, H  longitude, latitude, metres:
 *   T  unix seconds                         h  hidden                                      little-endian doubles
 *   F  flags                                t  type of the value                  V  km/h    C  degrees    n  satellites
 */
import { ByteReader, type Fix, heading, kmh, lengthField, type Message, type Protocol } from '../kit/index.ts'

export default {
  name: 'retranslator',
  devices: 'units of Wialon, forwarded by its retranslator',
  acknowledges: 'fixes',
  tcp: { port: 5167, frame: lengthField({ at: 0, width: 4, endian: 'little', add: 4 }) },
  decode,
} satisfies Protocol

const BLOCK = 0x0bbb
const BINARY = 2
const ACK = Buffer.from([0x11])

function decode(frame: Buffer): Message {
  const r = new ByteReader(frame).skip(4)
  const device = r.asciiUntil(0)
  const time = r.u32() * 1000
  r.skip(4)
  while (r.left >= 6 && r.u16() === BLOCK) {
    const block = new ByteReader(r.slice(r.u32()))
    const type = block.skip(1).u8()
    if (block.asciiUntil(0) === 'posinfo' && type === BINARY)
      return { device, fixes: [positionOf(block, time)], reply: ACK }
  }
  return { device, none: 'no place', reply: ACK }
}

function positionOf(r: ByteReader, time: number): Fix {
  const longitude = r.f64le()
  const latitude = r.f64le()
  const altitude = r.f64le()
  const speed = kmh(r.u16())
  const course = heading(r.u16())
  const satellites = r.u8()
  return { time, latitude, longitude, valid: true, altitude, speed, heading: course, satellites }
}
