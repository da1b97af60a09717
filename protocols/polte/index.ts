/*
 * Polte cloud location: places of LTE devices, which the Polte service finds and forwards. No specification was found: inferred
 * from frames. HTTP, JSON; 200 acknowledges.
 *
 *   { "ueToken", "time", "location": { "latitude", "longitude", "altitude"?, "confidence"?, "detected_at"? },
 *     "report": { "battery": { "voltage", "level" } }, … }
 *
 *   ueToken  the device      time  RFC 3339, detected_at  unix seconds: of the measurement      altitude  metres
 *   confidence  radius of the place, metres
 */
import { jsonProtocol } from '../kit/index.ts'

export default jsonProtocol({
  name: 'polte',
  devices: 'devices that Polte locates',
  acknowledges: 'fixes',
  http: { port: 5214 },
  device: 'ueToken',
  fix: {
    timeOrArrival: ['location/detected_at', 'time'],
    latitude: 'location/latitude',
    longitude: 'location/longitude',
    altitude: 'location/altitude',
    accuracy: 'location/confidence',
  },
  said: { battery_voltage: 'report/battery/voltage', battery_percent: 'report/battery/level' },
})
