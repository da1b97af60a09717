/*
 * PathAway (MuskokaTech): "PathAway GPS 5, Remote Send/Receive Formats". HTTP, parameters of the query; 200 acknowledges.
 *
 *   ?UserName=<user>&Password=<secret>&LOC=$PWS,1,"name",,,DDMMYY,hhmmss,A,O,H,S,C,"comment",0*cc
 *
 *   A, O  degrees      H  feet      S  knots      C  degrees, -1: not known
 *
 * Its checksum, which the document does not describe, fits no known sum and is not verified.
 */
import {
  DecodeError,
  type HttpRequest,
  heading,
  knots,
  type Message,
  type Protocol,
  parametersOf,
  TextReader,
  utcDmy,
} from '../kit/index.ts'

export default {
  name: 'pathaway',
  devices: 'PathAway',
  acknowledges: 'fixes',
  http: { port: 5099 },
  request,
} satisfies Protocol

function request(report: HttpRequest): Message {
  const parameters = parametersOf(report)
  const device = parameters.get('UserName') || undefined
  if (device === undefined) throw new DecodeError('malformed', 'UserName is missing')
  const message = { device, secret: parameters.get('Password') || undefined }
  const [, fields] = /^\$PWS,\d{1,3},"[^"]{0,200}",[^,]{0,40},[^,]{0,40},(.*)$/s.exec(parameters.get('LOC') ?? '') ?? []
  if (fields === undefined) return { ...message, none: 'no place' }
  const r = new TextReader(fields, ',')
  const time = utcDmy(r.next(), r.next())
  const latitude = r.number()
  const longitude = r.number()
  const feet = r.optionalNumber()
  const speed = r.optionalNumber()
  const course = heading(r.optionalNumber())
  const altitude = feet === undefined ? undefined : feet * FOOT
  const motion = { altitude, speed: speed === undefined ? undefined : knots(speed), heading: course }
  return { ...message, fixes: [{ time, latitude, longitude, valid: true, ...motion }] }
}

/** Metres. */
const FOOT = 0.3048
