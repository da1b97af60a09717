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
 * Ignition: bit 0 of DIn (FType 2) and of inputs. Analogue values (FType 6, analogues): 1 the battery in mV, 2 the
 * external power in 0.01 V; of newer devices counter 0 is the battery. A place in a record of the first kind carries
 * the time of its own measurement. 200 acknowledges all records.
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
  type Said,
  type Session,
  said,
  textMember,
} from '../kit/index.ts'

const single = jsonProtocol({
  name: 'dmthttp',
  devices: 'Digital Matter devices through OEM Server, Yabby, Oyster, Remora with HTTP',
  acknowledges: 'fixes',
  http: { port: 5139 },
  device: ['device/imei', 'device/sn'],
  fix: { time: 'date', latitude: 'lat', longitude: 'lng', altitude: 'alt', accuracy: 'posAcc', hdop: 'posInfo/HDOP' },
  said: ({ inputs, analogues, counters }) =>
    said({
      ignition: ignitionOf(inputs),
      battery_voltage: scaled(valueOf(analogues, 1) ?? valueOf(counters, 0), 1000),
      external_voltage: scaled(valueOf(analogues, 2), 100),
    }),
})

export default { ...single, request } satisfies Protocol

const [GPS, INPUTS, ANALOGUE] = [0, 2, 6]
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
  if (fixes.length > 0) return { device, fixes, unreadable }
  const last = body.Records.at(-1)
  return { device, none: 'no place', said: last && saidIn(fieldsOf(objectOf(last, 'a record'))), unreadable }
}

function recordFixes(record: JsonObject, session: Session): Fix[] {
  const fields = fieldsOf(record)
  const besides = saidIn(fields)
  return fields.flatMap((field) => {
    const fix = field.FType === GPS ? gpsFix({ ...field, reported: record.DateUTC }, session) : undefined
    return fix ? [{ ...fix, said: besides }] : []
  })
}

function fieldsOf({ Fields: fields }: JsonObject): JsonObject[] {
  return Array.isArray(fields) ? fields.map((field) => objectOf(field, 'a field')) : []
}

function saidIn(fields: readonly JsonObject[]): Said | undefined {
  const inputs = fields.find(({ FType }) => FType === INPUTS)?.DIn
  const values = fields.find(({ FType }) => FType === ANALOGUE)?.AnalogueData
  const valued = typeof values === 'object' && values !== null ? (values as JsonObject) : {}
  return said({
    ignition: ignitionOf(inputs),
    battery_voltage: scaled(optionalNumber(valued[1]), 1000),
    external_voltage: scaled(optionalNumber(valued[2]), 100),
  })
}

const ignitionOf = (inputs: unknown) => (typeof inputs === 'number' ? (inputs & 1) !== 0 : undefined)
const scaled = (value: number | undefined, divisor: number) => (value === undefined ? undefined : value / divisor)

/** The value of an entry of a list of `{ id, val }`. */
function valueOf(list: unknown, id: number): number | undefined {
  const entries: readonly unknown[] = Array.isArray(list) ? list : []
  const found = entries.find((entry): entry is JsonObject => (entry as JsonObject | null)?.id === id)
  return optionalNumber(found?.val)
}
