/** Fills a buffer of known length in wire order, big-endian. */
export class ByteWriter {
  readonly bytes: Buffer
  #at = 0

  constructor(length: number) {
    this.bytes = Buffer.alloc(length)
  }

  u8(value: number): this {
    this.#at = this.bytes.writeUInt8(value, this.#at)
    return this
  }

  u16(value: number): this {
    this.#at = this.bytes.writeUInt16BE(value, this.#at)
    return this
  }

  i16(value: number): this {
    this.#at = this.bytes.writeInt16BE(value, this.#at)
    return this
  }

  u24(value: number): this {
    this.#at = this.bytes.writeUIntBE(value, this.#at, 3)
    return this
  }

  u32(value: number): this {
    this.#at = this.bytes.writeUInt32BE(value, this.#at)
    return this
  }

  i32(value: number): this {
    this.#at = this.bytes.writeInt32BE(value, this.#at)
    return this
  }

  u64(value: number): this {
    return this.u32(Math.floor(value / 0x1_0000_0000)).u32(value % 0x1_0000_0000)
  }

  put(bytes: Uint8Array): this {
    this.bytes.set(bytes, this.#at)
    this.#at += bytes.length
    return this
  }
}

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

/** A latitude as in NMEA: ddmm.mmmm and the letter of the hemisphere. */
export const nmeaLatitude = (degrees: number): readonly [string, string] => [nmea(degrees, 2), degrees < 0 ? 'S' : 'N']

/** A longitude as in NMEA: dddmm.mmmm and the letter of the hemisphere. */
export const nmeaLongitude = (degrees: number): readonly [string, string] => [nmea(degrees, 3), degrees < 0 ? 'W' : 'E']

/** Calculated in units of the last digit, so that minutes are never rounded up to 60. */
function nmea(degrees: number, digits: number): string {
  const units = Math.round(Math.abs(degrees) * 60 * PER_MINUTE)
  const minutes = (units % (60 * PER_MINUTE)) / PER_MINUTE
  const whole = Math.floor(units / (60 * PER_MINUTE))
  return String(whole).padStart(digits, '0') + minutes.toFixed(4).padStart(7, '0')
}

const PER_MINUTE = 10_000
