import {
  type Alarm,
  alarmsOf,
  DecodeError,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  number,
  optionalNumber,
  type Said,
  said,
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
const INPUTS = 17
const ALERT = 19
const ASSIGNED = 23
/** By the number of the emergency (EMG), and of the alert (ALT). */
export const EMERGENCIES: Readonly<Record<string, Alarm>> = { 1: 'sos', 3: 'power_cut', 7: 'movement', 8: 'vibration' }
export const ALERTS: Readonly<Record<string, Alarm>> = {
  3: 'gps_antenna_cut',
  14: 'low_power',
  15: 'vibration',
  16: 'accident',
  40: 'power_restored',
  41: 'power_cut',
  42: 'sos',
  50: 'jamming',
}
const MODEL = /^(?:ST|SA)\d{3,4}/

/** The message of a report in text. @throws DecodeError */
export function text(frame: Buffer): Message {
  const fields = trimEnd(frame).toString('latin1').split(';')
  const [header, second = ''] = fields
  if (second === '') throw new DecodeError('unsupported')
  const model = MODEL.exec(header)?.[0] ?? ''
  const type = header.slice(model.length)
  if (model !== '' && type === '') return ofType(second, fields[2], () => placeBehindClock(fields, {}))
  if (type === 'CMD' || second === 'Res') return { device: fields[2], none: 'command answer' }
  if (type === 'HTE') return { device: second, none: 'trip', said: said({ driver: fields.findLast(isKey) }) }
  if (model !== '') return ofType(type, second, () => placeBehindClock(fields, { model, type }))
  if (type === 'BDA' || type === 'SNB') return ofType(type, second, () => placeOfScan(fields))
  return ofType(type, second, () => universal(fields))
}

function ofType(type: string, device: string | undefined, fix: () => Fix | undefined): Message {
  if (NONE.has(type)) return { device, none: NONE.get(type) }
  const isKnown = POSITIONS.has(type) || WORDS.has(type)
  return enveloped({ device }, () => {
    const read = isKnown ? fix() : ofUnknown(fix)
    if (read) return { fixes: [read] }
    return isKnown ? { none: 'no place' } : {}
  })
}

/** The fix of a type that is not known, where it is laid out as the others are. */
function ofUnknown(fix: () => Fix | undefined): Fix | undefined {
  try {
    return fix()
  } catch {
    return undefined
  }
}

/** Model and type of a report; ST910 has neither in its first field, and no satellites behind the course. */
interface Header {
  readonly model?: string
  readonly type?: string
}

/** Where a date and a time stand, cells may follow, but nothing else that looks like two angles. */
function placeBehindClock(fields: readonly string[], { model, type }: Header): Fix | undefined {
  const hasSatellites = model !== undefined
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
    said: hasSatellites
      ? (saidBehind(fields.slice(place + 6), type) ?? saidBefore(fields.slice(0, clock)))
      : said({ battery_voltage: volts(fields[place + 5]) }),
  }
}

/** Behind the fix: distance, main power, inputs and outputs; the alert, emergency, event or mode; the backup battery later. */
function saidBehind(fields: readonly string[], type?: string): Said | undefined {
  const [, power = '', inputs = '', id = ''] = fields
  if (!INPUTS_OUTPUTS.test(inputs)) return said({ external_voltage: withPoint(power) })
  return said({
    ignition: inputs[0] === '1',
    external_voltage: withPoint(power),
    // An STT has the number of the message behind its mode; all have the hours of the engine before the battery.
    battery_voltage: type === 'UEX' ? undefined : (volts(fields[type === 'STT' ? 6 : 5]) ?? eventVolts(fields, type)),
    driver: fields.slice(6).find(isKey),
    alarms: alarmsOf(type === 'EMG' && EMERGENCIES[id], type === 'ALT' && ALERTS[id]),
  })
}

/** Some events have a mode and the number of the message in front of the hours, as STT has: inferred from one frame. */
function eventVolts(fields: readonly string[], type?: string): number | undefined {
  return type === 'EVT' ? volts(fields[7]) : undefined
}

