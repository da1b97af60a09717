/*
 * Looks for a place in JSON, parameters and text whose names somebody else chooses: a payload formatter, a webhook, an app.
 *
 * A place is a number other than 0 under a name like latitude or longitude (`lat`, `gps_lat`, `latitudeDeg`, `Longitud`, `lng`),
 * two numbers under one like coordinates, location or position, or a pair of decimals in a text ("54.697,25.2683", NMEA too). Null,
 * an empty value, 0 and words are none: with them a device says that it has no fix.
 */
import type { HttpRequest } from './protocol.ts'
import { bodyText, jsonBody } from './web.ts'

/** Whether a member of JSON is to be left out: see `Protocol.isPlaceOfOthers`. */
type IsPlaceOfOthers = (name: string, value: unknown) => boolean

/** Whether an HTTP request, or a frame that is JSON, holds what looks like a place. Over MQTT parameters are looked at, too. */
export function looksLikePlace(frame: Buffer | HttpRequest, isMqtt: boolean, isOfOthers?: IsPlaceOfOthers): boolean {
  if (!Buffer.isBuffer(frame)) {
    const [, query = ''] = /^[^?]*\?(.*)$/s.exec(frame.uri) ?? []
    return isPlaceText(unescaped(query)) || isPlaceBody(frame, isOfOthers)
  }
  const beginning = frame.toString('latin1', 0, BEGINNING)
  const isOpen = JSON_TEXT.test(beginning) || (isMqtt && PARAMETERS.test(beginning))
  return isOpen && isPlaceContent(frame.toString(), isOfOthers)
}

/** The body of a request: JSON, or any text. */
function isPlaceBody(request: HttpRequest, isOfOthers?: IsPlaceOfOthers): boolean {
  const text = bodyText(request)
  if (text.includes('%') || !/^\s*[[{]/.test(text)) return isPlaceContent(unescaped(text), isOfOthers)
  try {
    return holdsPlace(jsonBody(request), isOfOthers)
  } catch {
    return isPlaceText(text)
  }
}

/** The content of a frame: JSON, or any text. */
function isPlaceContent(text: string, isOfOthers?: IsPlaceOfOthers): boolean {
  try {
    return holdsPlace(JSON.parse(text), isOfOthers)
  } catch {
    return isPlaceText(text)
  }
}

/** Whether a value of parsed JSON holds what looks like a place. */
export function holdsPlace(json: unknown, isOfOthers: IsPlaceOfOthers = () => false): boolean {
  // What is left to be looked at: a recursion could be as deep as the JSON.
  const left: [name: string, value: unknown][] = [['', json]]
  for (let member = left.pop(); member; member = left.pop()) {
    const [name, value] = member
    if (OF_GATEWAYS.test(name) || isOfOthers(name, value)) continue
    const numbers = numbersIn(value, isOfOthers)
    if (numbers > 0 && isAngle(name)) return true
    if (typeof value === 'string' && isPlaceText(value)) return true
    if (!isObject(value) || value.source === TYPED_IN) continue
    if (numbers > 1 && isPair(name)) return true
    // The elements of a list have its name: "coordinates": [[13.4, 52.5], …].
    for (const [key, each] of Object.entries(value)) left.push([Array.isArray(value) ? name : key, each])
  }
  return false
}

/** An object or a list of objects, also behind a `$`. */
const JSON_TEXT = /^\s*[[$]?\s*\{/
/** Parameters, also as a whole URL. */
const PARAMETERS = /^\s*(?:https?:[^\s=&]{0,120})?\??[\w.-]{1,40}=/
const BEGINNING = 200

/** Lists of what received a message in a LoRaWAN network: their places are those of its gateways. */
const OF_GATEWAYS = /^(?:rx_?metadata|rx_?info|hotspots|gateways?)$/i
/** The Things Stack: the `source` of a place that somebody typed in, of a gateway or a device. */
const TYPED_IN = 'SOURCE_REGISTRY'

function isPlaceText(text: string): boolean {
  if (text.length < SHORTEST) return false
  const [pair = ''] = PAIR_ALONE.exec(text) ?? PAIR_WITHIN.exec(text) ?? []
  if (NOT_ZERO.test(pair)) return true
  for (const [, name, digits] of text.matchAll(NAMED_NUMBER))
    if (name.length > 2 && isAngle(name) && NOT_ZERO.test(digits)) return true
  return false
}

/** `lat=1` */
const SHORTEST = 5
const NOT_ZERO = /[1-9]/

/** `lat=52.5`, `"lat": "52.5"`, `<lat>52.5`, `lat=N52.5`. */
const NAMED_NUMBER = /(?<![\w.-])([A-Za-z][\w.-]{0,40})["'\\\s]{0,4}[:=>]["'\\\s]{0,4}[NSEW]?[-+]?(\.?\d[\d.,]{0,20})/g

const PAIR_ALONE = /^\s*[-+]?\d{1,3}(?:\.\d+(?:\s*[,;]\s*|\s+)|,\d+(?:\s*;\s*|\s+))[-+]?\d{1,3}[.,]\d+\s*$/
/** Decimals with three digits and more: fewer are also those of voltages and versions. NMEA has hemispheres between. */
const PAIR_WITHIN = /\d{1,5}\.\d{3,20}\s?(?:[°,;/|]\s?[NSEW]?|[NSEW])?[\s,;/|]\s?[NSEW]?\s?[-+]?\d{1,5}\.\d{3,20}/

/** Whether a name is one of latitude or longitude. */
function isAngle(name: string): boolean {
  return ANGLE.test(spread(name))
}

const ANGLE =
  /latit|longit|(?:^|_)(?:lat|lon|lng)(?:_|$)|(?<![fp])lat$|(?<![lo])lon$|lng$|(?:^|_|lat)long$|^(?:lat|lon|lng|long)(?:deg|dec|lon|lng|long|lat)/

/** Whether a name is one of a whole place. */
function isPair(name: string): boolean {
  return PAIR.test(spread(name))
}

const PAIR = /coord|posit|locat|(?:^|_)(?:pos|loc)$/

/** `gpsLat`, `GPS-Lat`, `gps.lat1`: `gps_lat`, `gps_lat`, `gps_lat_`. */
function spread(name: string): string {
  return name
    .slice(-LONGEST_NAME)
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z]+/g, '_')
    .toLowerCase()
}

const LONGEST_NAME = 60

/** How many numbers other than 0 a value is, or an object or list has itself, also as texts, without members of others. */
function numbersIn(value: unknown, isOfOthers: IsPlaceOfOthers): number {
  if (!isObject(value)) return isNumber(value) ? 1 : 0
  return Object.entries(value).filter(([name, each]) => isNumber(each) && !isOfOthers(name, each)).length
}

function isNumber(value: unknown): boolean {
  return typeof value === 'string'
    ? /^\s{0,4}[NSEW]?\s{0,4}[-+]?[\d.,]{0,20}[1-9]/.test(value)
    : typeof value === 'number' && value !== 0
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Text without the escapes of parameters: bad ones stay. */
function unescaped(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)))
}
