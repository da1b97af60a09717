import type { Framer } from './protocol.ts'

/** A stream's bytes cut into frames, each a view; `rest` is the beginning of the next one, `noise` counts bytes skipped. */
interface Cut {
  readonly frames: Buffer[]
  readonly rest: Buffer
  readonly noise: number
}

/** Cuts all whole frames off the beginning of a stream. */
export function cut(bytes: Buffer, frame: Framer): Cut {
  const frames: Buffer[] = []
  let at = 0
  let noise = 0
  while (at < bytes.length) {
    const length = frame(at === 0 ? bytes : bytes.subarray(at))
    if (length === 0) break
    if (length > 0) frames.push(bytes.subarray(at, at + length))
    else noise -= length
    at += Math.abs(length)
  }
  return { frames, rest: bytes.subarray(Math.min(at, bytes.length)), noise }
}
