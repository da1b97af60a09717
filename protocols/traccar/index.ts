/*
 * Traccar: the positions that a Traccar server forwards with `forward.type` json ("Position Forwarding", traccar.org/forward; "Position"
 * and "Device" of its API, traccar.org/api-reference). HTTP POST, JSON, a position each; 200 acknowledges. With `forward.retry.enable`
 * what is not acknowledged is sent again, a few times.
 *
 *   { "position": { "fixTime", "valid", "latitude", "longitude", "altitude", "speed", "course", "accuracy",
 *     "attributes": { "hdop"?, "sat"? … } … }, "device": { "uniqueId", … } }
 *
 *   fixTime  ISO 8601      speed  knots      course  degrees      altitude, accuracy  metres; accuracy 0: not known
 *
 * An event (`event.forward.url`) is the same with `event`, mostly with the position that caused it. A position that repeats the last
 * known place has the `fixTime` of that place.
 */
import { jsonProtocol } from '../kit/index.ts'

export default jsonProtocol({
  name: 'traccar',
  devices: 'whatever a Traccar server forwards as JSON',
  acknowledges: 'fixes',
  http: { port: 5268 },
  device: 'device/uniqueId',
  fix: {
    timeOrArrival: ['position/fixTime', 'position/deviceTime'],
    latitude: 'position/latitude',
    longitude: 'position/longitude',
    valid: 'position/valid',
    altitude: 'position/altitude',
    speedKnots: 'position/speed',
    course: 'position/course',
    accuracyOr0: 'position/accuracy',
    hdop: 'position/attributes/hdop',
    satellites: 'position/attributes/sat',
  },
})
