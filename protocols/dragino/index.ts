/*
 * Dragino LT-22222, LGT-92, TrackerD: LoRaWAN trackers through the webhook of The Things Stack v3 ("LGT-92 User Manual",
 * wiki.dragino.com; "Webhooks", thethingsindustries.com/docs), with the payload formatter of Dragino. HTTP, JSON:
 *
 *   { "end_device_ids": { "device_id" }, "uplink_message": { "received_at", "decoded_payload": { "Latitude", "Longitude",
 *     "Location"?, "BatV", "ALARM_status", … } } }
 *
 * The time is that of the arrival at the network. 200 acknowledges.
 */
import {
  DecodeError,
  type HttpRequest,
  jsonBody,
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
  name: 'dragino',
  devices: 'Dragino LGT-92, TrackerD and others on The Things Network',
  acknowledges: 'fixes',
  accuracy: 'none',
  integrity: { none: 'it is JSON' },
  escaping: 'none',
  http: { port: 5253 },
  request,
} satisfies Protocol

function request(webhook: HttpRequest, session: Session): Message {
  const body = objectOf(jsonBody(webhook), 'the body')
  const device = textMember(objectMember(body, 'end_device_ids'), 'device_id')
  if (device === undefined) throw new DecodeError('malformed', 'end_device_ids.device_id is missing')
  const uplink = objectMember(body, 'uplink_message')
  const payload = objectMember(uplink, 'decoded_payload')
  const latitude = numericMember(payload, 'Latitude') ?? numericMember(payload, 'latitude')
  const longitude = numericMember(payload, 'Longitude') ?? numericMember(payload, 'longitude')
  if (latitude === undefined || longitude === undefined) return { device, none: 'no place' }
  const received = textMember(uplink, 'received_at') ?? textMember(body, 'received_at')
  const time = received === undefined ? session.now : rfc3339(received)
  return { device, fixes: [{ time, latitude, longitude, valid: true }] }
}
