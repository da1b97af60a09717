import { type Characters, charactersOf, END, isClear, upTo } from './characters.ts'
import type { Draft } from './draft.ts'
import { DecodeError } from './errors.ts'
import type { Session } from './protocol.ts'
import type { Alarm } from './said.ts'
import { decimal, malformed } from './text.ts'
import { degreesMinutes, dop, heading, kmh, knots, known, mph, unixTime } from './units.ts'

type Read = (text: string, draft: Draft, session: Session) => void

/** A field of a drawn line. */
export interface Field {
  /**
   * Source of a regular expression without groups, anchors and `^`; without it, everything up to what follows. A function is
   * given the characters that may follow.
   */
  readonly like?: string | ((next: Characters) => string)
  /** Takes the text of the field, which is not empty, into the draft. @throws DecodeError */
  readonly read?: Read
  /** Which alarm its texts mean; others mean none. */
  readonly alarms?: Readonly<Record<string, Alarm>>
}

/** A field that is a number: a pattern may give it a width and a divisor. */
export interface NumberField {
  readonly set: (value: number, draft: Draft) => void
  /** Whether a text that is no number costs only the value: the field takes everything up to what follows. */
  readonly isLoose?: boolean
}

const anything = (next: Characters) => upTo(next, '*')
const something = (next: Characters) => upTo(next, '+')

/** One or two digits; exactly two if a digit may follow the field. */
const twoDigits = (next: Characters) => ((next & charactersOf('\\d')) === 0n ? '\\d{1,2}' : '\\d{2}')

/** Fields whose texts are taken as they are. `{any}` is not read. */
const TEXTS = {
  any: { like: anything },
  records: { like: anything },
  id: { like: something, read: (text, draft) => void (draft.device = text) },
  imei: { like: '\\d{14,15}', read: (text, draft) => void (draft.device = text) },
  secret: { like: anything, read: (text, draft) => void (draft.secret = text) },
  ns: { like: '[NSns]', read: (text, draft) => void (draft.isSouth = text === 'S' || text === 's') },
  ew: { like: '[EWew]', read: (text, draft) => void (draft.isWest = text === 'W' || text === 'w') },
  valid: { like: '[AaVvLlN01]', read: (text, draft) => void (draft.valid = 'Aa1'.includes(text)) },
  ignition: { like: '[01]', read: (text, draft) => void (draft.beside.ignition = text === '1') },
  moving: { like: '[01]', read: (text, draft) => void (draft.beside.moving = text === '1') },
  charging: { like: '[01]', read: (text, draft) => void (draft.beside.charging = text === '1') },
  driver: { like: anything, read: (text, draft) => void (draft.beside.driver = text) },
  /** The quality in a GGA sentence: 0 means no fix. */
  quality: { like: '\\d', read: (text, draft) => void (draft.valid = text !== '0') },
} satisfies Record<string, Field>

const TIMES = {
  year: { like: '\\d{4}', read: (text, draft) => void (draft.year = +text) },
  yyyy: { like: '\\d{4}', read: (text, draft) => void (draft.year = +text) },
  yy: { like: '\\d{2}', read: (text, draft) => void (draft.year = 2000 + +text) },
  month: { like: twoDigits, read: (text, draft) => void (draft.month = +text) },
  day: { like: twoDigits, read: (text, draft) => void (draft.day = +text) },
  hour: { like: twoDigits, read: (text, draft) => addClock(draft, +text, 24, 3_600_000) },
  minute: { like: twoDigits, read: (text, draft) => addClock(draft, +text, 60, 60_000) },
  second: { like: twoDigits, read: (text, draft) => addClock(draft, +text, 61, 1000) },
  ymd: { like: '\\d{6}', read: (text, draft) => setDate(draft, 2000 + at(text, 0), at(text, 2), at(text, 4)) },
  dmy: { like: '\\d{6}', read: (text, draft) => setDate(draft, 2000 + at(text, 4), at(text, 2), at(text, 0)) },
  yyyymmdd: { like: '\\d{8}', read: (text, draft) => setDate(draft, +text.slice(0, 4), at(text, 4), at(text, 6)) },
  ddmmyyyy: { like: '\\d{8}', read: (text, draft) => setDate(draft, +text.slice(4), at(text, 2), at(text, 0)) },
  hhmm: { like: '\\d{4}', read: (text, draft) => setClock(draft, `${text}00`) },
  hhmmss: { like: '\\d{6}', read: (text, draft) => setClock(draft, text) },
  hms: { like: '\\d{6}[\\d.]*|', read: (text, draft) => setClock(draft, text) },
  unix: { like: '\\d+', read: (text, draft) => void (draft.time = unixTime(+text)) },
} satisfies Record<string, Field>

