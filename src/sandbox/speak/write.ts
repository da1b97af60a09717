import { digitsOfTime, type Fix, xor } from '../../../protocols/kit/index.ts'

/** Whole kilometres an hour of metres a second. */
export const kilometresPerHour = (speed = 0): number => Math.round(speed * 3.6)

/** Knots of metres a second, two decimals. */
export const knots = (speed = 0): string => ((speed * 3600) / 1852).toFixed(2)

/** How protocols of text write a fix. */
export interface FixWords {
  /** YYMMDD, DDMMYY and hhmmss, UTC. */
  readonly ymd: string
  readonly dmy: string
  readonly hms: string
  /** Latitude and longitude as in NMEA, ddmm.mmmm and dddmm.mmmm, with the letters of their hemispheres. */
  readonly lat: string
  readonly ns: 'N' | 'S'
  readonly lon: string
  readonly ew: 'E' | 'W'
  /** The same four, joined by commas. */
  readonly place: string
  /** Degrees, six decimals; negative in the south and in the west. */
  readonly latitude: string
  readonly longitude: string
  /** Two decimals. */
  readonly knots: string
  readonly kmh: number
  /** Degrees from true north. */
  readonly course: number
  /** Metres. */
  readonly altitude: number
  readonly hdop: number
  readonly satellites: number
}

/** Returns the words of a fix; missing values are 0, the HDOP 1. */
export function fixWords({ time, latitude, longitude, speed = 0, ...rest }: Fix): FixWords {
  const { heading: course = 0, altitude = 0, hdop = 1, satellites = 0 } = rest
  const digits = digitsOfTime(time)
  const ymd = digits.slice(0, 6)
  const [lat, lon] = [nmea(latitude, 2), nmea(longitude, 3)]
  const [ns, ew] = [latitude < 0 ? 'S' : 'N', longitude < 0 ? 'W' : 'E'] as const
  return {
    ymd,
    dmy: ymd.slice(4) + ymd.slice(2, 4) + ymd.slice(0, 2),
    hms: digits.slice(6),
    lat,
    ns,
    lon,
    ew,
    place: [lat, ns, lon, ew].join(),
    latitude: latitude.toFixed(6),
    longitude: longitude.toFixed(6),
    knots: knots(speed),
    kmh: speed * 3.6,
    course,
    altitude,
    hdop,
    satellites,
  }
}

/** ddmm.mmmm, calculated in units of the last digit, so that minutes are never rounded up to 60. */
function nmea(degrees: number, digits: number): string {
  const units = Math.round(Math.abs(degrees) * 60 * PER_MINUTE)
  const minutes = (units % (60 * PER_MINUTE)) / PER_MINUTE
  const whole = Math.floor(units / (60 * PER_MINUTE))
  return String(whole).padStart(digits, '0') + minutes.toFixed(4).padStart(7, '0')
}

const PER_MINUTE = 10_000

/** A number with `decimals` decimals, filled up with zeros to a width. */
export function padded(value: number, width: number, decimals = 0): string {
  return value.toFixed(decimals).padStart(width, '0')
}

/** A sentence as in NMEA: `$`, a text, `*`, its checksum and a line's end. */
export function sentence(text: string): string {
  return `$${text}*${hex(xor(Buffer.from(text, 'latin1')), 2)}\r\n`
}

/** A number as `digits` hexadecimal digits in capitals. */
export function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0')
}
