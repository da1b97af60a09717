import type { Match } from '../kit/index.ts'

const LF = 0x0a
const CR = 0x0d
const COMPRESSED = 0xff

/** Length of the first packet: a line, with the bytes that a picture's or file's line announces, or a compressed one. */
export function frameLength(bytes: Buffer): number {
  if (bytes[0] === LF || bytes[0] === CR) return -1
  if (bytes[0] === COMPRESSED) return bytes.length < 3 ? 0 : whole(bytes, 3 + bytes.readUInt16LE(1))
  const end = bytes.indexOf(LF) + 1
  return end === 0 ? 0 : whole(bytes, end + attached(bytes.toString('latin1', 0, Math.min(end, 64))))
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

/** Bytes that follow the line: #I#size;… of a picture, #T#code;size;… of a tachograph file. */
function attached(line: string): number {
  if (line[1] !== 'I' && line[1] !== 'T') return 0
  const [, picture, file] = /^#(?:I#(\d{1,8});|T#[^;]*;(\d{1,8});)/.exec(line) ?? []
  return Number(picture ?? file ?? 0)
}