const NUMBERS = {
  lat: { set: (value, draft) => void (draft.latitude = value) },
  lon: { set: (value, draft) => void (draft.longitude = value) },
  latNmea: { set: (value, draft) => void (draft.latitude = degreesMinutes(value)) },
  lonNmea: { set: (value, draft) => void (draft.longitude = degreesMinutes(value)) },
  latDeg: { set: (value, draft) => void (draft.latitude = value) },
  lonDeg: { set: (value, draft) => void (draft.longitude = value) },
  latMin: { set: (value, draft) => void (draft.latitude = within(draft.latitude, value / 60)) },
  lonMin: { set: (value, draft) => void (draft.longitude = within(draft.longitude, value / 60)) },
  latSec: { set: (value, draft) => void (draft.latitude = within(draft.latitude, value / 3600)) },
  lonSec: { set: (value, draft) => void (draft.longitude = within(draft.longitude, value / 3600)) },
  speedKnots: { set: (value, draft) => void (draft.speed = known(knots(value))) },
  speedKmh: { set: (value, draft) => void (draft.speed = known(kmh(value))) },
  speedMph: { set: (value, draft) => void (draft.speed = known(mph(value))) },
  speedMs: { set: (value, draft) => void (draft.speed = known(value)) },
  course: { set: (value, draft) => void (draft.heading = heading(value)) },
  altitude: { set: (value, draft) => void (draft.altitude = value) },
  accuracy: { set: (value, draft) => void (draft.accuracy = known(value)) },
  hdop: { set: (value, draft) => void (draft.hdop = dop(value)) },
  satellites: { set: (value, draft) => void (draft.satellites = known(value)) },
  externalVolts: { set: (value, draft) => void (draft.beside.external_voltage = value), isLoose: true },
  batteryVolts: { set: (value, draft) => void (draft.beside.battery_voltage = value), isLoose: true },
  batteryPercent: { set: (value, draft) => void (draft.beside.battery_percent = value), isLoose: true },
} satisfies Record<string, NumberField>

/** The fields of the kit, by name. */
export const FIELDS: ReadonlyMap<string, Field | NumberField> = new Map(
  Object.entries({ ...TEXTS, ...TIMES, ...NUMBERS }),
)

/** Fields that make a place of a line. */
export const PLACES: readonly string[] = Object.keys(NUMBERS).filter((name) => /^(lat|lon)/.test(name))

/** Behind the type of an NMEA sentence, as in `$GPRMC,…`: the fields up to the last that matters. */
export const RMC = '{hms},[{valid}],{latNmea},[{ns}],{lonNmea},[{ew}],{speedKnots},{course},[{dmy}]'
export const GGA = '{hms},{latNmea},[{ns}],{lonNmea},[{ew}],[{quality}],{satellites},{hdop},{altitude}'
export const GLL = '{latNmea},[{ns}],{lonNmea},[{ew}],{hms},[{valid}]'

/** A sign, digits and points; all of it may be missing. Blanks may lead, and `+`, unless these end the number. */
function anyNumber(next: Characters): string {
  const has = (character: string) => (next & charactersOf(character)) !== 0n
  return `${has(' ') ? '' : ' *'}${has('\\+') ? '-?' : '[-+]?'}[\\d.]*`
}

/** All text up to what follows, if that is clear; else a number. */
function anyText(next: Characters): string {
  return next === END || !isClear(next) ? anyNumber(next) : upTo(next)
}

/**
 * The field of a number: `width` characters wide if need be, its value divided by `divisor`. A `measurement` is left out if it is
 * no number: a fix is as good without it.
 */
export function numberField({ set, isLoose }: NumberField, { width, divisor, isMeasurement }: NumberForm): Field {
  const bad = isMeasurement ? () => undefined : malformed
  return {
    like: width === undefined ? (isLoose ? anyText : anyNumber) : `[-+ \\d.]{${width}}`,
    read(text, draft) {
      const value = decimal(text, bad)
      if (value !== undefined) set(value / divisor, draft)
    },
  }
}

interface NumberForm {
  readonly width: number | undefined
  readonly divisor: number
  readonly isMeasurement: boolean
}

/** Adds a part to degrees, away from zero. */
function within(degrees: number | undefined, part: number): number | undefined {
  if (degrees === undefined) return undefined
  return degrees < 0 || Object.is(degrees, -0) ? degrees - part : degrees + part
}

function setDate(draft: Draft, year: number, month: number, day: number): void {
  draft.year = year
  draft.month = month
  draft.day = day
}

function addClock(draft: Draft, value: number, limit: number, ms: number): void {
  if (value >= limit) throw new DecodeError('malformed', `${value} is not a part of a time of day`)
  draft.clock = (draft.clock ?? 0) + value * ms
}

/** Sets the time of day from hhmmss with or without a fraction. */
function setClock(draft: Draft, text: string): void {
  const fraction = text.length > 6 ? Math.trunc(+`0${text.slice(6)}` * 1000) : 0
  if (!(fraction >= 0 && fraction < 1000))
    throw new DecodeError('malformed', `"${text.slice(0, 40)}" is not a time of day`)
  draft.clock = fraction
  addClock(draft, at(text, 0), 24, 3_600_000)
  addClock(draft, at(text, 2), 60, 60_000)
  addClock(draft, at(text, 4), 61, 1000)
}

/** Two digits of a text, which are digits. */
function at(text: string, index: number): number {
  return text.charCodeAt(index) * 10 + text.charCodeAt(index + 1) - 528
}
