/** A fix that arrives longer than this after its time is late: a tracker that sends its fixes together is up to some minutes late. */
export const LATE_MS = 300_000

/**
 * Consecutive fixes that are late by the same time: by a number of quarter hours, because a time zone is not taken into
 * account; or by more than any time zone, because the device's clock is wrong. Instants in ms UTC.
 */
export interface Late {
  /** The delay, ms. */
  readonly ms: number
  /** When the first and the last of them arrived. */
  readonly sinceAt: number
  readonly untilAt: number
  readonly fixes: number
  /** The own time of the last of them. */
  readonly time: number
  /**
   * Whether they may have been stored by the device since it was last heard: if they are sent at the pace at which they were
   * measured, they are late by the same time, too.
   */
  readonly mayBeKept?: boolean
}

/** A fix of `time` that arrived at `at`; `fixBeforeAt`: when the previous one arrived, undefined: unknown. ms UTC. */
interface TimedFix {
  readonly at: number
  readonly time: number
  readonly fixBeforeAt?: number
}

/** Updates what is known of a device's clock with its next fix; undefined: the clock is right, or a backlog comes. */
export function lateNow(late: Late | undefined, { at, time, fixBeforeAt = Infinity }: TimedFix): Late | undefined {
  if (late && time <= late.time) return time === late.time ? late : undefined
  const ms = differenceOf(late, at - time)
  if (ms === undefined) return undefined
  if (late?.ms === ms) return { ...late, untilAt: at, fixes: late.fixes + 1, time }
  // By an outage of a few hours a time zone is more likely than a backlog that never catches up.
  const mayBeKept = late ? late.mayBeKept : ms > MOST_QUARTERS * QUARTER_MS && time > fixBeforeAt - QUARTER_MS
  return { ms, sinceAt: at, untilAt: at, fixes: 1, time, mayBeKept }
}

/** Returns the difference that explains a delay; undefined: none does. The fixes of a backlog are less and less late. */
function differenceOf(late: Late | undefined, ms: number): number | undefined {
  const quarters = Math.round(ms / QUARTER_MS)
  if (quarters > MOST_QUARTERS) return late && Math.abs(ms - late.ms) <= STEADY_MS ? late.ms : ms
  const isWhole = quarters > 0 && Math.abs(ms - quarters * QUARTER_MS) <= TOLERANCE_MS
  return isWhole ? quarters * QUARTER_MS : undefined
}

/** Returns whether enough fixes over enough time show that the device's clock is behind. */
export function isBehind(late: Late | undefined): late is Late {
  if (late === undefined || late.mayBeKept || late.fixes < LATE_FIXES) return false
  return late.untilAt - late.sinceAt >= (late.ms > MOST_QUARTERS * QUARTER_MS ? FAR_MS : BEHIND_FOR_MS)
}

const QUARTER_MS = 900_000
const MOST_QUARTERS = 56
const TOLERANCE_MS = 60_000
/**
 * For a difference that is no number of quarter hours: a backlog that is sent a quarter faster than it was measured differs
 * by this much in `FAR_MS`.
 */
const STEADY_MS = 30_000
const FAR_MS = 120_000
const LATE_FIXES = 4
const BEHIND_FOR_MS = 30_000
