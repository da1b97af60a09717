import { crc16Arc, DecodeError, inflate, type Match, type Session, StreamState, verify } from '../kit/index.ts'

const LF = 0x0a
const CR = 0x0d
const COMPRESSED = 0xff
const MAX_INFLATED = 1 << 16
/** Highest compression ratio: a black box of a standing vehicle reaches 25, an attack on the reader 1,000. */
const MAX_RATIO = 100

/** Length of the first packet: a line, with the bytes of a picture or file that it announces, or a compressed packet. */
export function frameLength(bytes: Buffer): number {
  if (isLineEnd(bytes[0])) return -lineEnds(bytes)
  if (bytes[0] === COMPRESSED) return bytes.length < 3 ? 0 : whole(bytes, 3 + bytes.readUInt16LE(1))
  const end = bytes.indexOf(LF) + 1
  return end === 0 ? 0 : whole(bytes, end + attached(bytes.toString('latin1', 0, Math.min(end, 64))))
}

function isLineEnd(byte: number): boolean {
  return byte === LF || byte === CR
}

function lineEnds(bytes: Buffer): number {
  let end = 1
  while (isLineEnd(bytes[end])) end++
  return end
}

/** Whether a stream begins with a login. */
export function starts(bytes: Buffer): Match {
  const login = '#L#'
  const begin = bytes.toString('latin1', 0, Math.min(bytes.length, login.length))
  return begin === login ? 'yes' : login.startsWith(begin) ? 'maybe' : 'no'
}

function whole(bytes: Buffer, length: number): number {
  return bytes.length < length ? 0 : length
}

/** How many bytes follow a line: #I#size;… of a picture, #T#code;size;… of a tachograph file. */
function attached(line: string): number {
  if (line[1] !== 'I' && line[1] !== 'T') return 0
  const [, picture, file] = /^#(?:I#(\d{1,8});|T#[^;]*;(\d{1,8});)/.exec(line) ?? []
  return Number(picture ?? file ?? 0)
}

/** A packet's line, decompressed; a picture's or file's bytes behind it are left out. @throws DecodeError */
export function lineOf(frame: Buffer): Buffer {
  const plain = frame[0] === COMPRESSED ? inflated(frame) : frame
  const end = plain.indexOf(LF)
  return end < 0 ? plain : plain.subarray(0, end)
}

function inflated(frame: Buffer): Buffer {
  if (frame.length < 3 || frame.length < 3 + frame.readUInt16LE(1)) throw new DecodeError('truncated')
  const compressed = frame.subarray(3)
  return inflate(compressed, Math.min(MAX_INFLATED, MAX_RATIO * compressed.length))
}

/** Of a session whose login was of 2.x: each of its packets has a checksum. */
const version2 = new StreamState<true>()

/** [2.0;][imei]#type#, and the version with which a login of 2.x begins. */
const HEAD = /^(\d\.\d;)?[^#;]*#([A-Z]+)#(?=(\d\.\d;)?)/

/** The line [imei]#type#…, without its version and its checksum. @throws DecodeError `malformed`, `checksum` */
export function withoutChecksum(line: string, session: Session, bytes: Buffer): string {
  const [head, version = '', type, login] = HEAD.exec(line) ?? []
  if (head === undefined) throw new DecodeError('malformed', 'the frame does not begin with #type#')
  if (type === 'P') return line.slice(version.length)
  const end = Math.max(line.lastIndexOf(';'), line.lastIndexOf('|'), head.length - 1)
  const checksum = hexOf(line.slice(end + 1))
  const isVersion2 = version !== '' || login !== undefined
  if (!(isVersion2 || version2.of(session) || (checksum >= 0 && hasOneFieldMore(type, line.slice(head.length)))))
    return line
  verify(checksum === crc16Arc(bytes.subarray(head.length, end + 1)), session)
  if (login !== undefined) version2.set(session, true)
  return line.slice(version.length, Math.max(end, head.length))
}

/** A checksum of one to four hexadecimal digits, with or without 0x; −1 where it is none. */
function hexOf(text: string): number {
  const [, digits] = /^(?:0x)?([0-9a-f]{1,4})$/i.exec(text) ?? []
  return digits === undefined ? -1 : Number.parseInt(digits, 16)
}

/** Whether records, of 10 or 16 fields, have one more: a checksum without a login of 2.x. */
function hasOneFieldMore(type: string, text: string): boolean {
  let fields = 1
  for (let at = text.indexOf(';', text.lastIndexOf('|') + 1); at >= 0; at = text.indexOf(';', at + 1)) fields++
  if (type === 'SD') return fields === 11
  if (type === 'D') return fields >= 17
  return type === 'B' && (fields === 1 || fields === 11 || fields >= 17)
}
