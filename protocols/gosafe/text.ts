import {
  DecodeError,
  dop,
  eachReadable,
  type Fix,
  heading,
  kmh,
  type Message,
  number,
  optionalNumber,
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
  const { good, unreadable } = eachReadable(records, fixOf)
  const fixes = good.filter((fix) => fix !== undefined)
  return fixes.length > 0
    ? { device, fixes, unreadable, reply: REPLY }
    : { device, none: 'no place', unreadable, reply: REPLY }
}

/** Undefined of a record without a position. */
function fixOf(record: string): Fix | undefined {
  const values = positionOf(record)
  if (!values) return undefined
  if (/^\d{6}$/.test(values[0])) return ofFirstVersion(values)
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
  }
}

function ofFirstVersion([time, validity, latitude, longitude, speed, course, date]: readonly string[]):
  | Fix
  | undefined {
  if (!latitude || !longitude) return undefined
  return { ...placeOf([latitude, longitude, speed, course]), ...fixTime(time, date), valid: validity === 'A' }
}

function fixTime(time: string, date: string | undefined): { time: number } {
  return { time: utcDmy(date ?? '', time) }
}

/** The values of the item GPS. */
function positionOf(record: string): string[] | undefined {
  const at = record.startsWith('GPS:') ? 4 : record.indexOf(',GPS:') + 5
  if (at === 4 && !record.startsWith('GPS:')) return undefined
  const end = record.indexOf(',', at)
  return record.slice(at, end < 0 ? undefined : end).split(';')
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
