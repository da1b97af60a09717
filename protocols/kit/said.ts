/** What a tracker may raise an alarm about. */
export const ALARMS = [
  'sos',
  'power_cut',
  'power_restored',
  'power_off',
  'low_battery',
  'low_power',
  'jamming',
  'tampering',
  'tow',
  'vibration',
  'accident',
  'gps_antenna_cut',
  'movement',
] as const

export type Alarm = (typeof ALARMS)[number]

/** What a tracker says of itself and its vehicle beside the position: a closed list. What it does not say is left out. */
export interface Said {
  /** Whether the ignition is on: the wire of the ignition (ACC), or what the vehicle's bus says of it. */
  ignition?: boolean
  /** Whether the tracker itself says that it moves: by its accelerometer or its own judgement, never computed from the speed. */
  moving?: boolean
  /** The vehicle's battery, or whatever else feeds the tracker from outside, V. */
  external_voltage?: number
  /** The tracker's own battery, V. */
  battery_voltage?: number
  /** The charge of the tracker's own battery, 0 to 100. */
  battery_percent?: number
  /** Whether the tracker's own battery is being charged. */
  charging?: boolean
  /** The id of the driver's card or key, as text. */
  driver?: string
  /** The alarms that this frame raises, never empty. */
  alarms?: readonly Alarm[]
}

/** What is said without what is unknown: undefined, not a number, below 0, above 100 % or a voltage that feeds no tracker, empty, a driver of zeros alone. Undefined if nothing is left. */
export function said(values: Said): Said | undefined {
  // Taken apart by names: the rest of an object costs more than all of this. Called for each fix.
  const { ignition, moving, external_voltage, battery_voltage, battery_percent, charging, driver, alarms } = values
  let known: Said | undefined
  if (ignition !== undefined) (known ??= {}).ignition = ignition
  if (moving !== undefined) (known ??= {}).moving = moving
  if (isKnown(external_voltage) && external_voltage <= MOST_FROM_OUTSIDE)
    (known ??= {}).external_voltage = external_voltage
  if (isKnown(battery_voltage) && battery_voltage <= MOST_OF_BATTERY) (known ??= {}).battery_voltage = battery_voltage
  if (isKnown(battery_percent) && battery_percent <= 100) (known ??= {}).battery_percent = battery_percent
  if (charging !== undefined) (known ??= {}).charging = charging
  if (driver !== undefined && !NO_DRIVER.test(driver)) (known ??= {}).driver = driver
  if (alarms !== undefined && alarms.length > 0) (known ??= {}).alarms = alarms
  return known
}

/** The alarms of some conditions, each once: `alarmsOf(bits & 1 && 'sos', KINDS[type])`. */
export function alarmsOf(...found: readonly (Alarm | undefined | false | 0)[]): readonly Alarm[] {
  const alarms: Alarm[] = []
  for (const alarm of found) if (typeof alarm === 'string' && !alarms.includes(alarm)) alarms.push(alarm)
  return alarms
}

/** The alarms of bits, from bit 0 on: `alarmsIn(flags, ['sos', undefined, 'low_battery'])`. */
export function alarmsIn(bits: number, names: readonly (Alarm | undefined)[]): readonly Alarm[] {
  const alarms: Alarm[] = []
  for (let bit = 0; bit < names.length; bit++) {
    const alarm = names[bit]
    if ((bits & (1 << bit)) !== 0 && alarm !== undefined && !alarms.includes(alarm)) alarms.push(alarm)
  }
  return alarms
}

/** V: a field of ones, by which devices say that they do not know it, is more in most units. */
const [MOST_FROM_OUTSIDE, MOST_OF_BATTERY] = [150, 60]
const NO_DRIVER = /^0*$/

const isKnown = (value: number | undefined): value is number => value !== undefined && value >= 0 && value < Infinity
