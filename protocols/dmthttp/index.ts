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
  eachReadable,
  type Fix,
  type HttpRequest,
  holdsPlace,
  type JsonObject,
  jsonBody,
  jsonFix,
  jsonProtocol,
  type Message,
  objectOf,
  optionalNumber,
  type Protocol,
  type Session,
  textMember,
} from '../kit/index.ts'

const single = jsonProtocol({
  name: 'dmthttp',
  devices: 'Digital Matter devices through OEM Server, Yabby, Oyster, Remora with HTTP',
  acknowledges: 'fixes',
  http: { port: 5139 },
  device: ['device/imei', 'device/sn'],
  fix: { time: 'date', latitude: 'lat', longitude: 'lng', altitude: 'alt', accuracy: 'posAcc', hdop: 'posInfo/HDOP' },
})

export default { ...single, request } satisfies Protocol

const GPS = 0
const HAS_FIX = 1

const gpsFix = jsonFix({
  time: ['GpsUTC', 'reported'],
  latitude: 'Lat',
  longitude: 'Long',
  valid: ({ GpsStat }) => ((optionalNumber(GpsStat) ?? HAS_FIX) & HAS_FIX) !== 0,
  altitude: 'Alt',
  speedCms: 'Spd',
  course: 'Head',
  accuracy: 'PosAcc',
})

function request(report: HttpRequest, session: Session): Message {
  const body = objectOf(jsonBody(report), 'the body')
  if (!Array.isArray(body.Records)) return single.request(report, session)
  const device = textMember(body, 'IMEI') ?? textMember(body, 'SerNo')
  const { good, unreadable } = eachReadable(
    body.Records,
    (each) => recordFixes(objectOf(each, 'a record'), session),
    (found, each) => found.length === 0 && holdsPlace(each),
  )
  const fixes = good.flat()
  return fixes.length > 0 ? { device, fixes, unreadable } : { device, none: 'no place', unreadable }
}

function recordFixes({ DateUTC: reported, Fields: fields }: JsonObject, session: Session): Fix[] {
  const all = Array.isArray(fields) ? fields.map((field) => objectOf(field, 'a field')) : []
  return all.flatMap((field) => (field.FType === GPS ? (gpsFix({ ...field, reported }, session) ?? []) : []))
}
