/*
 * Codecs 12 to 15: commands and their answers. Nothing of them is a position and, but for one, nothing is answered: a
 * camera (type 0D of codec 12) offers its photo again and again until the server has asked for all of it.
 *
 *   0C 01 0D LLLLLLLL FF PPPPPPPP [OOOOOOOO NNNN data] 01
 *
 *   L  length from F to the data    P  id of the photo          N  length of the data, or of what is asked for
 *   F  01: offer, 02: data          O  offset of the data       Answer: 02, asking for the next piece, in an envelope
 */
import { ByteReader, crc16Arc, type Message } from '../kit/index.ts'

/** What a command frame's content (codec to second number) is answered. */
export function command(content: Buffer): Message {
  if (content[0] !== 0x0c || content[2] !== CAMERA) return {}
  const r = new ByteReader(content).skip(7)
  const kind = r.u8()
  if (kind === OFFER) return { reply: request(r.slice(4), 0) }
  if (kind !== DATA) return {}
  const photo = r.slice(4)
  const offset = r.u32()
  const length = r.u16()
  return length < PIECE ? {} : { reply: request(photo, offset + length) }
}

const CAMERA = 0x0d
const OFFER = 1
const DATA = 2
const PIECE = 2048

function request(photo: Buffer, offset: number): Buffer {
  const reply = Buffer.alloc(31)
  reply.writeUInt32BE(19, 4)
  reply.set([0x0c, 1, CAMERA, 0, 0, 0, 11, DATA, ...photo], 8)
  reply.writeUInt32BE(offset >>> 0, 20)
  reply.writeUInt16BE(PIECE, 24)
  reply[26] = 1
  reply.writeUInt32BE(crc16Arc(reply.subarray(8, 27)), 27)
  return reply
}