/** ST410 and its kin have their battery among the fields before the date, behind the cells. */
function saidBefore(fields: readonly string[]): Said | undefined {
  return said({ battery_voltage: volts(fields.findLast((field) => volts(field) !== undefined)) })
}

/** The place of a scan for sensors (BDA, SNB), where its date and time say that there is one. It has no flag of a fix. */
function placeOfScan(fields: readonly string[]): Fix | undefined {
  const clock = fields.findIndex((field, i) => isDate(field) && isTime(fields[i + 1] ?? ''))
  const [latitude = '', longitude = ''] = clock < 0 ? [] : fields.slice(clock + 2)
  if (!isAngle(latitude) || !isAngle(longitude)) return undefined
  return {
    time: timeOf(fields[clock], fields[clock + 1]),
    latitude: number(latitude),
    longitude: number(longitude),
    valid: true,
  }
}

/** A report whose mask says which fields it has, from the id (bit 0) on. */
function universal(fields: readonly string[]): Fix | undefined {
  const mask = Number.parseInt(fields[2], 16)
  const indexes: (number | undefined)[] = []
  let at = 3
  for (let bit = 1; bit <= ASSIGNED; bit++) indexes[bit] = (mask >>> bit) & 1 ? at++ : undefined
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
    said: said({
      ignition: isBits(field(INPUTS)) ? field(INPUTS).endsWith('1') : undefined,
      alarms: fields[0] === 'ALT' ? alarmsOf(ALERTS[field(ALERT)]) : undefined,
      ...(fields[0] === 'UEX' ? { driver: cardOf(fields) } : assigned(fields.slice(at), field(ASSIGNED))),
    }),
  }
}

/** The card that a reader passed through as user data: GTSL|a|b|c|card|…, inferred from frames. */
function cardOf(fields: readonly string[]): string | undefined {
  return CARD.exec(fields.find((field) => field.startsWith('GTSL|')) ?? '')?.[1]
}

const CARD = /^GTSL\|\d+\|\d+\|\d+\|(\w+)\|/

/**
 * The backup battery and the main power: the first of the fields that a report has behind those of its mask. A mask of
 * their own (hex) says whether they are there; without it they are.
 */
function assigned([first = '', second = '']: readonly string[], mask: string): Said {
  const has = mask === '' ? 3 : Number.parseInt(mask, 16) & 3
  return {
    battery_voltage: has & 1 ? withPoint(first) : undefined,
    external_voltage: has & 2 ? withPoint(has & 1 ? second : first) : undefined,
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

/** A voltage of the tracker's own battery; undefined of other fields, since their number differs between models. */
function volts(field: string | undefined): number | undefined {
  return field !== undefined && BATTERY.test(field) ? Number(field) : undefined
}

function withPoint(field: string): number | undefined {
  return VOLTAGE.test(field) ? Number(field) : undefined
}

function isBits(field: string): boolean {
  return field.length === 8 && INPUTS_OUTPUTS.test(field)
}

/** The key of a driver: 14 hexadecimal digits. */
function isKey(field: string): boolean {
  return field.length === 14 && KEY.test(field)
}

const INPUTS_OUTPUTS = /^[01]{6,10}$/
const VOLTAGE = /^\d{1,2}\.\d{1,2}$/
const BATTERY = /^[0-4]\.\d{1,2}$/
const KEY = /^[0-9A-F]+$/
const ANGLE = /^(?:[+-]\d{1,3}\.\d+|\d{1,3}\.\d{5,})$/
const DATE_DIGITS = /^\d{8}$/
const CLOCK = /^\d\d:\d\d:\d\d$/

function timeOf(date: string, time: string): number {
  return utcYmd(date + time.slice(0, 2) + time.slice(3, 5) + time.slice(6))
}

function measured(field: string | undefined, convert = (value: number) => value): number | undefined {
  return optionalNumber(field, convert)
}
