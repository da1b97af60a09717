/** The steps in which a wire holds the values of a fix; what is left out is not on the wire, 0 is exact. */
export interface WireResolution {
  /** Degrees. */
  readonly place: number
  /** Metres a second. */
  readonly speed?: number
  /** Degrees. */
  readonly heading?: number
  /** Metres. */
  readonly altitude?: number
  /** The lowest altitude; anything below is raised to it. */
  readonly lowest?: number
  readonly accuracy?: number
  readonly hdop?: number
  readonly satellites?: 0
}

/** ddmm.mmmm */
const NMEA = 1e-4 / 60
const KMH = 1 / 3.6
const KNOT = 1852 / 3600
const MPH = 0.44704

/** What an ordinary NMEA sentence holds. */
const RMC = { place: NMEA, speed: 0.01 * KNOT, heading: 0.01 }
const TELTONIKA = { place: 1e-7, speed: KMH, heading: 1, altitude: 1, hdop: 0.1, satellites: 0 } as const

/** By the name of a speech. */
export const RESOLUTION: Readonly<Record<string, WireResolution>> = {
  teltonika: TELTONIKA,
  'teltonika-8e': TELTONIKA,
  'teltonika-udp': TELTONIKA,
  gt06: { place: 1 / 1.8e6, speed: KMH, heading: 1, satellites: 0 },
  h02: { place: NMEA, speed: 0.01 * KNOT, heading: 1 },
  wialon: { place: NMEA, speed: KMH, heading: 1, altitude: 1, hdop: 0.1, satellites: 0 },
  osmand: { place: 1e-7, speed: 0.01 * KNOT, heading: 0, altitude: 0, hdop: 0 },
  owntracks: { place: 0, speed: KMH, heading: 0, altitude: 0, accuracy: 0 },
  fix: { place: 0, speed: 0, heading: 0, altitude: 0, accuracy: 0, hdop: 0, satellites: 0 },
  jt808: { place: 1e-6, speed: 0.1 * KMH, heading: 1, altitude: 1, satellites: 0 },
  gl200: { place: 1e-6, speed: 0.1 * KMH, heading: 1, altitude: 0.1, hdop: 1 },
  gps103: { place: NMEA, speed: 0.01 * KNOT, heading: 0.1 },
  tk103: { place: NMEA, speed: 0.1 * KMH, heading: 0.01 },
  meitrack: { place: 1e-6, speed: KMH, heading: 1, altitude: 1, hdop: 0.1, satellites: 0 },
  watch: { place: 1e-6, speed: 0.01 * KMH, heading: 0.1, altitude: 1, satellites: 0 },
  egts: { place: 180 / 0xffff_ffff, speed: 0.1 * KMH, heading: 1, altitude: 1, hdop: 0.01, satellites: 0 },
  eelink: { place: 1 / 1.8e6, speed: KMH, heading: 1, altitude: 1, satellites: 0 },
  castel: { place: 1 / 3.6e6, speed: 0.01, heading: 0.1, satellites: 0 },
  t55: RMC,
  jt600: { place: 1e-6, speed: 0.1 * MPH, heading: 1, satellites: 0 },
  totem: { place: NMEA, speed: KMH, heading: 1, hdop: 0.1, satellites: 0 },
  laipac: RMC,
  upro: { place: NMEA, speed: 0.1 * KNOT, heading: 10, altitude: 0.1, lowest: 0, satellites: 0 },
  suntech: { place: 1e-6, speed: 0.001 * KMH, heading: 0.01, satellites: 0 },
  meiligao: { ...RMC, altitude: 1, hdop: 0.1, satellites: 0 },
  megastek: { ...RMC, altitude: 0.1, hdop: 0.01, satellites: 0 },
  xexun: { ...RMC, altitude: 0.1, satellites: 0 },
}
