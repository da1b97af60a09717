import { DecodeError, eachReadable, enveloped } from './errors.ts'
import { entriesMessage, flagOf, jsonTime } from './json-protocol.ts'
import { compileJsonList, compileJsonPath, type FindValue, type JsonPath, jsonPathText } from './json-path.ts'
import { holdsPlace } from './place-search.ts'
import type { Fix, HttpRequest, Message, Protocol, Session } from './protocol.ts'
import { ALARMS, type Alarm, type Said, said as withoutUnknown } from './said.ts'
import { digitsOf, number, objectOf, optionalNumber, parseJson } from './text.ts'
import { dop, heading, kmh, knots, known, mph, rfc3339 } from './units.ts'
import { bodyText, jsonBody } from './web.ts'

/** What turns a value in a unit into metres a second, and into volts. */
const SPEED_UNITS = { ms: (value: number) => value, kmh, knots, mph }
const VOLTAGE_UNITS = { v: (value: number) => value, mv: (value: number) => value / 1000 }
export const TIME_FORMATS = ['s', 'ms', 'iso'] as const

/** A path, and the unit of the value there. */
interface MeasuredPath<Unit extends string> {
  readonly path: JsonPath
  readonly unit: Unit
}

type SpeedUnit = keyof typeof SPEED_UNITS
type VoltageUnit = keyof typeof VOLTAGE_UNITS

/** Where the values of somebody's JSON stand: one entry of mappings.yaml. */
export interface MappingDescription {
  /** Without it, the device of the topic, or the parameter `id` of the address. */
  readonly device?: JsonPath
  /** The list of entries that have a position each; without it the message is one. */
  readonly each?: JsonPath
  /** Without it a position is as of its arrival. */
  readonly time?: JsonPath
  /** Without it: seconds, ms or RFC 3339, by the value. */
  readonly time_format?: (typeof TIME_FORMATS)[number]
  readonly lat: JsonPath
  readonly lon: JsonPath
  /** False and 0: the device has no fix. */
  readonly valid?: JsonPath
  readonly accuracy?: JsonPath
  readonly hdop?: JsonPath
  readonly satellites?: JsonPath
  readonly speed?: MeasuredPath<SpeedUnit>
  readonly heading?: JsonPath
  readonly altitude?: JsonPath
  readonly said?: {
    readonly [key in 'ignition' | 'moving' | 'charging' | 'battery_percent' | 'driver' | 'alarms']?: JsonPath
  } & { readonly [key in 'external_voltage' | 'battery_voltage']?: MeasuredPath<VoltageUnit> }
}

/** What the name of a protocol begins with that is a mapping. */
export const MAPPING_PREFIX = 'map:'

/**
 * Makes a protocol of a mapping, called `map:NAME`, for HTTP and MQTT. Its paths are compiled once. A message without a place is
 * answered, and kept if it holds what looks like one (see `decodeFrame`); an address may have `id` and `token` of the device.
 */
export function mappingProtocol(name: string, description: MappingDescription): Protocol {
  const read = messageReader(description)
  return {
    name: MAPPING_PREFIX + name,
    devices: `JSON by the mapping ${name}`,
    acknowledges: 'fixes',
    http: { port: 0 },
    decode: (frame, session) => {
      const text = frame.toString()
      return read(parseJson(text), { text, session, ofAddress: NOTHING })
    },
    request: (request, session) =>
      read(jsonBody(request), { text: bodyText(request), session, ofAddress: parametersIn(request) }),
  }
}

/** Whether bytes, or the body of a request, begin as a JSON object or list does. */
export function isJson(frame: Buffer | HttpRequest): boolean {
  const bytes = Buffer.isBuffer(frame) ? frame : frame.body
  let at = 0
  while (at < bytes.length && bytes[at] <= BLANK) at++
  return bytes[at] === OPEN_OBJECT || bytes[at] === OPEN_LIST
}

/** How a message came. */
interface Source {
  readonly text: string
  readonly session: Session
  readonly ofAddress: Parameters
}

