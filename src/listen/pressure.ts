import { metrics } from '../observe/metrics.ts'

/**
 * Back-pressure by bytes in flight: what devices sent and Redis has not stored yet. Above the high mark no socket is read
 * (the kernel's buffers and the devices keep the rest), below the low mark all are again.
 */
export interface Pressure {
  /** Whether sockets must not be read now. */
  readonly high: boolean
  add(bytes: number): void
  remove(bytes: number): void
  /** Whoever reads sockets: `pause` and `resume` are called when the pressure becomes high and low. */
  join(reader: Reader): void
}

export interface Reader {
  pause(): void
  resume(): void
}

export function createPressure(highBytes = 64 << 20, lowBytes = highBytes / 2): Pressure {
  const readers: Reader[] = []
  let bytes = 0
  let high = false
  return {
    get high() {
      return high
    },
    add(more) {
      bytes += more
      metrics.inFlightBytes.set(bytes)
      if (high || bytes < highBytes) return
      high = true
      for (const reader of readers) reader.pause()
    },
    remove(less) {
      bytes -= less
      metrics.inFlightBytes.set(bytes)
      if (!high || bytes > lowBytes) return
      high = false
      for (const reader of readers) reader.resume()
    },
    join: (reader) => void readers.push(reader),
  }
}
