/*
 * Smartcar: webhooks of connected cars, version 4 ("Webhooks", smartcar.com/docs). HTTP, JSON; 200 acknowledges.
 *
 *   { "eventType": "VEHICLE_STATE", "vehicleId", "meta": { "deliveredAt" }?, "data": { "signals": [
 *     { "code": "location-preciselocation", "body": { "latitude", "longitude" }, "meta": { "oemUpdatedAt"?, "fetchedAt"? } } … ] } }
 *
 *   times  ms UTC
 *
 * The event VERIFY wants an answer signed with the secret of the owner's account; the gateway does not know it.
 */
import {
  DecodeError,
  type HttpRequest,
  type JsonObject,
  jsonBody,
  type Message,
  numericMember,
  objectMember,
  objectOf,
  type Protocol,
  type Session,
  textMember,
  unixTime,
} from '../kit/index.ts'

export default {
  name: 'smartcar',
  devices: 'cars connected by Smartcar',
  acknowledges: 'fixes',
  http: { port: 5262 },
  request,
} satisfies Protocol

function request(webhook: HttpRequest, session: Session): Message {
  const body = objectOf(jsonBody(webhook), 'the body')
  const data = objectMember(body, 'data')
  const device = textMember(body, 'vehicleId') ?? textMember(objectMember(data, 'vehicle'), 'id')
  if (device === undefined) throw new DecodeError('malformed', 'vehicleId is missing')
  const signals: readonly JsonObject[] = Array.isArray(data.signals)
    ? data.signals.map((each) => objectOf(each, 'a signal'))
    : []
  const signal = signals.find(({ code }) => code === 'location-preciselocation') ?? {}
  const place = objectMember(signal, 'body')
  const latitude = numericMember(place, 'latitude')
  const longitude = numericMember(place, 'longitude')
  if (latitude === undefined || longitude === undefined) return { device, none: 'no place' }
  const meta = objectMember(signal, 'meta')
  const measured = numericMember(meta, 'oemUpdatedAt') ?? numericMember(meta, 'fetchedAt')
  const time = measured ?? numericMember(objectMember(body, 'meta'), 'deliveredAt')
  return {
    device,
    fixes: [{ time: time === undefined ? session.now : unixTime(time), latitude, longitude, valid: true }],
  }
}
