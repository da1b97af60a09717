/*
 * Dragino LGT-92, TrackerD: LoRaWAN trackers ("LGT-92 User Manual", "TrackerD", wiki.dragino.com), with the payload formatter of Dragino
 * (lorawan-devices/vendor/dragino, github.com/TheThingsNetwork), through the webhook of The Things Stack v3 or of another network
 * server: see ttnhttp. HTTP, JSON; 200 acknowledges.
 *
 *   { "end_device_ids": { "device_id" }, "uplink_message": { "received_at", "decoded_payload": { "Latitude", "Longitude" | "Longitud",
 *     "Location"? "<latitude>,<longitude>", "Date"? "Y:M:D", "Time"? "h:m:s", "BatV", "ALARM_status", "LON", … } } }
 *
 * Said: `BatV`; `ALARM_status` TRUE, which its button raises; `Transport` MOVE or STILL.
 *
 * `LON` is an LED. `Date` and `Time` are those of a fix that was stored in the tracker, whose longitude stands in `Location` alone;
 * else the time is that of the arrival at the network.
 */
import { lorawanUplink, type Protocol } from '../kit/index.ts'

export default {
  name: 'dragino',
  devices: 'Dragino LGT-92, TrackerD and others on The Things Network',
  acknowledges: 'fixes',
  http: { port: 5253 },
  request: lorawanUplink,
} satisfies Protocol
