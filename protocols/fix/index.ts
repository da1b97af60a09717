/*
 * Waybridge's own JSON over MQTT, for devices that you program yourself. The topic names the device. One object, or an
 * array of them:
 *
 *   { "lat", "lon", "timestamp", "accuracy"?, "speed"?, "heading"?, "altitude"?, "hdop"?, "satellites"?, "valid"? }
 *
 *   lat, lon   degrees WGS 84         timestamp  unix seconds (with fractions), ms from 1e11 on, or RFC 3339
 *   accuracy   metres                 speed      m/s
 *   heading    degrees                altitude   metres             valid      whether it is a fix; true
 */
import {
  DecodeError,
  type Fix,
  heading,
  type JsonObject,
  known,
  type Message,
  numberOf,
  objectOf,
  optionalNumberOf,
  type Protocol,
  parseJson,
  readableFixes,
  rfc3339,
  unixTime,
} from '../kit/index.ts'

export default {
  name: 'fix',
  devices: 'JSON of your own over MQTT',
  acknowledges: 'fixes',
  decode,
} satisfies Protocol

/** Reads the good entries of an array, which may be empty. */
function decode(frame: Buffer): Message {
  const payload = parseJson(frame.toString())
  return readableFixes(Array.isArray(payload) ? payload : [payload], fixOf, { none: 'nothing' })
}

function fixOf(value: unknown): Fix {
  const entry = objectOf(value, 'a fix')
  return {
    time: timeOf(entry.timestamp),
    latitude: numberOf(entry, 'lat'),
    longitude: numberOf(entry, 'lon'),
    valid: validOf(entry),
    altitude: optionalNumberOf(entry, 'altitude'),
    speed: known(optionalNumberOf(entry, 'speed')),
    heading: heading(optionalNumberOf(entry, 'heading')),
    accuracy: known(optionalNumberOf(entry, 'accuracy')),
    hdop: known(optionalNumberOf(entry, 'hdop')),
    satellites: known(optionalNumberOf(entry, 'satellites')),
  }
}

function timeOf(timestamp: unknown): number {
  if (typeof timestamp === 'number') return unixTime(timestamp)
  if (typeof timestamp === 'string') return rfc3339(timestamp)
  throw new DecodeError(
    'malformed',
    timestamp == null ? 'timestamp is missing' : 'timestamp is neither a number nor text',
  )
}

function validOf({ valid }: JsonObject): boolean {
  if (valid === undefined || valid === null) return true
  if (typeof valid !== 'boolean') throw new DecodeError('malformed', `valid is a ${typeof valid}, not true or false`)
  return valid
}
