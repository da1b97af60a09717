import { crc16Arc, DecodeError, inflate, type Match, trimEnd } from '../kit/index.ts'

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

/** A packet's line. */
export interface Packet {
  /** '' where the login of the connection named it. */
  readonly device: string
  /** Whether it names version 2.x, and so has a checksum. */
  readonly isVersion2: boolean
  readonly type: string
  /** What follows the type. */
  readonly body: Buffer
}

/** The packet of a frame, decompressed. @throws DecodeError `truncated`, `malformed`. */
export function packetOf(frame: Buffer): Packet {
  const plain = frame[0] === COMPRESSED ? inflated(frame) : frame
  const end = plain.indexOf(LF)
  const line = trimEnd(end < 0 ? plain : plain.subarray(0, end))
  const match = HEAD.exec(line.toString('latin1', 0, Math.min(line.length, 100)))
  if (!match) throw new DecodeError('malformed', 'it does not begin with #type#')
  const [head, version, device, type, login] = match
  return { device, isVersion2: (version ?? login) !== undefined, type, body: line.subarray(head.length) }
}

/** [2.0;][imei]#type#, and the version with which a login of 2.x begins. */
const HEAD = /^(\d\.\d;)?([^#;]*)#([A-Z]+)#(?=(\d\.\d;)?)/

function inflated(frame: Buffer): Buffer {
  if (frame.length < 3 || frame.length < 3 + frame.readUInt16LE(1)) throw new DecodeError('truncated')
  const compressed = frame.subarray(3)
  return inflate(compressed, Math.min(MAX_INFLATED, MAX_RATIO * compressed.length))
}

/** The body without its checksum, as text. @throws DecodeError `checksum`, unless `lenient`. */
export function verified({ type, body, isVersion2 }: Packet, isExpected: boolean, lenient: boolean): string {
  const text = body.toString('latin1')
  const at = Math.max(text.lastIndexOf(';'), text.lastIndexOf('|'))
  const checksum = hexOf(text.slice(at + 1))
  if (type === 'P' || !(isVersion2 || isExpected || (checksum >= 0 && hasOneFieldMore(type, text)))) return text
  if (!lenient && checksum !== crc16Arc(body.subarray(0, at + 1))) throw new DecodeError('checksum')
  return text.slice(0, Math.max(0, at))
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
