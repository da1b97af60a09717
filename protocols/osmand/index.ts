/*
 * OsmAnd, Traccar Client and other programs that can fetch a URL: "OsmAnd protocol" (traccar.org/osmand). HTTP, any method; the
 * answer is the status. Parameters, in the query or as a form:
 *
 *   id | deviceid                          timestamp  unix seconds or ms, ISO 8601 or yyyy-MM-dd HH:mm:ss; else the arrival
 *   lat, lon | location=<lat>,<lon>        speed      knots             altitude  metres      valid  true, false, 1, 0
 *   token  the device's secret             bearing | heading  degrees   accuracy  metres      hdop
 *
 * or JSON, as Traccar Client sends it from version 9 on, with `token` in the query; `location` may be an array of them:
 *
 *   { "device_id", "location": { "timestamp", "coords": { "latitude", "longitude", "accuracy", "speed", "heading", "altitude" } } }
 *
 *   timestamp  ISO 8601      speed  m/s, −1: unknown       heading  degrees, −1: unknown
 *
 * or JSON with `locations`, as Overland sends it: overland.ts.
 */
import {
  DecodeError,
  digitsOf,
  eachReadable,
  type Fix,
  type HttpRequest,
  heading,
  knots,
  known,
  type Message,
  number,
  numberOf,
  objectOf,
  optionalNumberOf,
  type Protocol,
  parseJson,
  rfc3339,
  type Session,
  unixTime,
} from '../kit/index.ts'
import { overlandMessage, overlandToken } from './overland.ts'

export default {
  name: 'osmand',
  devices: 'OsmAnd, Traccar Client, GPSLogger, Overland, anything that can fetch a URL',
  acknowledges: 'fixes',
  accuracy: 'metres',
  integrity: { none: 'a request has none' },
  escaping: 'none',
  http: { port: 5055 },
  decode,
  request,
} satisfies Protocol

function request({ uri, headers, body }: HttpRequest, session: Session): Message {
  const [, query = ''] = /^[^?]*\?(.*)$/s.exec(uri) ?? []
  const text = body.toString().trim()
  const message = text.startsWith('{')
    ? readMessage(query, text, session)
    : readMessage(`${query}&${text}`, '', session)
  const isNamed = message.device !== undefined || message.fixes?.every(({ device }) => device !== undefined)
  if (!isNamed) throw new DecodeError('malformed', 'id is missing')
  return message.response ? { ...message, secret: message.secret ?? overlandToken(headers) } : message
}

/** A publication: the parameters, also as a whole URL, or JSON. Its topic names the device. */
function decode(frame: Buffer, session: Session): Message {
  const text = frame.toString().trim()
  return text.startsWith('{') ? readMessage('', text, session) : readMessage(text.replace(PATH, ''), '', session)
}

const PATH = /^[^=&]*\?/

function readMessage(query: string, json: string, session: Session): Message {
  const parameters = new URLSearchParams(query)
  const message = json === '' ? readParameters(parameters, session) : readJson(json, session)
  const device = message.device ?? (parameters.get('id') || parameters.get('deviceid') || undefined)
  return { ...message, device, secret: parameters.get('token') || undefined }
}

function readParameters(parameters: URLSearchParams, session: Session): Message {
  const [latitude, longitude] = parameters.get('location')?.split(',') ?? [parameters.get('lat'), parameters.get('lon')]
  // Other programs name latitude and longitude differently: their places are kept as not understood, and not lost.
  if (!latitude && !longitude)
    return OTHER_NAMES.test([...parameters.keys()].join('&')) ? { fixes: [] } : { none: 'no place' }
  const speed = known(optional(parameters, 'speed'))
  const fix: Fix = {
    time: timeOf(parameters.get('timestamp'), session),
    latitude: number(latitude ?? ''),
    longitude: number(longitude ?? ''),
    valid: !['false', '0'].includes(parameters.get('valid') ?? ''),
    altitude: optional(parameters, 'altitude'),
    speed: speed === undefined ? undefined : knots(speed),
    heading: heading(optional(parameters, 'bearing') ?? optional(parameters, 'heading')),
    accuracy: known(optional(parameters, 'accuracy')),
    hdop: known(optional(parameters, 'hdop')),
  }
  return { fixes: [fix] }
}

const OTHER_NAMES = /(?:^|&)(?!(?:lat|lon)(?:&|$))(?:gps_?)?(?:lat|lon|lng)/i

function optional(parameters: URLSearchParams, name: string): number | undefined {
  const value = parameters.get(name)
  return value ? number(value) : undefined
}

function readJson(text: string, session: Session): Message {
  const { device_id: id, location, locations: batch } = objectOf(parseJson(text), 'the body')
  if (Array.isArray(batch)) return overlandMessage(batch)
  const name = typeof id === 'number' ? digitsOf(text, 'device_id', id) : id
  const device = typeof name === 'string' && name !== '' ? name : undefined
  if (location === undefined || location === null) return { device, none: 'no place' }
  const locations = Array.isArray(location) ? location : [location]
  const { good, unreadable } = eachReadable(locations, (each) => fixOf(each, session))
  return { device, fixes: good, unreadable }
}

function fixOf(value: unknown, session: Session): Fix {
  const location = objectOf(value, 'location')
  const coords = objectOf(location.coords, 'coords')
  return {
    time: timeOf(location.timestamp, session),
    latitude: numberOf(coords, 'latitude'),
    longitude: numberOf(coords, 'longitude'),
    valid: true,
    altitude: optionalNumberOf(coords, 'altitude'),
    speed: known(optionalNumberOf(coords, 'speed')),
    heading: heading(optionalNumberOf(coords, 'heading')),
    accuracy: known(optionalNumberOf(coords, 'accuracy')),
  }
}

function timeOf(timestamp: unknown, session: Session): number {
  if (timestamp === undefined || timestamp === null || timestamp === '') return session.now
  if (typeof timestamp === 'number') return unixTime(timestamp)
  if (typeof timestamp !== 'string') throw new DecodeError('malformed', 'timestamp is neither a number nor text')
  return DECIMAL.test(timestamp) ? unixTime(number(timestamp)) : rfc3339(timestamp)
}

const DECIMAL = /^\d+(\.\d+)?$/
