import type { HttpRequest } from '../../../protocols/kit/index.ts'
import type { Vector, VectorPosition, VectorReply } from './vectors.ts'

/** A frame or a request for people, in lines: text as text, other bytes in groups of four with their offsets. */
export function shownFrame(frame: Buffer | HttpRequest): string[] {
  if (Buffer.isBuffer(frame)) return isText(frame) ? [shownText(frame)] : hexLines(frame)
  const { method, uri, headers, body } = frame
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${uri}`, ...named, ...(body.length > 0 ? shownFrame(body) : [])]
}

/** What a vector says, in lines. */
export function shownMeaning(vector: Vector): string[] {
  const { deviceId, positions, settings } = vector
  const replies = vector.replies ?? vector.repliesAckOn ?? []
  return [
    ...(deviceId === undefined ? [] : [`device ${deviceId}`]),
    ...(settings === undefined ? [] : [`settings ${JSON.stringify(settings)}`]),
    ...positions.map(shownPosition),
    ...replies.map((reply) => `answer ${shownReply(reply)}`),
  ]
}

/** An answer for people: text where it is text. */
export function shownReply({ http, bodyHex, hex, text }: VectorReply): string {
  if (http !== undefined) return `${http} ${shownBytes(Buffer.from(bodyHex ?? '', 'hex'))}`.trim()
  return shownBytes(text === undefined ? Buffer.from(hex ?? '', 'hex') : Buffer.from(text))
}

function shownBytes(bytes: Buffer): string {
  return isText(bytes) ? shownText(bytes) : (bytes.toString('hex').match(/.{1,8}/g) ?? []).join(' ')
}

function shownPosition(position: VectorPosition): string {
  if (position.noPosition) return 'no position'
  const fields = Object.entries(position).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  return `position ${fields.join(', ')}`
}

/** Whether bytes are text, but for at most one in ten. */
function isText(bytes: Buffer): boolean {
  const others = bytes.filter((byte) => byte > 126 || (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13))
  return others.length * 10 <= bytes.length
}

function shownText(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1'))
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replace(/[\u007f-\u00ff]/g, (other) => `\\x${other.charCodeAt(0).toString(16)}`)
}

const LINE = 32

function hexLines(bytes: Buffer): string[] {
  return Array.from({ length: Math.ceil(bytes.length / LINE) }, (_, line) => {
    const part = bytes.subarray(line * LINE, (line + 1) * LINE)
    const groups = (part.toString('hex').match(/.{1,8}/g) ?? []).join(' ')
    const text = part.toString('latin1').replace(/[^ -~]/g, '.')
    return `${String(line * LINE).padStart(4)}  ${groups.padEnd(LINE * 2 + LINE / 4 - 1)}  ${text}`
  })
}
