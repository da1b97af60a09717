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
import { type JsonObject, jsonBody, jsonProtocol, objectOf } from '../kit/index.ts'

export default jsonProtocol({
  name: 'smartcar',
  devices: 'cars connected by Smartcar',
  acknowledges: 'fixes',
  http: { port: 5262 },
  content(body) {
    const webhook = objectOf(jsonBody({ body }), 'the body')
    const { signals = [] } = (webhook.data ?? {}) as JsonObject
    return { ...webhook, place: Array.isArray(signals) ? signals.find(isPlace) : undefined }
  },
  device: ['vehicleId', 'data/vehicle/id'],
  fix: {
    timeOrArrival: ['place/meta/oemUpdatedAt', 'place/meta/fetchedAt', 'meta/deliveredAt'],
    latitude: 'place/body/latitude',
    longitude: 'place/body/longitude',
  },
})

const isPlace = (signal: JsonObject | null) => signal?.code === 'location-preciselocation'
