/*
 * AT2000. No specification is known: inferred from frames, whose records are encrypted with AES-128 in CBC mode. All that are
 * known use the key that the standard of AES gives as its example. Little-endian. TCP, in blocks of 16 bytes.
 *
 *   01 01 2F 00{13} 00 IIIIIIIIIIIIIII VVVV… CCCC…       login: answer 88 00{15}, which asks for the records
 *   89 LLLLLLLL 00{11} records                           filled up to a block; L 0: there are none
 *
 *   I  IMEI, text     V  16 bytes, the first vector of CBC     C  a block of which four bytes are not 0     L  length of the records
 *
 *   record, decrypted   00000000 TTTTTTTTTTTTTTTT yyyyyyyy oooooooo HHHHHHHH SSSSSSSS GGGGGGGG x{30} s
 *
 *   T  unix seconds     y, o  latitude, longitude, degrees     H  metres     S  km/h     G  degrees: all floats
 *   s  satellites; FF: no fix
 *
 * The blocks of a connection are one chain. An answer may hold weeks: it is taken in parts of whole blocks and records.
 */
import { createDecipheriv, type Decipheriv } from 'node:crypto'
import {
  ByteReader,
  DecodeError,
  eachReadable,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  type Session,
  type Stream,
  sessionState,
} from '../kit/index.ts'

export default {
  name: 'at2000',
  devices: 'AT2000',
  tcp: { port: 5128, frame: frameLength },
  decode,
} satisfies Protocol

const KEY = Buffer.from(Array.from({ length: 16 }, (_, i) => i))
const LOGIN = Buffer.from('01012f00000000000000000000000000', 'hex')
const RECORDS = 0x89
const ASK = Buffer.alloc(16)
ASK[0] = 0x88
const BLOCK = 16
const LOGIN_LENGTH = 64
const RECORD = 63
/** The longest part of an answer: whole blocks, whole records. */
const PART = 32 * BLOCK * RECORD
const NO_FIX = 0xff

const conversations = sessionState(() => ({
  /** Bytes of an answer that the framer has not taken yet. */
  coming: 0,
  /** Bytes of its records that were not decoded yet. */
  left: 0,
  /** Goes on with the chain of blocks. */
  cipher: undefined as Decipheriv | undefined,
  /** The last block of the login, and the last block of all. */
  first: Buffer.alloc(BLOCK),
  last: Buffer.alloc(BLOCK),
}))

function frameLength(bytes: Buffer, stream: Stream): number {
  const known = conversations(stream)
  const isPart = known.coming > 0
  if (!isPart && bytes[0] !== LOGIN[0] && bytes[0] !== RECORDS) return -1
  if (!isPart && LOGIN.subarray(0, bytes.length).equals(bytes.subarray(0, BLOCK)))
    return bytes.length < LOGIN_LENGTH ? 0 : LOGIN_LENGTH
  if (!isPart && !isAnswer(bytes)) return -1
  if (!isPart && bytes.length < BLOCK) return 0
  const coming = isPart ? known.coming : Math.ceil(bytes.readUInt32LE(1) / BLOCK) * BLOCK
  const part = Math.min(coming, PART)
  const length = part + (isPart ? 0 : BLOCK)
  if (bytes.length < length) return 0
  known.coming = coming - part
  return length
}

/** Whether bytes begin an answer, as far as they are there. */
function isAnswer(bytes: Buffer): boolean {
  return bytes[0] === RECORDS && bytes.subarray(5, BLOCK).every((byte) => byte === 0)
}

function decode(frame: Buffer, session: Session): Message {
  if (frame.subarray(0, BLOCK).equals(LOGIN)) return login(frame, session)
  const known = conversations(session)
  const isHead = frame.length >= BLOCK && isAnswer(frame)
  if (!isHead && known.left === 0) throw new DecodeError('unsupported')
  if (isHead) known.left = frame.readUInt32LE(1)
  const body = isHead ? frame.subarray(BLOCK) : frame
  if (!known.cipher && body.length > 0) throw new DecodeError('unsupported', 'its login is missing')
  const plain = decrypted(body.subarray(0, body.length - (body.length % BLOCK)), session)
  const records = plain.subarray(0, known.left)
  known.left -= records.length
  const entries = Array.from({ length: Math.floor(records.length / RECORD) }, (_, i) => i * RECORD)
  const { good, unreadable } = eachReadable(entries, (at) => fixOf(new ByteReader(records, at)))
  return good.length > 0 || unreadable ? { fixes: good, unreadable } : { none: 'no place' }
}

function login(frame: Buffer, session: Session): Message {
  if (frame.length < LOGIN_LENGTH) throw new DecodeError('truncated')
  const device = new ByteReader(frame, 17).imei()
  const first = Buffer.from(frame.subarray(48, 64))
  const cipher = createDecipheriv('aes-128-cbc', KEY, first).setAutoPadding(false)
  Object.assign(conversations(session), { left: 0, cipher, first, last: first })
  return { device, none: 'login', reply: ASK }
}

/** The content of blocks. The chain goes on from answer to answer, or begins anew behind the login: the first block tells. */
function decrypted(blocks: Buffer, session: Session): Buffer {
  const known = conversations(session)
  const { cipher, first, last } = known
  if (!cipher || blocks.length === 0) return blocks
  const content = cipher.update(blocks)
  if (!isRecord(content)) for (let i = 0; i < BLOCK; i++) content[i] ^= last[i] ^ first[i]
  known.last = Buffer.from(blocks.subarray(-BLOCK))
  return content
}

/** Whether content begins like a record: zeros, and a time before the year 2106. */
function isRecord(content: Buffer): boolean {
  return content.readUInt32LE() === 0 && content.readUInt32LE(8) === 0
}

/** @throws DecodeError of what is no record: it was encrypted in another way. */
function fixOf(r: ByteReader): Fix {
  if (r.u32() !== 0) throw new DecodeError('malformed', 'it is not encrypted with the key that is known')
  const time = r.u64le() * 1000
  const latitude = r.f32le()
  const longitude = r.f32le()
  const altitude = r.f32le()
  const speed = kmh(r.f32le())
  const course = heading(r.f32le())
  const satellites = r.skip(30).u8()
  const place = { time, latitude, longitude, altitude, speed, heading: course }
  return satellites === NO_FIX ? { ...place, valid: false } : { ...place, valid: true, satellites }
}
