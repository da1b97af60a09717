import {
  DecodeError,
  dop,
  eachReadable,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  number,
  optionalNumber,
  type Said,
  said,
  utcDmy,
} from '../kit/index.ts'

export const REPLY = Buffer.from('1234')
const HEAD = /^\*GS\d\d,([^,#$]+)/

/** The message of a line of text. @throws DecodeError */
export function text(frame: Buffer): Message {
  const line = frame.toString('latin1', 0, frame.at(-1) === 0x23 ? frame.length - 1 : frame.length)
  const head = HEAD.exec(line.slice(0, 64))
  if (!head) throw new DecodeError('unsupported')
  const [{ length }, device] = head
  const records = line.slice(length + 1).split('$')
  if (line.length <= length) return { device, none: 'heartbeat', reply: REPLY }
  return enveloped({ device, reply: REPLY }, () => {
    const { good, unreadable } = eachReadable(records, fixOf)
    const fixes = good.filter((fix) => fix !== undefined)
    return fixes.length > 0 ? { fixes, unreadable } : { none: 'no place', unreadable, said: saidOf(records[0]) }
  })
}

/** Undefined of a record without a position. */
function fixOf(record: string): Fix | undefined {
  const values = valuesOf(record, 'GPS:')
  if (!values) return undefined
  if (/^\d{6}$/.test(values[0])) return ofFirstVersion(values, saidOf(record))
  const [validity, satellites, ...place] = values
  if (!place[0] || !place[1]) {
    if (validity === 'A' && place.length < 2)
      throw new DecodeError('malformed', `a position of ${values.length} values`)
    return undefined
  }
  return {
    ...placeOf(place),
    ...fixTime(record.slice(0, 6), record.slice(6, 12)),
    valid: validity === 'A',
    satellites: optionalNumber(satellites),
    said: saidOf(record),
  }
}

function ofFirstVersion(values: readonly string[], more: Said | undefined): Fix | undefined {
  const [time, validity, latitude, longitude, speed, course, date] = values
  if (!latitude || !longitude) return undefined
  return {
    ...placeOf([latitude, longitude, speed, course]),
    ...fixTime(time, date),
    valid: validity === 'A',
    said: more,
  }
}

function fixTime(time: string, date: string | undefined): { time: number } {
  return { time: utcDmy(date ?? '', time) }
}

/** The voltages of ADC, the ignition of DTT; records of the first version do not begin with a time. */
function saidOf(record: string): Said | undefined {
  if (!TIMED.test(record)) return voltagesOfFirstVersion(record)
  const [, external, battery] = ADC.exec(record) ?? []
  const [, inputs] = DTT.exec(record) ?? []
  return said({
    ignition: inputs === undefined ? undefined : (Number.parseInt(inputs, 16) & 1) !== 0,
    external_voltage: optionalNumber(external),
    battery_voltage: optionalNumber(battery),
  })
}

const TIMED = /^\d{12},/
const ADC = /,ADC:([^;,]*)(?:;([^;,]*))?/
const DTT = /,DTT:[^;,]*;([\dA-Fa-f]+)/

/** Each value of ADC stands behind the number of its input: 0 is the external voltage, 2 the battery (inferred). */
function voltagesOfFirstVersion(record: string): Said | undefined {
  const inputs = valuesOf(record, 'ADC:') ?? []
  const voltage = (input: string) => {
    const at = inputs.findIndex((value, index) => index % 2 === 0 && value === input)
    return at < 0 ? undefined : optionalNumber(inputs[at + 1])
  }
  return said({ external_voltage: voltage('0'), battery_voltage: voltage('2') })
}

/** The values of an item; undefined if it is missing. */
function valuesOf(record: string, name: string): string[] | undefined {
  const at = record.startsWith(name) ? 0 : record.indexOf(`,${name}`) + 1
  if (at === 0 && !record.startsWith(name)) return undefined
  const end = record.indexOf(',', at)
  return record.slice(at + name.length, end < 0 ? undefined : end).split(';')
}

function placeOf([y, x, speed, course, altitude, hdop]: readonly (string | undefined)[]): Omit<Fix, 'time' | 'valid'> {
  return {
    latitude: angle(y ?? '', 'N', 'S'),
    longitude: angle(x ?? '', 'E', 'W'),
    speed: optionalNumber(speed, kmh),
    heading: heading(optionalNumber(course)),
    altitude: optionalNumber(altitude),
    hdop: dop(optionalNumber(hdop)),
  }
}

function angle(field: string, positive: string, negative: string): number {
  const value = number(field.slice(1))
  if (field[0] === negative) return -value
  if (field[0] === positive) return value
  throw new DecodeError('malformed', `"${field.slice(0, 40)}" has no hemisphere`)
}
