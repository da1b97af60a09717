/*
 * Sigfox: the callbacks of the Sigfox backend ("Custom callbacks", support.sigfox.com) and of integrations that forward them.
 * HTTP, JSON (some clients send it as an encoded form); their keys are chosen by who sets the callback up:
 *
 *   { "device" | "deviceId", "time" | "timestamp" | "positionTime", "data" | "payload"?, … }
 *   … "latitude", "longitude"                                          read by whoever forwards it
 *   … "location" | "computedLocation": { "lat", "lng", "radius"? }     found by Sigfox; radius in metres
 *
 * `lat` and `lng` of the message itself are the base station's, to the degree: no fix. The payload is hexadecimal; its
 * layout is the maker's:
 *
 *   xf AAAAAAAA OOOOOOOO HH SS BB     Digital Matter Oyster ("Decoding the Oyster Sigfox Payload"), little-endian, 1e-7°,
 *                                     2 degrees, km/h; x: bit 1 the last fix failed; f 1, 2: status
 *   1f AAAAAAAA OOOOOOOO …            1e-6°, the first bit is the sign (inferred from frames)
 *   20 02 AAAAAAAA OOOOOOOO …         degrees as floats (inferred from frames)
 *   01 00 b0 19 AAAAAAAA OOOOOOOO     Amber (`model: Amber`), 1/60000 degree (inferred from frames)
 */
import {
  bodyText,
  DecodeError,
  type Fix,
  type HttpRequest,
  jsonBody,
  type JsonObject,
  known,
  type Message,
  numericMember,
  objectMember,
  objectOf,
  optionalNumberOf,
  parseJson,
  type Protocol,
  type Session,
  textMember,
  unixTime,
} from '../kit/index.ts'
import { payloadMessage } from './payload.ts'

export default {
  name: 'sigfox',
  devices: 'trackers on the Sigfox network: Digital Matter Oyster, Amber and others',
  acknowledges: 'fixes',
  http: { port: 5154 },
  isPlaceOfOthers: (name, value) => (name === 'lat' || name === 'lng') && Number.isInteger(Number(value)),
  request,
} satisfies Protocol

function request({ body }: HttpRequest, session: Session): Message {
  const message = objectOf(contentOf(body), 'the body')
  const device = textMember(message, 'device') ?? textMember(message, 'deviceId')
  if (device === undefined) throw new DecodeError('malformed', 'device is missing')
  const seconds = numericMember(message, 'time') ?? numericMember(message, 'timestamp')
  const time = seconds === undefined ? session.now : unixTime(seconds)
  const fix = jsonFix(message, time)
  if (fix) return { device, fixes: [fix] }
  const payload = textMember(message, 'data') ?? textMember(message, 'payload')
  if (payload === undefined) return { device, none: 'no place' }
  return { device, ...payloadMessage(payload, time, session.settingsOf(device)) }
}

/** JSON, also as the name of a parameter in a form. */
function contentOf(body: Buffer): unknown {
  const text = bodyText({ body }).trim()
  if (!text.startsWith('%7B')) return jsonBody({ body })
  const [[name]] = [...new URLSearchParams(text)]
  return parseJson(name)
}

/** The place that the message itself names. */
function jsonFix(message: JsonObject, time: number): Fix | undefined {
  const latitude = numericMember(message, 'latitude')
  const longitude = numericMember(message, 'longitude')
  if (latitude !== undefined && longitude !== undefined) {
    const measured = numericMember(message, 'positionTime')
    return { time: measured === undefined ? time : unixTime(measured), latitude, longitude, valid: true }
  }
  for (const name of ['location', 'computedLocation']) {
    const place = objectMember(message, name)
    const lat = numericMember(place, 'lat')
    const lng = numericMember(place, 'lng')
    if (lat !== undefined && lng !== undefined)
      return { time, latitude: lat, longitude: lng, valid: true, accuracy: known(optionalNumberOf(place, 'radius')) }
  }
  return undefined
}
