/** A point of a van's way; `at`: ms UTC. */
export interface TrackPoint {
  readonly at: number
  readonly lat: number
  readonly lon: number
}

/** The place of a van at an instant, according to the points of its way. */
export interface ReplayPlace {
  readonly lat: number
  readonly lon: number
  /** Degrees; undefined if it does not move. */
  readonly heading?: number
  /** True if it lies between two points that are close in time; false: it is the last point before. */
  readonly isKnown: boolean
}

/** Pure: the place on a way, which is in order of time, at an instant, ms UTC; undefined before its first point. */
export function placeAt(track: readonly TrackPoint[], ms: number): ReplayPlace | undefined {
  const next = track.findIndex(({ at }) => at > ms)
  const before = track.at(next < 0 ? -1 : next - 1)
  if (!before || before.at > ms) return undefined
  const after = next < 0 ? undefined : track[next]
  if (!after || after.at - before.at > GAP_MS)
    return { lat: before.lat, lon: before.lon, isKnown: ms - before.at < LEAST_MS }
  const part = (ms - before.at) / (after.at - before.at)
  const [dLat, dLon] = [after.lat - before.lat, after.lon - before.lon]
  return {
    lat: before.lat + part * dLat,
    lon: before.lon + part * dLon,
    heading: headingOf(dLat, dLon, before.lat),
    isKnown: true,
  }
}

function headingOf(dLat: number, dLon: number, lat: number): number | undefined {
  if (Math.hypot(dLat, dLon) < LEAST_DEGREES) return undefined
  const east = dLon * Math.cos((lat * Math.PI) / 180)
  return (Math.atan2(east, dLat) * (180 / Math.PI) + 360) % 360
}

/** Points that are further apart in time than this are not joined: the way between them is not known. */
export const GAP_MS = 5 * 60_000
const LEAST_MS = 60_000
/** About ten metres. */
const LEAST_DEGREES = 1e-4
