/*
 * Overland for iOS and Android: its API ("API" in the README of github.com/aaronpk/Overland-iOS). HTTP POST, JSON:
 *
 *   { "locations": [ { "type": "Feature", "geometry": { "type": "Point", "coordinates": [ longitude, latitude ] }, "properties":
 *     { "timestamp", "device_id", "horizontal_accuracy", "altitude", "vertical_accuracy", "speed", "course"? … } } … ] }
 *
 *   timestamp  ISO 8601       altitude, accuracies  metres; below 0: what they are of is not known
 *   speed  m/s, −1: unknown   course  degrees, −1: unknown      device_id  of the settings; may be empty
 *
 * The access token of the settings comes as `Authorization: Bearer <token>`. The app keeps and sends again all that is not answered
 * with exactly {"result":"ok"}.
 */
import {
  DecodeError,
  eachReadable,
  type Fix,
  fixesByDevice,
  type HttpRequest,
  heading,
  known,
  type Message,
  objectMember,
  objectOf,
  optionalNumberOf,
  rfc3339,
  textMember,
} from '../kit/index.ts'

/** What a batch of Overland says; where its entries are of several devices, each fix names its own. */
export function overlandMessage(locations: readonly unknown[]): Message {
  const { good, unreadable } = eachReadable(locations, fixOf)
  const response = { headers: { 'content-type': 'application/json' }, body: '{"result":"ok"}' }
  if (good.length === 0) return { none: 'no place', response }
  return { ...fixesByDevice(good), unreadable, response }
}

/** The access token of the app's settings. */
export function overlandToken(headers: HttpRequest['headers']): string | undefined {
  const [, token] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  return token
}

function fixOf(location: unknown): Fix {
  const feature = objectOf(location, 'a location')
  const { coordinates } = objectMember(feature, 'geometry')
  const [longitude, latitude] = Array.isArray(coordinates) ? coordinates : []
  if (typeof longitude !== 'number' || typeof latitude !== 'number')
    throw new DecodeError('malformed', 'coordinates are missing')
  const properties = objectMember(feature, 'properties')
  const accuracy = optionalNumberOf(properties, 'horizontal_accuracy')
  const isAltitudeKnown = (optionalNumberOf(properties, 'vertical_accuracy') ?? 0) >= 0
  return {
    device: textMember(properties, 'device_id'),
    time: rfc3339(textMember(properties, 'timestamp') ?? ''),
    latitude,
    longitude,
    valid: accuracy === undefined || accuracy >= 0,
    altitude: isAltitudeKnown ? optionalNumberOf(properties, 'altitude') : undefined,
    speed: known(optionalNumberOf(properties, 'speed')),
    heading: heading(optionalNumberOf(properties, 'course')),
    accuracy: known(accuracy),
  }
}
