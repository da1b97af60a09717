import {
  DecodeError,
  type Fix,
  heading,
  kmh,
  type Message,
  number,
  optionalNumber,
  trimEnd,
  utcYmd,
} from '../kit/index.ts'

/** Types whose reports begin with the time and the place of the device. */
const POSITIONS = new Set(['STT', 'EMG', 'EVT', 'ALT', 'UEX'])
/** Types of ST910, which writes them as words. */
const WORDS = new Set(['Location', 'Emergency', 'Alert'])
const NONE = new Map([
  ['ALV', 'heartbeat'],
  ['Alive', 'heartbeat'],
  ['CMD', 'command answer'],
  ['RES', 'command answer'],
  ['HTE', 'trip'],
])
/** The places of fields in the bit mask of Universal reports. */
const DATE = 4
const TIME = 5
const LATITUDE = 11
const FIX = 16
const MODEL = /^(?:ST|SA)\d{3,4}/

/** The message of a report in text. @throws DecodeError */
export function text(frame: Buffer): Message {
  const fields = trimEnd(frame).toString('latin1').split(';')
  const [header, second = ''] = fields
  if (second === '') throw new DecodeError('unsupported')
  const model = MODEL.exec(header)?.[0] ?? ''
  const type = header.slice(model.length)
  if (model !== '' && type === '') return ofType(second, fields[2], () => placeBehindClock(fields, false))
  if (type === 'CMD') return { device: fields[2], none: 'command answer' }
  if (model !== '') return ofType(type, second, () => placeBehindClock(fields, true))
  return ofType(type, second, () => universal(fields))
}

function ofType(type: string, device: string | undefined, fix: () => Fix | undefined): Message {
  if (NONE.has(type)) return { device, none: NONE.get(type) }
  const isKnown = POSITIONS.has(type) || WORDS.has(type)
  const read = isKnown ? fix() : ofUnknown(fix)
  if (!read) return isKnown ? { device, none: 'no place' } : { device }
  return { device, fixes: [read] }
}

/** The fix of a type that is not known, where it is laid out as the others are. */
function ofUnknown(fix: () => Fix | undefined): Fix | undefined {
  try {
    return fix()
  } catch {
    return undefined
  }
}

/** Where a date and a time stand, cells may follow, but nothing else that looks like two angles. */
function placeBehindClock(fields: readonly string[], hasSatellites: boolean): Fix | undefined {
  const clock = fields.findIndex((field, i) => isDate(field) && isTime(fields[i + 1] ?? ''))
  if (clock < 0) throw new DecodeError('malformed', 'there is no date')
  const place = fields.findIndex((field, i) => i > clock + 1 && isAngle(field) && isAngle(fields[i + 1] ?? ''))
  if (place < 0) return undefined
  const [speed, course, satellites, valid] = fields.slice(place + 2)
  return {
    time: timeOf(fields[clock], fields[clock + 1]),
    latitude: number(fields[place]),
    longitude: number(fields[place + 1]),
    valid: (hasSatellites ? valid : satellites) === '1',
    speed: measured(speed, kmh),
    heading: heading(measured(course)),
    satellites: hasSatellites ? measured(satellites) : undefined,
  }
}

/** A report whose mask says which fields it has, from the id (bit 0) on. */
function universal(fields: readonly string[]): Fix | undefined {
  const mask = Number.parseInt(fields[2], 16)
  const indexes: (number | undefined)[] = []
  for (let bit = 1, at = 3; bit <= FIX; bit++) indexes[bit] = (mask >>> bit) & 1 ? at++ : undefined
  const field = (bit: number) => fields[indexes[bit] ?? -1] ?? ''
  if (!isAngle(field(LATITUDE)) || !isAngle(field(LATITUDE + 1))) return undefined
  if (!isDate(field(DATE)) || !isTime(field(TIME))) throw new DecodeError('malformed', 'there is no date')
  return {
    time: timeOf(field(DATE), field(TIME)),
    latitude: number(field(LATITUDE)),
    longitude: number(field(LATITUDE + 1)),
    valid: field(FIX) === '1' || indexes[FIX] === undefined,
    speed: measured(field(LATITUDE + 2), kmh),
    heading: heading(measured(field(LATITUDE + 3))),
    satellites: measured(field(LATITUDE + 4)),
  }
}

/** Whether a field is a latitude or longitude: six decimals, mostly with a sign. */
export function isAngle(field: string): boolean {
  return field.length > 3 && ANGLE.test(field)
}

/** Called for each field, so the length is checked first: it decides most fields without an expression. */
function isDate(field: string): boolean {
  return field.length === 8 && DATE_DIGITS.test(field)
}

function isTime(field: string): boolean {
  return field.length === 8 && CLOCK.test(field)
}

const ANGLE = /^(?:[+-]\d{1,3}\.\d+|\d{1,3}\.\d{5,})$/
const DATE_DIGITS = /^\d{8}$/
const CLOCK = /^\d\d:\d\d:\d\d$/

function timeOf(date: string, time: string): number {
  return utcYmd(date + time.slice(0, 2) + time.slice(3, 5) + time.slice(6))
}

function measured(field: string | undefined, convert = (value: number) => value): number | undefined {
  return optionalNumber(field, convert)
}
