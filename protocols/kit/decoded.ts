import type { Fix, Message } from './protocol.ts'
import { type Said as Beside, said as beside } from './said.ts'
import type { JsonObject } from './text.ts'
import { dop, heading, kmh, knots, known, mph, rfc3339, unixTime, utc } from './units.ts'

/**
 * The places in what a payload formatter has made of a payload, in their order. Each formatter names things differently, so names
 * are compared without case and separators, and a unit in a name counts: `Latitude`, `gpsLat`, `latitudeDeg`, `speedKmph`. Latitude
 * and longitude must stand in one object, named alike, or in a text such as `Location: "52.5,13.4"`; what their object does not say
 * is that of the objects around it. Of several places, those with a time of their own; others are `unreadable`, unless they say the
 * same again. `received`: ms UTC, where no time is said.
 */
export function decodedFixes(payload: JsonObject, received: number): DecodedFixes {
  const places: Place[] = []
  collect(payload, { around: {}, depth: 0, places })
  const kept = places.filter(({ isTimed }, index) => index === 0 || isTimed)
  const isKept = new Set(kept.map(({ latitude, longitude }) => `${latitude},${longitude}`))
  if (kept.length === 0) return { fixes: [], said: besideIn(payload) }
  const left = places.flatMap(({ latitude, longitude }, index) =>
    isKept.has(`${latitude},${longitude}`) ? [] : [index],
  )
  return { fixes: kept.map((place) => fixOf(place, received)), unreadable: left.length > 0 ? left : undefined }
}

interface DecodedFixes extends Pick<Message, 'unreadable' | 'said'> {
  readonly fixes: readonly Fix[]
}

interface Place {
  readonly latitude: number
  readonly longitude: number
  readonly said: Said
  /** Whether its own object says its time. */
  readonly isTimed: boolean
}

/** What names and values say besides the place; `time` and `date` as they came. */
type Said = { [quantity in 'speed' | 'heading' | 'altitude' | 'accuracy' | 'hdop' | 'satellites']?: number } & {
  beside?: Beside
  isFixed?: boolean
  time?: unknown
  date?: unknown
}

interface Search {
  readonly around: Said
  readonly depth: number
  readonly places: Place[]
}

function collect(value: object, { around, depth, places }: Search): void {
  const object = Array.isArray(value) ? measurements(value) : (value as JsonObject)
  const own: Said = {}
  const coordinates = new Map<string, number>()
  for (const [name, member] of Object.entries(object)) read(plain(name), member, own, coordinates)
  const said = { ...around, ...own, beside: { ...around.beside, ...own.beside } }
  const place = pairOf(coordinates) ?? textPlace(object)
  if (place) places.push({ ...place, said, isTimed: timeOf(own) !== undefined })
  if (depth === DEEPEST) return
  for (const [name, member] of Object.entries(value))
    if (typeof member === 'object' && member !== null && !ELSEWHERE.test(plain(name)))
      collect(member, { around: said, depth: depth + 1, places })
}

const DEEPEST = 5
/** Objects with the places of something else than the device. */
const ELSEWHERE = /^(?:rx|gateway|gw|hotspot|basestation|beacon|anchor|ble|wifi|cell|home|geo?fence)/

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** A list of `{ type, measurementValue, timestamp }` (SenseCAP) as one object. */
function measurements(list: readonly unknown[]): JsonObject {
  const entries = list.flatMap((each): [string, unknown][] => {
    const { type, measurementValue, timestamp } = (each ?? {}) as JsonObject
    return typeof type === 'string' && measurementValue !== undefined
      ? [
          [type, measurementValue],
          ['timestamp', timestamp],
        ]
      : []
  })
  return Object.fromEntries(entries)
}

function read(name: string, value: unknown, said: Said, coordinates: Map<string, number>): void {
  if (value === null || value === undefined) return
  if (TIME.test(name)) said.time = value
  else if (name === 'date') said.date = value
  else if (FAILED.test(name)) said.isFixed = !isTrue(value)
  else if (FIXED.test(name)) said.isFixed = !isFalse(value)
  else readBeside(name, value, (said.beside ??= {}))
  const number = numberIn(value)
  if (number === undefined) return
  if (COORDINATE.test(name)) coordinates.set(name, number)
  const speed = SPEED.exec(name)?.[1]
  if (speed !== undefined && Object.hasOwn(SPEEDS, speed)) said.speed = SPEEDS[speed](number)
  for (const [quantity, pattern] of QUANTITIES) if (pattern.test(name)) said[quantity] = number
}

/** Says of the battery, of an alarm (Dragino: `ALARM_status`, the button) and of moving (`Transport`: MOVE, STILL). */
function readBeside(name: string, value: unknown, found: Beside): void {
  if (ALARM.test(name) && isTrue(value)) found.alarms = ['sos']
  else if (name === 'transport') found.moving = MOVING.get(lower(value))
  const number = numberIn(value)
  if (number === undefined) return
  if (BATTERY_VOLTS.test(name)) found.battery_voltage = number > MOST_VOLTS ? number / 1000 : number
  else if (BATTERY_PERCENT.test(name)) found.battery_percent = number
}

function besideIn(payload: JsonObject): Beside | undefined {
  const found: Beside = {}
  for (const [name, member] of Object.entries(payload)) readBeside(plain(name), member, found)
  return beside(found)
}

