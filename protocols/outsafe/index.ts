/*
 * Outsafe: its platform forwards reports of its devices over HTTP as JSON. No specification is known: inferred from requests.
 *
 *   { "device", "time", "latitude", "longitude", "altitude"?, "heading"?, … }
 *
 *   time  unix seconds, null: not known      altitude  metres      heading  degrees      200 acknowledges
 */
import {
  DecodeError,
  heading,
  type HttpRequest,
  jsonBody,
  type Message,
  numericMember,
  objectOf,
  optionalNumberOf,
  type Protocol,
  type Session,
  textMember,
  unixTime,
} from '../kit/index.ts'

export default {
  name: 'outsafe',
  devices: 'Outsafe',
  acknowledges: 'fixes',
  http: { port: 5200 },
  request,
} satisfies Protocol

function request(report: HttpRequest, session: Session): Message {
  const body = objectOf(jsonBody(report), 'the body')
  const device = textMember(body, 'device')
  if (device === undefined) throw new DecodeError('malformed', 'device is missing')
  const latitude = numericMember(body, 'latitude')
  const longitude = numericMember(body, 'longitude')
  if (latitude === undefined || longitude === undefined) return { device, none: 'no place' }
  const seconds = numericMember(body, 'time')
  const time = seconds === undefined ? session.now : unixTime(seconds)
  const altitude = optionalNumberOf(body, 'altitude')
  const course = heading(optionalNumberOf(body, 'heading'))
  return { device, fixes: [{ time, latitude, longitude, valid: true, altitude, heading: course }] }
}
