import { WINDOW_MS } from '../store/index.ts'
import type { CourierPosition } from '../tracking/schemas.ts'

/** When and where a fix was measured: unix seconds, degrees. */
interface Measured {
  readonly timestamp: number
  readonly latitude: number
  readonly longitude: number
}

/**
 * The fixes that none of the positions is, in their order. A position is a fix if it is less than a second and at most 1e-5 degrees from
 * it, which is more than a number of 32 bits loses; the order of the positions, and how often each comes, mean nothing. One
 * position may be several fixes: the API stores the same position once.
 */
export function missingFixes<Fix extends Measured>(
  fixes: readonly Fix[],
  positions: readonly CourierPosition[],
): Fix[] {
  const bySecond = Map.groupBy(positions, ({ timestamp }) => Math.floor(timestamp))
  return fixes.filter((fix) => {
    const near = [fix.timestamp - 1, fix.timestamp, fix.timestamp + 1].flatMap((second) => bySecond.get(second) ?? [])
    return !near.some((position) => isSame(fix, position))
  })
}

function isSame(fix: Measured, { lat, lon, timestamp }: CourierPosition): boolean {
  const east = Math.abs(fix.longitude - lon)
  return (
    Math.abs(fix.timestamp - timestamp) < 1 &&
    Math.abs(fix.latitude - lat) <= DEGREES &&
    Math.min(east, 360 - east) <= DEGREES
  )
}

/** Whether a position is of another time than was asked for: then the API chooses by another time than that of the fix. */
export function isOutside({ timestamp }: CourierPosition, from: number, to: number): boolean {
  return timestamp < from - 1 || timestamp > to + 1
}

/**
 * Whether a window of a route is among those that are verified. Of each route it is the given share of the windows, spread evenly, so that
 * none waits longer than others; which ones follows from its name.
 */
export function isChosen(route: string, window: number, share: number): boolean {
  const number = Math.round(window / WINDOW_MS)
  const phase = hashOf(route) / 2 ** 32
  return Math.floor((number + 1) * share + phase) > Math.floor(number * share + phase)
}

/** FNV-1a, mixed: the first bits differ as well where names differ in their last digit. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The first ms of the window of an instant, ms UTC. */
export function windowOf(at: number): number {
  return Math.floor(at / WINDOW_MS) * WINDOW_MS
}

/** A rounding error more. */
const DEGREES = 1e-5 + 1e-9
