/*
 * Outsafe: its platform forwards reports of its devices over HTTP as JSON. No specification is known: inferred from requests.
 *
 *   { "device", "time", "latitude", "longitude", "altitude"?, "heading"?, … }
 *
 *   time  unix seconds, null: not known      altitude  metres      heading  degrees      200 acknowledges
 */
import { jsonProtocol } from '../kit/index.ts'

export default jsonProtocol({
  name: 'outsafe',
  devices: 'Outsafe',
  acknowledges: 'fixes',
  http: { port: 5200 },
  device: 'device',
  fix: {
    timeOrArrival: 'time',
    latitude: 'latitude',
    longitude: 'longitude',
    altitude: 'altitude',
    course: 'heading',
  },
})
