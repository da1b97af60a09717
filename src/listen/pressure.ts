import { metrics } from '../observe/metrics.ts'
import { createHeld, type Held } from './held.ts'

/**
 * Back-pressure by what waits in memory: what devices sent and Redis has not stored yet. Above the high mark no socket is
 * read (the kernel's buffers and the devices keep the rest), below the low mark all are again. What is not complete yet
 * waits for its sender; it has a budget of its own.
 */
export interface Pressure extends Held {
  /** Whether sockets must not be read now. */
  readonly high: boolean
  /** So many bytes arrived and wait to be stored, in so many frames (one, unless said). */
  add(bytes: number, frames?: number): void
  remove(bytes: number, frames?: number): void
  /** Whoever reads sockets: `pause` and `resume` are called when the pressure becomes high and low. */
  join(reader: Reader): void
}

export interface Reader {
  pause(): void
  resume(): void
}

/** The marks are bytes of memory, as `weightOf` estimates it. */
export function createPressure(highMark = 64 << 20, lowMark = highMark / 2, held = createHeld()): Pressure {
  const readers: Reader[] = []
  let waiting = 0
  let weight = 0
  let high = false

  function change(bytes: number, more: number): void {
    waiting += bytes
    weight += more
    metrics.inFlightBytes.set(waiting)
    if (high ? weight > lowMark : weight < highMark) return
    high = !high
    for (const reader of readers) reader[high ? 'pause' : 'resume']()
  }

  return {
    ...held,
    get high() {
      return high
    },
    add: (bytes, frames = 1) => change(bytes, weightOf(bytes, frames)),
    remove: (bytes, frames = 1) => change(-bytes, -weightOf(bytes, frames)),
    join: (reader) => void readers.push(reader),
  }
}

/** The memory that frames take until they are stored: mostly what is made of each, decoded and promised, not its bytes. */
function weightOf(bytes: number, frames: number): number {
  return bytes + frames * FRAME_COST
}

/** Measured: 2,500 bytes for a frame of 44. */
const FRAME_COST = 3000
