/** Fixes in a row that are late by the same number of quarter hours: a time zone is not taken into account. Instants in ms UTC. */
export interface Late {
  readonly quarters: number
  /** When the first and the last of them came. */
  readonly sinceAt: number
  readonly untilAt: number
  readonly fixes: number
  /** The time of the last of them. */
  readonly time: number
}

/** What is known of the clock of a device with its next fix, of `time`, that came at `at`; undefined: it is right, or a backlog comes. */
export function lateNow(late: Late | undefined, { at, time }: { at: number; time: number }): Late | undefined {
  if (late && time <= late.time) return time === late.time ? late : undefined
  const quarters = Math.round((at - time) / QUARTER_MS)
  const isWhole =
    quarters > 0 && quarters <= MOST_QUARTERS && Math.abs(at - time - quarters * QUARTER_MS) <= TOLERANCE_MS
  if (!isWhole) return undefined
  if (late?.quarters !== quarters) return { quarters, sinceAt: at, untilAt: at, fixes: 1, time }
  return { ...late, untilAt: at, fixes: late.fixes + 1, time }
}

/** Whether these are enough fixes, for a while, to say that the clock of the device is behind. */
export function isBehind(late: Late | undefined): late is Late {
  return late !== undefined && late.fixes >= LATE_FIXES && late.untilAt - late.sinceAt >= LATE_MS
}

export const QUARTER_MS = 900_000
const MOST_QUARTERS = 56
const TOLERANCE_MS = 60_000
const LATE_FIXES = 4
const LATE_MS = 30_000
