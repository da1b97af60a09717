import { WINDOW_MS } from '../store/index.ts'
import type { CourierPosition } from '../tracking/schemas.ts'

/** Time and place of a fix: unix seconds, degrees. */
interface Measured {
  readonly timestamp: number
  readonly latitude: number
  readonly longitude: number
}

/**
 * Returns the fixes that match none of the positions, in order. A position matches a fix if it is less than a second and at
 * most 1e-5 degrees away, which is more than a 32-bit number loses. The order of the positions and repetitions do not matter.
 * One position may match several fixes, since the API stores equal positions once.
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

/** Returns whether a position has another time than requested; the API then selects by another time than that of the fix. */
export function isOutside({ timestamp }: CourierPosition, from: number, to: number): boolean {
  return timestamp < from - 1 || timestamp > to + 1
}

/**
 * Returns whether a window of a route is chosen for verification. The given share of each route's windows is chosen, spread
 * evenly so that no window waits longer than others; the route's name determines which.
 */
export function isChosen(route: string, window: number, share: number): boolean {
  const number = Math.round(window / WINDOW_MS)
  const phase = hashOf(route) / 2 ** 32
  return Math.floor((number + 1) * share + phase) > Math.floor(number * share + phase)
}

/** FNV-1a, mixed: the first bits differ even if names differ only in their last digit. */
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
