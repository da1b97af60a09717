/** The frames at the beginning of a stream; `noise` counts the bytes that were skipped between them. */
interface CutStream {
  /** Views of the stream's bytes. */
  readonly frames: Buffer[]
  /** The beginning of the next frame, which is not complete yet. */
  readonly rest: Buffer
  readonly noise: number
  /** Whether it stopped after `most` steps: there may be further frames in `rest`. */
  readonly isStopped: boolean
}

/** Cuts complete frames off the beginning of a stream: all, or what `most` calls of the framer find. */
export function cut<S>(
  bytes: Buffer,
  frame: (bytes: Buffer, session: S) => number,
  session: S,
  most = Number.POSITIVE_INFINITY,
): CutStream {
  const frames: Buffer[] = []
  let at = 0
  let noise = 0
  let steps = 0
  for (; at < bytes.length && steps < most; steps++) {
    const length = frame(at === 0 ? bytes : bytes.subarray(at), session)
    if (length === 0) break
    if (length > 0) frames.push(bytes.subarray(at, at + length))
    else noise -= length
    at += Math.abs(length)
  }
  return { frames, rest: bytes.subarray(Math.min(at, bytes.length)), noise, isStopped: steps === most }
}

/** Frames that end with one byte, which is part of the frame. */
export function endsWith(end: number): (bytes: Buffer) => number {
  return (bytes) => bytes.indexOf(end) + 1
}

/** Frames that end with a line feed, which is part of the frame. */
export const line = endsWith(0x0a)

/** Drops CR, LF and NUL from the end of a text frame. */
export function trimEnd(frame: Buffer): Buffer {
  let end = frame.length
  while (end > 0 && (frame[end - 1] === 0x0a || frame[end - 1] === 0x0d || frame[end - 1] === 0)) end--
  return frame.subarray(0, end)
}
