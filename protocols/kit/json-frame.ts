import { type Framer, StreamState } from './protocol.ts'

/** How far an incomplete object has been scanned, and the state of the scan there. */
interface Scan {
  readonly length: number
  readonly depth: number
  readonly isQuoted: boolean
  readonly tail: Buffer
}

/**
 * This many of the scanned bytes are remembered. If the bytes that arrive next differ from them, the scan begins anew.
 */
const TAIL = 64

/**
 * JSON objects one after the other: each ends with the brace that closes its first one. Braces within strings do not count.
 * The stream remembers how far it has looked, so that each byte is looked at once.
 */
export function jsonObjects(): Framer {
  const scans = new StreamState<Scan>()
  return (bytes, stream) => {
    if (bytes[0] !== OPEN) return -(bytes.indexOf(OPEN) < 0 ? bytes.length : bytes.indexOf(OPEN))
    const scan = scanOf(scans.of(stream), bytes)
    scans.drop(stream)
    let depth = scan?.depth ?? 0
    let isQuoted = scan?.isQuoted ?? false
    let at = scan?.length ?? 0
    for (; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === QUOTE) isQuoted = !isQuoted
      else if (!isQuoted) {
        if (byte === OPEN) depth++
        else if (byte === CLOSE && --depth === 0) return at + 1
      } else if (byte === BACKSLASH) {
        if (at + 1 === bytes.length) break
        at++
      }
    }
    scans.set(stream, { length: at, depth, isQuoted, tail: Buffer.from(bytes.subarray(Math.max(0, at - TAIL), at)) })
    return 0
  }
}

/** What was found before, if these are the same bytes and more. */
function scanOf(scan: Scan | undefined, bytes: Buffer): Scan | undefined {
  if (!scan || bytes.length < scan.length) return undefined
  const { length, tail } = scan
  return tail.equals(bytes.subarray(length - tail.length, length)) ? scan : undefined
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d
