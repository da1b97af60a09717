/*
 * Garmin inReach: IPC Outbound of Portal Connect ("IPC Outbound" 2.0.5, developer.garmin.com/inReach), schemas 2.0 to 4.0. HTTP POST,
 * JSON; 200 acknowledges all events, and what is not acknowledged is sent again.
 *
 *   { "Version": "2.0", "Events": [ { "imei", "messageCode", "timeStamp", "point": { "latitude", "longitude", "altitude", "gpsFix",
 *     "course", "speed" } … } … ] }
 *
 *   timeStamp  unix ms      altitude  metres      course  degrees      speed  km/h      gpsFix  0: none, latitude and longitude are 0
 *   messageCode  4, 6: an SOS is declared, confirmed      8: a reference point, a place that the user shares, not that of the device
 */
import { alarmsOf, type JsonObject, jsonFix, jsonProtocol } from '../kit/index.ts'

const isReferencePoint = (event: JsonObject | null) => event?.messageCode === 8

const fixOf = jsonFix({
  time: 'timeStamp',
  latitude: 'point/latitude',
  longitude: 'point/longitude',
  valid: 'point/gpsFix',
  altitude: 'point/altitude',
  speedKmh: 'point/speed',
  course: 'point/course',
})

export default jsonProtocol({
  name: 'inreach',
  devices: 'Garmin inReach, Messenger, GPSMAP 66i, 86i, 67i and others with inReach',
  acknowledges: 'fixes',
  http: { port: 5269 },
  isPlaceOfOthers: (_, event) => isReferencePoint(event as JsonObject | null),
  each: 'Events',
  device: 'imei',
  fix: (event, session) => (isReferencePoint(event) ? undefined : fixOf(event, session)),
  said: { alarms: ({ messageCode }) => alarmsOf((messageCode === 4 || messageCode === 6) && 'sos') },
})