const ALARM = /^(?:alarmstatus|sos|panic)$/
const MOVING: ReadonlyMap<unknown, boolean> = new Map([
  ['move', true],
  ['still', false],
])
const BATTERY_VOLTS = /^bat(?:t|tery)?(?:v|volts|voltage)$/
const BATTERY_PERCENT = /^bat(?:t|tery)?(?:percent|percentage|pct|level)$/
/** Above it a voltage of a tracker's battery is in mV. */
const MOST_VOLTS = 100

const TIME = /^(?:gps|gnss|fix|utc|position|location|measurement)?(?:time|timestamp|datetime|timeutc)$/
const FAILED = /^(?:gps|gnss)?(?:fixfailed|nofix)$/
const FIXED = /^(?:gps|gnss|position|location)?(?:has)?(?:fix|valid|fixvalid|isvalid)$/
const COORDINATE = /^(?:gps|gnss|position|pos|location|loc)?(?:lat|lon|lng)/
const SPEED = /^(?:gps|gnss|ground)?speed(.*)$/
/** Without a unit the formatter mostly passes on what a GPS module says: knots. */
const SPEEDS: Readonly<Record<string, (value: number) => number>> = {
  '': knots,
  kn: knots,
  kt: knots,
  kts: knots,
  knots,
  kmh,
  kph: kmh,
  kmph: kmh,
  kmhr: kmh,
  mph,
  ms: Number,
  mps: Number,
}
const QUANTITIES = [
  ['heading', /^(?:gps|gnss)?(?:heading|course|bearing|cog|direction)(?:deg|degrees)?$/],
  ['altitude', /^(?:gps|gnss)?(?:altitude|alt)(?:m|meters|metres)?$/],
  ['accuracy', /^(?:(?:gps|gnss|position|location|horizontal|h)?accuracy|hacc)(?:m|meters|metres)?$/],
  ['hdop', /^(?:gps|gnss)?hdop$/],
  ['satellites', /^(?:gps|gnss)?(?:num)?(?:sats?|satellites?)(?:count)?$/],
] as const

const isTrue = (value: unknown): boolean => [true, 1, 'true', '1', 'yes'].includes(lower(value))
const isFalse = (value: unknown): boolean => [false, 0, 'false', '0', 'no', 'none', 'invalid'].includes(lower(value))
const lower = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : (value as boolean | number))

function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && DECIMAL.test(value) ? Number(value) : undefined
}

const DECIMAL = /^\s{0,4}[+-]?\d{1,20}(?:\.\d{1,20})?\s{0,4}$/

/** A latitude and a longitude whose names differ in nothing else: `Latitude` and `LON` (an LED of Dragino) are no pair. */
function pairOf(coordinates: ReadonlyMap<string, number>): Pick<Place, 'latitude' | 'longitude'> | undefined {
  for (const [name, latitude] of coordinates) {
    const [, before, form, behind] = LATITUDE.exec(name) ?? []
    if (form === undefined) continue
    const others = form === 'lat' ? ['lon', 'lng', 'long'] : ['longitude', 'longitud']
    const other = others.find((each) => coordinates.has(`${before}${each}${behind}`))
    const longitude = other === undefined ? undefined : coordinates.get(`${before}${other}${behind}`)
    if (longitude !== undefined) return { latitude, longitude }
  }
  return undefined
}

const LATITUDE = /^(gps|gnss|position|pos|location|loc|)(latitude|latitud|lat)(deg|degrees|)$/

/** Latitude and longitude in one text, as Dragino and others write them for maps. */
function textPlace(object: JsonObject): Pick<Place, 'latitude' | 'longitude'> | undefined {
  for (const [name, text] of Object.entries(object)) {
    if (typeof text !== 'string' || !PLACE_NAME.test(plain(name))) continue
    const [, latitude, longitude] = PLACE.exec(text) ?? []
    if (longitude !== undefined) return { latitude: Number(latitude), longitude: Number(longitude) }
  }
  return undefined
}

const PLACE_NAME = /^(?:gps|gnss)?(?:location|position|coordinates|latlon|latlng|latlong|gps)$/
const PLACE = /^\s{0,4}([+-]?\d{1,2}\.\d{1,20})\s{0,4}[,; ]\s{0,4}([+-]?\d{1,3}\.\d{1,20})\s{0,4}$/

function fixOf({ latitude, longitude, said }: Place, received: number): Fix {
  const { isFixed = true, altitude, accuracy, hdop, satellites } = said
  return {
    time: timeOf(said) ?? received,
    latitude,
    longitude,
    valid: isFixed,
    altitude,
    speed: known(said.speed),
    heading: heading(said.heading),
    // 0: not known.
    accuracy: dop(accuracy),
    hdop: dop(hdop),
    satellites: known(satellites),
    said: said.beside && beside(said.beside),
  }
}

/** RFC 3339, unix seconds or milliseconds, or a date and a time of day; undefined of anything else, as from a clock never set. */
function timeOf({ time, date }: Said): number | undefined {
  const number = numberIn(time)
  if (number !== undefined) return number >= EARLIEST ? unixTime(number) : undefined
  if (typeof time !== 'string') return undefined
  if (RFC3339.test(time)) return rfc3339(time)
  const [, year, month, day] = (typeof date === 'string' && DATE.exec(date)) || []
  const [, hour, minute, second] = TIME_OF_DAY.exec(time) ?? []
  if (day === undefined || second === undefined) return undefined
  return utc(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second))
}

/** Unix seconds of 2001. */
const EARLIEST = 1e9
const RFC3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d/
const DATE = /^(\d{4})[-:/.](\d{1,2})[-:/.](\d{1,2})$/
const TIME_OF_DAY = /^(\d{1,2}):(\d{1,2}):(\d{1,2})$/
