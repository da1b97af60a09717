/*
 * PUI (Position Universal) trackers: JSON over MQTT. No specification is known: inferred from a publication. The vendor's topics
 * name the device; here it is devices/<id>/pui, and the `id` of the payload is not read, because it may differ.
 *
 *   { "ts", "rpt", "location": { "lat", "lon" }?, "bear"?, "spd"?, "ign"?, … }
 *
 *   ts  RFC 3339 of the report      rpt  kind of the report      bear  degrees      spd  cm/s      ign  on, off
 */
import { jsonProtocol } from '../kit/index.ts'

export default jsonProtocol({
  name: 'pui',
  devices: 'Position Universal trackers',
  acknowledges: 'fixes',
  fix: {
    time: 'ts',
    latitude: 'location/lat',
    longitude: 'location/lon',
    speedCms: 'spd',
    course: 'bear',
  },
  said: { ignition: 'ign' },
})