/** What the address of a request says of its device. */
interface Parameters {
  readonly id?: string
  readonly token?: string
}

function parametersIn({ uri }: HttpRequest): Parameters {
  const at = uri.indexOf('?')
  if (at < 0 || uri.length - at > LONGEST_QUERY) return NOTHING
  const parameters = new URLSearchParams(uri.slice(at + 1))
  return { id: parameters.get('id') || undefined, token: parameters.get('token') || undefined }
}

function messageReader(mapping: MappingDescription): (message: unknown, source: Source) => Message {
  const readFix = fixReader(mapping)
  const saidOf = mapping.said && saidReader(mapping.said)
  const deviceOf = deviceReader(mapping.device)
  if (mapping.each === undefined)
    return (message, source) => {
      const object = objectOf(message, 'the message')
      const device = deviceOf(object, message, source)
      const envelope: Message = { device, secret: source.ofAddress.token }
      return enveloped(envelope, () => {
        const said = saidOf?.(object, message)
        const fix = readFix(object, message, source.session)
        if (!fix) return { none: 'no place', said }
        if (said) fix.said = said
        return { fixes: [fix] }
      })
    }
  const path = mapping.each
  const listOf = compileJsonList(path)
  return (message, source) => {
    const list = listOf(message)
    if (!list) throw new DecodeError('malformed', `${jsonPathText(path)} is missing`)
    const { good, unreadable } = eachReadable(
      list,
      (entry) => {
        const device = deviceOf(entry, message, source)
        const fix = readFix(entry, message, source.session)
        const said = saidOf?.(entry, message)
        if (!fix || !said) return { device, fix, said }
        fix.said = said
        return { device, fix }
      },
      ({ fix }, entry) => !fix && holdsPlace(entry),
    )
    return { ...entriesMessage(good, 'no place'), secret: source.ofAddress.token, unreadable }
  }
}

function deviceReader(path?: JsonPath): (entry: unknown, message: unknown, source: Source) => string | undefined {
  const find = path && compileJsonPath(path)
  const name = path?.steps.findLast((step) => typeof step === 'string') ?? ''
  return (entry, message, { text, session, ofAddress }) => {
    const id = find ? find(entry, message) : ofAddress.id
    if (typeof id === 'string' && id !== '') return id
    if (typeof id === 'number') return Number.isSafeInteger(id) ? String(id) : digitsOf(text, name, id)
    if (session.transport !== 'http') return undefined
    throw new DecodeError('malformed', path ? `${jsonPathText(path)} is missing` : 'the address has no id')
  }
}

/** Reads the fix of an entry; undefined if it has no place. @throws DecodeError `malformed` */
function fixReader(mapping: MappingDescription) {
  const { lat, lon, valid, time, time_format } = mapping
  const [findLat, findLon] = [compileJsonPath(lat), compileJsonPath(lon)]
  const findTime = time && compileJsonPath(time)
  const findValid = valid && compileJsonPath(valid)
  const timeOf = TIMES[time_format ?? 'any']
  const measured = measuresOf(mapping)
  return (entry: unknown, message: unknown, session: Session): Fix | undefined => {
    const latitude = coordinate(findLat(entry, message), lat)
    const longitude = coordinate(findLon(entry, message), lon)
    if (latitude === undefined || longitude === undefined) return undefined
    const at = findTime ? timeOf(findTime(entry, message)) : session.now
    if (at === undefined) throw new DecodeError('malformed', `${jsonPathText(time as JsonPath)} is missing`)
    const fix: Fix = { time: at, latitude, longitude, valid: !findValid || isFix(findValid(entry, message)) }
    for (const { find, field, read } of measured) fix[field] = read(optionalNumber(find(entry, message)))
    return fix
  }
}

/** Whether a value says that there is a fix: all but false, 0 and the words for that. */
function isFix(value: unknown): boolean {
  return !NO_FIX.has(typeof value === 'string' ? value.trim().toLowerCase() : value)
}

