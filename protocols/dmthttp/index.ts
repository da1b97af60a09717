/*
 * Digital Matter: the HTTP/JSON connectors of OEM Server and of its newer devices. The records are those of the binary
 * protocol (flespi.com/protocols/digital-matter); no specification of the JSON is known: inferred from requests.
 *
 *   { "SerNo", "IMEI", "Records": [{ "DateUTC", "Fields": [{ "FType": 0, "GpsUTC", "Lat", "Long", "Alt", "Spd", "Head",
 *                                                            "PosAcc", "GpsStat" }, …] }, …] }
 *   { "device": { "imei", "sn" }, "date", "lat"?, "lng"?, "posAcc"?, "posInfo": { "HDOP"? }? … }
 *
 *   GpsUTC  time of the fix, UTC          Alt     metres      Head  degrees      posAcc   metres
 *   DateUTC, date  of the report, UTC     Spd     cm/s        PosAcc  metres     GpsStat  bit 0: fix
 *
 * A place in a record of the first kind carries the time of its own measurement. 200 acknowledges all records.
 */
import {
  DecodeError,
  dop,
  eachReadable,
  type Fix,
  heading,
  holdsPlace,
  type HttpRequest,
  jsonBody,
  type JsonObject,
  known,
  type Message,
  numberOf,
  numericMember,
  objectMember,
  objectOf,
  optionalNumberOf,
  type Protocol,
  rfc3339,
  textMember,
} from '../kit/index.ts'

export default {
  name: 'dmthttp',
  devices: 'Digital Matter devices through OEM Server, Yabby, Oyster, Remora with HTTP',
  acknowledges: 'fixes',
  http: { port: 5139 },
  request,
} satisfies Protocol

const GPS = 0
const HAS_FIX = 1

function request({ body }: HttpRequest): Message {
  const report = objectOf(jsonBody({ body }), 'the body')
  return Array.isArray(report.Records) ? records(report, report.Records) : single(report)
}

function records(report: JsonObject, list: readonly unknown[]): Message {
  const device = textMember(report, 'IMEI') ?? textMember(report, 'SerNo')
  const { good, unreadable } = eachReadable(
    list,
    (each) => recordFixes(objectOf(each, 'a record')),
    (found, each) => found.length === 0 && holdsPlace(each),
  )
  const fixes = good.flat()
  return fixes.length > 0 ? { device, fixes, unreadable } : { device, none: 'no place', unreadable }
}

function recordFixes(record: JsonObject): Fix[] {
  const fields = Array.isArray(record.Fields) ? record.Fields.map((field) => objectOf(field, 'a field')) : []
  return fields.filter(({ FType }) => FType === GPS).map((field) => gpsFix(field, timeOf(record, 'DateUTC')))
}

function gpsFix(field: JsonObject, reported: number): Fix {
  const speed = known(optionalNumberOf(field, 'Spd'))
  const status = optionalNumberOf(field, 'GpsStat') ?? HAS_FIX
  return {
    time: field.GpsUTC === undefined ? reported : timeOf(field, 'GpsUTC'),
    latitude: numberOf(field, 'Lat'),
    longitude: numberOf(field, 'Long'),
    valid: (status & HAS_FIX) !== 0,
    altitude: optionalNumberOf(field, 'Alt'),
    speed: speed === undefined ? undefined : speed / 100,
    heading: heading(optionalNumberOf(field, 'Head')),
    accuracy: known(optionalNumberOf(field, 'PosAcc')),
  }
}

function single(report: JsonObject): Message {
  const identity = objectMember(report, 'device')
  const device = textMember(identity, 'imei') ?? textMember(identity, 'sn')
  if (device === undefined) throw new DecodeError('malformed', 'device.imei is missing')
  const latitude = numericMember(report, 'lat')
  const longitude = numericMember(report, 'lng')
  if (latitude === undefined || longitude === undefined) return { device, none: 'no place' }
  const fix: Fix = {
    time: timeOf(report, 'date'),
    latitude,
    longitude,
    valid: true,
    altitude: optionalNumberOf(report, 'alt'),
    accuracy: known(optionalNumberOf(report, 'posAcc')),
    hdop: dop(optionalNumberOf(objectMember(report, 'posInfo'), 'HDOP')),
  }
  return { device, fixes: [fix] }
}

function timeOf(object: JsonObject, name: string): number {
  const text = textMember(object, name)
  if (text === undefined) throw new DecodeError('malformed', `${name} is missing`)
  return rfc3339(text)
}
