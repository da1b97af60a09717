/* Shifts the clock of a Node process: node --import shifted-clock.ts, with the milliseconds in CLOCK_SHIFT_MS. */

const shiftMs = Number(process.env.CLOCK_SHIFT_MS)
const RealDate = Date

globalThis.Date = class extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(RealDate.now() + shiftMs)
    else super(...(given as [number]))
  }

  static override now(): number {
    return RealDate.now() + shiftMs
  }
} as DateConstructor
