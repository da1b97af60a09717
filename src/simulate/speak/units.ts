/** Whole kilometres an hour of metres a second. */
export const kilometresPerHour = (speed = 0): number => Math.round(speed * 3.6)

/** Knots of metres a second, two decimals. */
export const knots = (speed = 0): string => ((speed * 3600) / 1852).toFixed(2)

/** DDMMYY of a time, ms UTC. */
export function dayMonthYear(time: number): string {
  const [year, month, day] = new Date(time).toISOString().slice(2, 10).split('-')
  return `${day}${month}${year}`
}

/** hhmmss of a time, ms UTC. */
export function hoursMinutesSeconds(time: number): string {
  return new Date(time).toISOString().slice(11, 19).replaceAll(':', '')
}

/** ddmm.mmmm and the hemisphere's letter, as NMEA writes a latitude. */
export const nmeaLatitude = (degrees: number): readonly [string, string] => [nmea(degrees, 2), degrees < 0 ? 'S' : 'N']

/** dddmm.mmmm and the hemisphere's letter, as NMEA writes a longitude. */
export const nmeaLongitude = (degrees: number): readonly [string, string] => [nmea(degrees, 3), degrees < 0 ? 'W' : 'E']

/** Counted in the last digit, so that no minute is ever rounded up to 60. */
function nmea(degrees: number, digits: number): string {
  const units = Math.round(Math.abs(degrees) * 60 * PER_MINUTE)
  const minutes = (units % (60 * PER_MINUTE)) / PER_MINUTE
  const whole = Math.floor(units / (60 * PER_MINUTE))
  return String(whole).padStart(digits, '0') + minutes.toFixed(4).padStart(7, '0')
}

const PER_MINUTE = 10_000
