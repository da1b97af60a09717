/*
 * The Things Network, The Things Stack v3: the uplink webhook ("Webhooks", "Data Formats", thethingsindustries.com/docs).
 * HTTP, JSON. What the payload formatter of the user makes of a payload:
 *
 *   { "end_device_ids": { "device_id" }, "received_at", "uplink_message": { "received_at",
 *     "decoded_payload": { "latitude", "longitude", "altitude"?, "speed"?, "heading"?, "hdop"?, "sats"?, "time"? } } }
 *
 *   time  RFC 3339; without it the arrival at the network      altitude  metres      heading  degrees
 *   speed  knots: the formatter chooses the unit, and mostly passes on what a GPS module says
 *
 * or the place within an object "gps_<channel>", as the formatter of Cayenne LPP names it. 200 acknowledges.
 */
import {
  DecodeError,
  dop,
  type Fix,
  type HttpRequest,
  heading,
  type JsonObject,
  jsonBody,
  knots,
  known,
  type Message,
  numericMember,
  objectMember,
  objectOf,
  type Protocol,
  rfc3339,
  type Session,
  textMember,
} from '../kit/index.ts'

export default {
  name: 'ttnhttp',
  devices: 'LoRaWAN trackers on The Things Network',
  acknowledges: 'fixes',
  accuracy: 'hdop',
  integrity: { none: 'it is JSON' },
  escaping: 'none',
  http: { port: 5261 },
  request,
} satisfies Protocol

function request(webhook: HttpRequest, session: Session): Message {
  const body = objectOf(jsonBody(webhook), 'the body')
  const device = textMember(objectMember(body, 'end_device_ids'), 'device_id')
  if (device === undefined) throw new DecodeError('malformed', 'end_device_ids.device_id is missing')
  const uplink = objectMember(body, 'uplink_message')
  const payload = objectMember(uplink, 'decoded_payload')
  const received = textMember(uplink, 'received_at') ?? textMember(body, 'received_at')
  const measured = textMember(payload, 'time') ?? received
  const fix = fixOf(payload, measured === undefined ? session.now : rfc3339(measured))
  return fix ? { device, fixes: [fix] } : { device, none: 'no place' }
}

function fixOf(payload: JsonObject, time: number): Fix | undefined {
  const place = placeIn(payload)
  const latitude = numericMember(place, 'latitude')
  const longitude = numericMember(place, 'longitude')
  if (latitude === undefined || longitude === undefined) return undefined
  const speed = known(numericMember(payload, 'speed'))
  return {
    time,
    latitude,
    longitude,
    valid: true,
    altitude: numericMember(place, 'altitude'),
    speed: speed === undefined ? undefined : knots(speed),
    heading: heading(numericMember(payload, 'heading')),
    hdop: dop(numericMember(payload, 'hdop')),
    satellites: known(numericMember(payload, 'sats')),
  }
}

/** The payload itself, or the first of its channels of Cayenne LPP with a place. */
function placeIn(payload: JsonObject): JsonObject {
  if (payload.latitude !== undefined) return payload
  const channel = Object.keys(payload).find((name) => /^gps_\d{1,3}$/.test(name))
  return channel === undefined ? payload : objectMember(payload, channel)
}
