/** Metres a second from kilometres an hour. */
export const kmh = (value: number): number => value / 3.6

/** Metres a second from knots. */
export const knots = (value: number): number => (value * 1852) / 3600

/** Metres a second from miles an hour. */
export const mph = (value: number): number => value * 0.44704

/** Degrees from the NMEA notation dddmm.mmmm (4916.45 is 49° 16.45′), the sign kept. */
export function degreesMinutes(value: number): number {
  const degrees = Math.trunc(value / 100)
  return degrees + (value - degrees * 100) / 60
}

/** Degrees from true north, 0 ≤ heading < 360; undefined where the wire holds no direction (negative, above 360). */
export const heading = (value: number | undefined): number | undefined =>
  value !== undefined && value >= 0 && value <= 360 ? value % 360 : undefined

/** What cannot be negative; a device that does not know it says −1. */
export const known = (value: number | undefined): number | undefined =>
  value !== undefined && value >= 0 ? value : undefined
