import type { Framer } from './protocol.ts'

/** Frames that end with a line feed; it is part of the frame. */
export const line: Framer = endsWith(0x0a)

/** Frames that end with one byte, which is part of the frame. */
export function endsWith(end: number): Framer {
  return (bytes) => bytes.indexOf(end) + 1
}

/** Drops what trails a text frame on the wire: CR, LF and NUL. */
export function trimEnd(frame: Buffer): Buffer {
  let end = frame.length
  while (end > 0 && (frame[end - 1] === 0x0a || frame[end - 1] === 0x0d || frame[end - 1] === 0)) end--
  return frame.subarray(0, end)
}
