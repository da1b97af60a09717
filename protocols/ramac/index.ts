/*
 * RAMAC P1: Sigfox panic buttons, whose platform forwards reports over HTTP as JSON. No specification is known: inferred from
 * requests.
 *
 *   { "DeviceId", "PacketType", "UpdateDate", "Latitude"?, "Longitude"?, "LocationDateTime"?, "LastLocation"?, … }
 *
 *   UpdateDate, LocationDateTime  YYYY-MM-DD hh:mm:ss: time of the report, and of the place in it
 *   LastLocation  1: the place is an older one                        Answer: {"CaseID":1,"EventID":1}
 *
 * The units of Speed, COG and EstimatedAccuracy are not known; they are not read. Times are taken for UTC.
 */
import {
  DecodeError,
  type HttpRequest,
  jsonBody,
  type Message,
  numericMember,
  objectOf,
  type Protocol,
  rfc3339,
  textMember,
} from '../kit/index.ts'

export default {
  name: 'ramac',
  devices: 'RAMAC P1',
  acknowledges: 'fixes',
  http: { port: 5251 },
  request,
} satisfies Protocol

function request(report: HttpRequest): Message {
  const body = objectOf(jsonBody(report), 'the body')
  const device = textMember(body, 'DeviceId')
  if (device === undefined) throw new DecodeError('malformed', 'DeviceId is missing')
  const response = { headers: { 'content-type': 'application/json' }, body: '{"CaseID":1,"EventID":1}' }
  const latitude = numericMember(body, 'Latitude')
  const longitude = numericMember(body, 'Longitude')
  if (latitude === undefined || longitude === undefined) return { device, none: 'no place', response }
  const located = textMember(body, 'LocationDateTime')
  const time = rfc3339(located ?? textMember(body, 'UpdateDate') ?? '')
  const isOld = located === undefined && (numericMember(body, 'LastLocation') ?? 0) !== 0
  return { device, fixes: [{ time, latitude, longitude, valid: !isOld }], response }
}
