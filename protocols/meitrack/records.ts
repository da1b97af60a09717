import {
  type Alarm,
  alarmsOf,
  ByteReader,
  DecodeError,
  dop,
  eachReadable,
  type Fix,
  heading,
  hexadecimal,
  kmh,
  optionalNumber,
  type Said,
  said,
  secondsSince,
} from '../kit/index.ts'

const since2000 = secondsSince(2000)

/** Positions of a frame's records, and which could not be read. */
export type Records = ReturnType<typeof eachReadable<Buffer, Fix | undefined>>

/** Alarms by the event that raised a report. */
export const EVENTS: Readonly<Record<string, Alarm>> = {
  1: 'sos',
  17: 'low_battery',
  18: 'low_power',
  22: 'power_restored',
  23: 'power_cut',
  28: 'gps_antenna_cut',
  36: 'tow',
  40: 'power_off',
  44: 'jamming',
  78: 'accident',
}

/** The battery and the power of the field of voltages: see the head of index.ts. */
export function voltagesOf(text: string): Said {
  if (text.includes('.')) {
    const [battery, power] = text.split('|', 2)
    return { battery_voltage: optionalNumber(battery), external_voltage: optionalNumber(power) }
  }
  const [, batteryDigits = '', powerDigits = ''] = BEHIND_INPUTS.exec(text) ?? []
  const battery = hexadecimal(batteryDigits)
  const power = hexadecimal(powerDigits)
  for (const { unit, divider, from, to } of SCALES)
    if (battery >= from && battery <= to)
      return { battery_voltage: battery * unit, external_voltage: power * unit * divider }
  return {}
}

/** The battery and the power, behind three analogue inputs. */
const BEHIND_INPUTS = /^(?:[^|]*\|){3}([^|]*)\|([^|]*)/

/** V a unit of the battery; how much more one of the power is; numbers that a battery has. */
const SCALES = [
  { unit: 0.01, divider: 1, from: 280, to: 450 },
  { unit: (3 * 2) / 1024, divider: 8, from: 478, to: 768 },
  { unit: (3.3 * 2) / 4096, divider: 8, from: 1738, to: 2793 },
]

/** The records of a CCC frame, from behind the comma on. @throws DecodeError */
export function compactRecords(body: Buffer): readonly Buffer[] {
  const r = new ByteReader(body).skip(2)
  const length = r.u16le()
  if (r.skip(4).left === 0) return []
  if (r.left < length || length === 0) throw new DecodeError('malformed', `records of ${length} bytes`)
  return Array.from({ length: Math.floor(r.left / length) }, () => r.slice(length))
}

/** The positions of the records of a CCC frame. @throws DecodeError */
export function compactFixes(records: readonly Buffer[]): Records {
  return eachReadable(records, compactFix)
}

function compactFix(record: Buffer): Fix {
  const r = new ByteReader(record)
  const event = r.u8()
  return {
    latitude: r.i32le() / 1e6,
    longitude: r.i32le() / 1e6,
    time: since2000(r.u32le()),
    valid: r.u8() === 1,
    satellites: r.u8(),
    speed: kmh(r.skip(1).u16le()),
    heading: heading(r.u16le()),
    hdop: dop(r.u16le() / 10),
    altitude: r.i16le(),
    said: compactSaid(r, event),
  }
}

function compactSaid(r: ByteReader, event: number): Said | undefined {
  const hasVoltages = r.left >= BEFORE_VOLTAGES + 4
  if (hasVoltages) r.skip(BEFORE_VOLTAGES)
  return said({
    battery_voltage: hasVoltages ? r.u16le() / 100 : undefined,
    external_voltage: hasVoltages ? r.u16le() / 100 : undefined,
    alarms: alarmsOf(EVENTS[event]),
  })
}

/** Way, time of run, cell, inputs and outputs, an analogue input. */
const BEFORE_VOLTAGES = 20

/** The positions of a CCE frame, from behind the comma on. @throws DecodeError */
export function taggedFixes(body: Buffer): Records {
  const r = new ByteReader(body).skip(4)
  const count = r.u16le()
  const records: Buffer[] = []
  while (records.length < count && r.left > 0) records.push(r.slice(r.u16le()))
  return eachReadable(records, taggedFix)
}

/** The fix of a record; undefined if the record has no coordinates, only cells or WiFi networks. */
function taggedFix(record: Buffer): Fix | undefined {
  const values = parametersOf(record)
  const [latitude, longitude, time] = [2, 3, 4].map((id) => values.get(id))
  if (latitude === undefined || longitude === undefined) return undefined
  if (time === undefined) throw new DecodeError('malformed', 'a record without time')
  const speed = values.get(8)
  const altitude = values.get(0x0b)
  return {
    time: since2000(time >>> 0),
    latitude: latitude / 1e6,
    longitude: longitude / 1e6,
    valid: values.get(5) === 1,
    satellites: values.get(6),
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(values.get(9)),
    hdop: dop((values.get(0x0a) ?? 0) / 10),
    altitude: altitude === undefined ? undefined : (altitude << 16) >> 16,
    said: said({
      battery_voltage: hundredths(values.get(0x19)),
      external_voltage: hundredths(values.get(0x1a)),
      battery_percent: values.get(0xfe69),
      driver: values.get(0x25)?.toString(),
      alarms: alarmsOf(EVENTS[values.get(1) ?? 0]),
    }),
  }
}

const hundredths = (value: number | undefined) => (value === undefined ? undefined : value / 100)

/** The parameters of 1, 2 and 4 bytes, by id. */
function parametersOf(record: Buffer): Map<number, number> {
  const r = new ByteReader(record).skip(2)
  const values = new Map<number, number>()
  for (const read of [() => r.u8(), () => r.u16le(), () => r.i32le()])
    for (let left = r.u8(); left > 0; left--) {
      const id = r.u8()
      values.set(id === LONG_ID ? (LONG_ID << 8) + r.u8() : id, read())
    }
  return values
}

const LONG_ID = 0xfe
