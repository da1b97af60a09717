import type { LinkFiguresJson } from '../../admin/schemas/status.ts'

/** A mean rate; `at`: ms UTC. */
interface RatePoint {
  readonly at: number
  readonly value: number
}

/** Returns the figures of a link for the last hour, by minute; empty if the admin port does not report them. */
export function hourOf(figures: LinkFiguresJson | undefined, now: number): RatePoint[] {
  const hour = figures?.hour ?? []
  const thisMinute = now - (now % MINUTE_MS)
  return hour.map((value, index) => ({ at: thisMinute - (hour.length - 1 - index) * MINUTE_MS, value }))
}

export const HOUR_MS = 3_600_000
export const MINUTE_MS = 60_000