const NO_FIX: ReadonlySet<unknown> = new Set([false, 0, 'false', '0', 'no', 'off', 'v', 'invalid', 'no fix', 'nofix'])

type Measure = (value: number | undefined) => number | undefined

function measuresOf({ accuracy, altitude, hdop, heading: course, satellites, speed }: MappingDescription) {
  const fields = [
    ['accuracy', accuracy, known],
    ['altitude', altitude, (value) => value],
    ['hdop', hdop, dop],
    ['heading', course, heading],
    ['satellites', satellites, known],
    ['speed', speed?.path, positive(SPEED_UNITS[speed?.unit ?? 'ms'])],
  ] as const satisfies readonly (readonly [field: keyof Fix, path: JsonPath | undefined, read: Measure])[]
  return fields.flatMap(([field, path, read]) => (path ? [{ find: compileJsonPath(path), field, read }] : []))
}

function positive(unit: (value: number) => number): Measure {
  return (value) => (value !== undefined && value >= 0 ? unit(value) : undefined)
}

/** A finite number, or the text of one; undefined if there is none. @throws DecodeError `malformed` */
function coordinate(value: unknown, path: JsonPath): number | undefined {
  if (value === undefined || value === null || value === '' || value === 'null') return undefined
  if (typeof value === 'number') return value
  if (typeof value === 'string') return number(value)
  throw new DecodeError('malformed', `${jsonPathText(path)} is a ${typeof value}, not a number`)
}

/** ms UTC of the value of a time, by its format; undefined if there is none. @throws DecodeError `malformed` */
const TIMES: Readonly<Record<'s' | 'ms' | 'iso' | 'any', (value: unknown) => number | undefined>> = {
  s: (value) => instant(value, (seconds) => Math.round(seconds * 1000)),
  ms: (value) => instant(value, Math.trunc),
  iso: (value) => (isNothing(value) ? undefined : rfc3339(String(value))),
  any: jsonTime,
}

function instant(value: unknown, toMs: (value: number) => number): number | undefined {
  if (isNothing(value)) return undefined
  if (typeof value !== 'number' && typeof value !== 'string')
    throw new DecodeError('malformed', 'a time is neither a number nor text')
  return toMs(typeof value === 'number' ? value : number(value))
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === 'null'
}

function saidReader(
  paths: NonNullable<MappingDescription['said']>,
): (entry: unknown, message: unknown) => Said | undefined {
  const readers = SAID.flatMap(([key, read]) => {
    const path = paths[key]
    if (path === undefined) return []
    const find = compileJsonPath('path' in path ? path.path : path)
    const unit = 'path' in path ? VOLTAGE_UNITS[path.unit] : undefined
    return [readerOf(key, find, (value) => read(value, unit))]
  })
  return (entry, message) => {
    const found: Said = {}
    for (const read of readers) read(found, entry, message)
    return withoutUnknown(found)
  }
}

function readerOf(key: keyof Said, find: FindValue, read: (value: unknown) => unknown) {
  return (found: Partial<Record<keyof Said, unknown>>, entry: unknown, message: unknown): void => {
    found[key] = read(find(entry, message))
  }
}

type ReadSaid = (value: unknown, unit?: (value: number) => number) => unknown

const measuredIn: ReadSaid = (value, unit) => optionalNumber(value, unit)

const SAID: readonly (readonly [key: keyof Said, read: ReadSaid])[] = [
  ['ignition', flagOf],
  ['moving', flagOf],
  ['charging', flagOf],
  ['external_voltage', measuredIn],
  ['battery_voltage', measuredIn],
  ['battery_percent', measuredIn],
  ['driver', (value) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined)],
  ['alarms', alarmsNamed],
]

/** The alarms that a text, or a list of texts, names as `said` does. */
function alarmsNamed(value: unknown): readonly Alarm[] {
  const names = [value].flat()
  return ALARMS.filter((alarm) => names.includes(alarm))
}

const NOTHING = {}
const BLANK = 0x20
const OPEN_OBJECT = 0x7b
const OPEN_LIST = 0x5b
const LONGEST_QUERY = 2000
