/*
 * LoRaWAN trackers through the HTTP integration of their network server. JSON; 200 acknowledges. `{…}` is what the payload formatter
 * (codec, decoder) of the user makes of a payload: kit/decoded.ts reads it.
 *
 *   The Things Stack v3 ("Webhooks", "Data Formats", thethingsindustries.com/docs):
 *   { "end_device_ids": { "device_id" }, "received_at", "uplink_message": { "received_at", "frm_payload", "decoded_payload": {…} } }
 *
 *   ChirpStack v4 and v3 ("HTTP", "Event types", chirpstack.io/docs; integration.proto, UplinkEvent), events that are not `up` have no `data`:
 *   { "time", "deviceInfo": { "devEui" }, "data", "object": {…} }
 *   { "publishedAt", "devEUI": hexadecimal or base64, "data", "object": {…} | "objectJSON": "{…}" }
 *
 *   Helium Console ("JSON Schema", docs.helium.com/console/integrations), with a decoder function:
 *   { "dev_eui", "reported_at": unix ms, "payload", "decoded": { "payload": {…}, "status" } }
 *
 *   {…}  latitude, longitude, altitude? (metres), speed? (knots without a unit), heading?, hdop?, sats?, time? (else the arrival)
 *
 * or these within an object, as the formatter of Cayenne LPP names it "gps_<channel>".
 */
import { lorawanUplink, type Protocol } from '../kit/index.ts'

export default {
  name: 'ttnhttp',
  devices: 'LoRaWAN trackers on The Things Network, ChirpStack and Helium',
  acknowledges: 'fixes',
  http: { port: 5261 },
  request: lorawanUplink,
} satisfies Protocol
