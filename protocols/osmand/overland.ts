/*
 * Overland for iOS and Android: its API ("API" in the README of github.com/aaronpk/Overland-iOS). HTTP POST, JSON:
 *
 *   { "locations": [ { "type": "Feature", "geometry": { "type": "Point", "coordinates": [ longitude, latitude ] }, "properties":
 *     { "timestamp", "device_id", "horizontal_accuracy", "altitude", "vertical_accuracy", "speed", "course"?, "battery_level"?,
 *       "battery_state"? … } } … ] }
 *
 *   battery_level  0 to 1    battery_state  unknown, charging, full, unplugged
 *   timestamp  ISO 8601       altitude, accuracies  metres; below 0: what they are of is not known
 *   speed  m/s, −1: unknown   course  degrees, −1: unknown      device_id  of the settings; may be empty
 *
 * The access token of the settings comes as `Authorization: Bearer <token>`. The app keeps and sends again all that is not answered
 * with exactly {"result":"ok"}.
 */
import {
  eachReadable,
  type Fix,
  fixesByDevice,
  type HttpRequest,
  type JsonObject,
  type Message,
  objectMember,
  objectOf,
  optionalNumber,
  optionalNumberOf,
  placedFix,
  type Said,
  type Session,
  said,
  textMember,
} from '../kit/index.ts'

/** What a batch of Overland says; where its entries are of several devices, each fix names its own. */
export function overlandMessage(locations: readonly unknown[], session: Session): Message {
  const { good, unreadable } = eachReadable(locations, (each) => fixOf(objectOf(each, 'a location'), session))
  const response = { headers: { 'content-type': 'application/json' }, body: '{"result":"ok"}' }
  if (good.length === 0) return { none: 'no place', response }
  return { ...fixesByDevice(good), unreadable, response }
}

/** The access token of the app's settings. */
export function overlandToken(headers: HttpRequest['headers']): string | undefined {
  const [, token] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  return token
}

const read = placedFix({
  time: 'properties/timestamp',
  latitude: 'geometry/coordinates/1',
  longitude: 'geometry/coordinates/0',
  valid: (feature) => isKnown(feature, 'horizontal_accuracy'),
  altitude: 'properties/altitude',
  speedMs: 'properties/speed',
  course: 'properties/course',
  accuracy: 'properties/horizontal_accuracy',
})

function fixOf(feature: JsonObject, session: Session): Fix {
  const fix = read(feature, session)
  if (!isKnown(feature, 'vertical_accuracy')) fix.altitude = undefined
  const properties = objectMember(feature, 'properties')
  return { ...fix, device: textMember(properties, 'device_id'), said: saidOf(properties) }
}

function saidOf(properties: JsonObject): Said | undefined {
  const state = textMember(properties, 'battery_state') ?? 'unknown'
  return said({
    battery_percent: optionalNumber(properties.battery_level, (level) => Math.round(level * 1000) / 10),
    charging: state === 'unknown' ? undefined : state === 'charging',
  })
}

/** Whether what an accuracy is of is known. */
function isKnown(feature: JsonObject, accuracy: string): boolean {
  return (optionalNumberOf(objectMember(feature, 'properties'), accuracy) ?? 0) >= 0
}
