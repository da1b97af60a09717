/*
 * Garmin inReach: IPC Outbound of Portal Connect ("IPC Outbound" 2.0.5, developer.garmin.com/inReach), schemas 2.0 to 4.0. HTTP POST,
 * JSON; 200 acknowledges all events, and what is not acknowledged is sent again.
 *
 *   { "Version": "2.0", "Events": [ { "imei", "messageCode", "timeStamp", "point": { "latitude", "longitude", "altitude", "gpsFix",
 *     "course", "speed" } … } … ] }
 *
 *   timeStamp  unix ms      altitude  metres      course  degrees      speed  km/h      gpsFix  0: none, latitude and longitude are 0
 *   messageCode  8: a reference point, a place that the user shares, not the place of the device
 */
import {
  DecodeError,
  eachReadable,
  type Fix,
  fixesByDevice,
  type HttpRequest,
  heading,
  jsonBody,
  type JsonObject,
  kmh,
  known,
  type Message,
  numericMember,
  objectMember,
  objectOf,
  optionalNumberOf,
  type Protocol,
  textMember,
  timeMember,
} from '../kit/index.ts'

export default {
  name: 'inreach',
  devices: 'Garmin inReach, Messenger, GPSMAP 66i, 86i, 67i and others with inReach',
  acknowledges: 'fixes',
  http: { port: 5269 },
  isPlaceOfOthers: (_, event) => (event as JsonObject | null)?.messageCode === REFERENCE_POINT,
  request,
} satisfies Protocol

function request(outbound: HttpRequest): Message {
  const { Events: events } = objectOf(jsonBody(outbound), 'the body')
  if (!Array.isArray(events)) throw new DecodeError('malformed', 'Events is missing')
  const { good, unreadable } = eachReadable(events, fixOf)
  const fixes = good.flatMap((fix) => fix ?? [])
  return fixes.length > 0 ? { ...fixesByDevice(fixes), unreadable } : { none: 'no place', unreadable }
}

function fixOf(value: unknown): (Fix & { device: string }) | undefined {
  const event = objectOf(value, 'an event')
  const device = textMember(event, 'imei')
  const time = timeMember(event, 'timeStamp')
  if (device === undefined || time === undefined) throw new DecodeError('malformed', 'imei or timeStamp is missing')
  const point = objectMember(event, 'point')
  const latitude = numericMember(point, 'latitude')
  const longitude = numericMember(point, 'longitude')
  if (latitude === undefined || longitude === undefined || event.messageCode === REFERENCE_POINT) return undefined
  const speed = known(optionalNumberOf(point, 'speed'))
  return {
    device,
    time,
    latitude,
    longitude,
    valid: point.gpsFix !== 0,
    altitude: optionalNumberOf(point, 'altitude'),
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(optionalNumberOf(point, 'course')),
  }
}

const REFERENCE_POINT = 8
