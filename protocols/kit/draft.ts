import type { DecodeError } from './errors.ts'
import type { Fix, Session } from './protocol.ts'
import { alarmsOf, type Said, said } from './said.ts'
import { timeOfDayNear, withoutYearNear } from './times.ts'
import { utc } from './units.ts'

const DAY_MS = 86_400_000

/**
 * The values that a line has given so far. The fields of the kit write them, hooks complete them, and a fix is made of
 * them.
 */
export class Draft {
  device?: string
  secret?: string
  /** ms UTC; if it is set, the parts of the time are not used. */
  time?: number
  year?: number
  month?: number
  day?: number
  /** Time of day, ms. */
  clock?: number
  latitude?: number
  longitude?: number
  isSouth = false
  isWest = false
  valid = true
  altitude?: number
  /** Metres a second. */
  speed?: number
  heading?: number
  accuracy?: number
  hdop?: number
  satellites?: number
  /** Why a field of the line could not be read; `fix` throws it. */
  fault?: DecodeError
  #said?: Said
  /** How many records could be read, for answers: `{count}`. */
  count = 0
  /** Why there is no position, where a hook knows it better than the line. */
  none?: string
  readonly #match: RegExpExecArray
  readonly #names: ReadonlyMap<string, number>

  constructor(match: RegExpExecArray, names: ReadonlyMap<string, number>) {
    this.#match = match
    this.#names = names
  }

  /** The text of a field in the line; '' if the field is left out. */
  text(name: string): string {
    const group = this.#names.get(name)
    return group === undefined ? '' : (this.#match[group] ?? '')
  }

  /** Whether the device's clock was never set: its date has no day or no month. */
  get hasNoClock(): boolean {
    return this.day === 0 || this.month === 0
  }

  /** Whether it makes a fix: it has a place, and a date if it has a clock. */
  get isPlaced(): boolean {
    return this.latitude !== undefined && this.longitude !== undefined && !this.hasNoClock
  }

  /** What the line says beside the position; undefined: nothing. */
  get said(): Said | undefined {
    return this.#said && said(this.#said)
  }

  /** What fields have said beside the position so far: they write into it. */
  get beside(): Said {
    return (this.#said ??= {})
  }

  /** Adds to what the line says beside the position. */
  says(values: Said): void {
    const { beside } = this
    const { alarms } = beside
    // By name: Object.assign takes longer than to read a line's field.
    const { ignition, moving, external_voltage, battery_voltage, battery_percent, charging, driver } = values
    if (ignition !== undefined) beside.ignition = ignition
    if (moving !== undefined) beside.moving = moving
    if (external_voltage !== undefined) beside.external_voltage = external_voltage
    if (battery_voltage !== undefined) beside.battery_voltage = battery_voltage
    if (battery_percent !== undefined) beside.battery_percent = battery_percent
    if (charging !== undefined) beside.charging = charging
    if (driver !== undefined) beside.driver = driver
    if (values.alarms) beside.alarms = alarms ? alarmsOf(...alarms, ...values.alarms) : values.alarms
  }

  /** The fix; undefined where the place is missing, or the device's clock was never set. @throws DecodeError `malformed` */
  fix(session: Session): Fix | undefined {
    if (this.fault) throw this.fault
    const { latitude, longitude } = this
    if (latitude === undefined || longitude === undefined || this.hasNoClock) return undefined
    return {
      time: this.timeBy(session.now),
      latitude: this.isSouth ? -Math.abs(latitude) : latitude,
      longitude: this.isWest ? -Math.abs(longitude) : longitude,
      valid: this.valid,
      altitude: this.altitude,
      speed: this.speed,
      heading: this.heading,
      accuracy: this.accuracy,
      hdop: this.hdop,
      satellites: this.satellites,
      said: this.said,
    }
  }

  /**
   * ms UTC of the parts of the time. What is missing of them goes by the arrival `now`: the last year, the nearest date;
   * a date alone is its midnight, and `now` on that day. Without any it is `now`. @throws DecodeError `malformed`
   */
  timeBy(now: number): number {
    const { time, year, month, day, clock } = this
    if (time !== undefined) return time
    if (day === undefined || month === undefined) return clock === undefined ? now : timeOfDayNear(clock, now)
    const midnight = year === undefined ? withoutYearNear([month, day, 0, 0, 0], now) : utc(year, month, day, 0, 0, 0)
    if (clock !== undefined) return midnight + clock
    return now >= midnight && now < midnight + DAY_MS ? now : midnight
  }
}
