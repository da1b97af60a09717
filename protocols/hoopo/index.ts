/*
 * Hoopo trailer trackers. No specification is known: inferred from frames. JSON objects, one after the other:
 *
 *   {"deviceId":…,"eventData":{"latitude":…,"longitude":…,"batteryLevel":percent,…},"movement":{"Speed":…},"eventTime":RFC 3339,…}
 *
 * Speed: knots (a guess). Nothing is answered.
 */
import { jsonObjects, jsonProtocol } from '../kit/index.ts'

export default jsonProtocol({
  name: 'hoopo',
  devices: 'Hoopo trackers',
  tcp: { port: 5231, frame: jsonObjects() },
  device: 'deviceId',
  fix: {
    time: 'eventTime',
    latitude: 'eventData/latitude',
    longitude: 'eventData/longitude',
    speedKnots: 'movement/Speed',
  },
  said: { battery_percent: 'eventData/batteryLevel' },
  none: (message) => ('eventData' in message ? 'no place' : undefined),
})
