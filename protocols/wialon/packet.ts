import { crc16Arc, DecodeError, inflate, trimEnd } from '../kit/index.ts'

const LF = 0x0a
const COMPRESSED = 0xff
const MAX_INFLATED = 1 << 16
/** Of a black box whose vehicle stands still, 25; what is made to keep the reader busy, 1,000. */
const MAX_RATIO = 100

/** A packet's line. */
export interface Packet {
  /** '' where the connection's login said it. */
  readonly device: string
  /** It says that it is of 2.x, and so has a checksum. */
  readonly isVersion2: boolean
  readonly type: string
  /** What stands behind the type. */
  readonly body: Buffer
}

/** The packet of a frame, out of its compression. @throws DecodeError `truncated`, `malformed`. */
export function packetOf(frame: Buffer): Packet {
  const plain = frame[0] === COMPRESSED ? inflated(frame) : frame
  const end = plain.indexOf(LF)
  const line = trimEnd(end < 0 ? plain : plain.subarray(0, end))
  const match = HEAD.exec(line.toString('latin1', 0, Math.min(line.length, 100)))
  if (!match) throw new DecodeError('malformed', 'it does not begin with #type#')
  const [head, version, device, type, login] = match
  return { device, isVersion2: (version ?? login) !== undefined, type, body: line.subarray(head.length) }
}

/** [2.0;][imei]#type#, and what a login of 2.x begins with. */
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

/** −1 where it is not one to four hexadecimal digits, which some write with 0x before them. */
function hexOf(text: string): number {
  const [, digits] = /^(?:0x)?([0-9a-f]{1,4})$/i.exec(text) ?? []
  return digits === undefined ? -1 : Number.parseInt(digits, 16)
}

/** Whether records, of 10 or 16 fields, have one more: a checksum where no login of 2.x was heard. */
function hasOneFieldMore(type: string, text: string): boolean {
  let fields = 1
  for (let at = text.indexOf(';', text.lastIndexOf('|') + 1); at >= 0; at = text.indexOf(';', at + 1)) fields++
  if (type === 'SD') return fields === 11
  if (type === 'D') return fields >= 17
  return type === 'B' && (fields === 1 || fields === 11 || fields >= 17)
}
