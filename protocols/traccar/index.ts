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
import {
  DecodeError,
  dop,
  type HttpRequest,
  heading,
  jsonBody,
  knots,
  known,
  type Message,
  numericMember,
  objectMember,
  objectOf,
  optionalNumberOf,
  type Protocol,
  type Session,
  textMember,
  timeMember,
} from '../kit/index.ts'

export default {
  name: 'traccar',
  devices: 'whatever a Traccar server forwards as JSON',
  acknowledges: 'fixes',
  http: { port: 5268 },
  request,
} satisfies Protocol

function request(forwarded: HttpRequest, session: Session): Message {
  const body = objectOf(jsonBody(forwarded), 'the body')
  const device = textMember(objectMember(body, 'device'), 'uniqueId')
  if (device === undefined) throw new DecodeError('malformed', 'device.uniqueId is missing')
  const position = objectMember(body, 'position')
  const latitude = numericMember(position, 'latitude')
  const longitude = numericMember(position, 'longitude')
  if (latitude === undefined || longitude === undefined) return { device, none: 'no place' }
  const speed = known(optionalNumberOf(position, 'speed'))
  const attributes = objectMember(position, 'attributes')
  const fix = {
    time: timeMember(position, 'fixTime') ?? timeMember(position, 'deviceTime') ?? session.now,
    latitude,
    longitude,
    valid: position.valid !== false,
    altitude: optionalNumberOf(position, 'altitude'),
    speed: speed === undefined ? undefined : knots(speed),
    heading: heading(optionalNumberOf(position, 'course')),
    accuracy: dop(optionalNumberOf(position, 'accuracy')),
    hdop: dop(optionalNumberOf(attributes, 'hdop')),
    satellites: known(optionalNumberOf(attributes, 'sat')),
  }
  return { device, fixes: [fix] }
}
