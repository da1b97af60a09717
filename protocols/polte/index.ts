/*
 * Polte cloud location: places of LTE devices, which the Polte service finds and forwards. No specification was found: inferred
 * from frames. HTTP, JSON; 200 acknowledges.
 *
 *   { "ueToken", "time", "location": { "latitude", "longitude", "altitude"?, "confidence"?, "detected_at"? }, … }
 *
 *   ueToken  the device      time  RFC 3339, detected_at  unix seconds: of the measurement      altitude  metres
 *   confidence  radius of the place, metres
 */
import {
  DecodeError,
  type HttpRequest,
  jsonBody,
  known,
  type Message,
  numericMember,
  objectMember,
  objectOf,
  optionalNumberOf,
  type Protocol,
  rfc3339,
  type Session,
  textMember,
  unixTime,
} from '../kit/index.ts'

export default {
  name: 'polte',
  devices: 'devices that Polte locates',
  acknowledges: 'fixes',
  http: { port: 5214 },
  request,
} satisfies Protocol

function request(report: HttpRequest, session: Session): Message {
  const body = objectOf(jsonBody(report), 'the body')
  const device = textMember(body, 'ueToken')
  if (device === undefined) throw new DecodeError('malformed', 'ueToken is missing')
  const location = objectMember(body, 'location')
  const latitude = numericMember(location, 'latitude')
  const longitude = numericMember(location, 'longitude')
  if (latitude === undefined || longitude === undefined) return { device, none: 'no place' }
  const detected = numericMember(location, 'detected_at')
  const reported = textMember(body, 'time')
  const time = detected !== undefined ? unixTime(detected) : reported === undefined ? session.now : rfc3339(reported)
  const altitude = optionalNumberOf(location, 'altitude')
  const accuracy = known(optionalNumberOf(location, 'confidence'))
  return { device, fixes: [{ time, latitude, longitude, valid: true, altitude, accuracy }] }
}
