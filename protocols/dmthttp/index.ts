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
  type HttpRequest,
  type JsonObject,
  jsonBody,
  jsonProtocol,
  objectOf,
  optionalNumber,
  said,
} from '../kit/index.ts'

export default jsonProtocol({
  name: 'dmthttp',
  devices: 'Digital Matter devices through OEM Server, Yabby, Oyster, Remora with HTTP',
  acknowledges: 'fixes',
  http: { port: 5139 },
  content: (body) => reportsOf({ body }),
  each: '',
  device: ['device/imei', 'device/sn', 'IMEI', 'SerNo'],
  fix: {
    time: ['date', 'GpsUTC', 'DateUTC'],
    latitude: ['lat', 'Lat'],
    longitude: ['lng', 'Long'],
    valid: ({ GpsStat }) => ((optionalNumber(GpsStat) ?? HAS_FIX) & HAS_FIX) !== 0,
    altitude: ['alt', 'Alt'],
    speedCms: 'Spd',
    course: 'Head',
    accuracy: ['posAcc', 'PosAcc'],
    hdop: 'posInfo/HDOP',
  },
  said({ inputs, DIn = inputs, analogues, counters, AnalogueData }) {
    const values = (AnalogueData ?? {}) as JsonObject
    return said({
      ignition: typeof DIn === 'number' ? (DIn & 1) !== 0 : undefined,
      battery_voltage: scaled(values[1] ?? valueOf(analogues, 1) ?? valueOf(counters, 0), 1000),
      external_voltage: scaled(values[2] ?? valueOf(analogues, 2), 100),
    })
  },
})

const [GPS, INPUTS, ANALOGUE] = [0, 2, 6]
const HAS_FIX = 1

/** The report of a newer device; of an older one each place in its records with what the record says, or a record without a place. */
function reportsOf(request: Pick<HttpRequest, 'body'>): unknown {
  const body = objectOf(jsonBody(request), 'the body')
  const { Records: records, IMEI, SerNo } = body
  if (!Array.isArray(records)) return body
  return records.flatMap((record: JsonObject | null) => {
    const fields: readonly (JsonObject | null)[] = Array.isArray(record?.Fields) ? record.Fields : []
    const { DIn } = fields.find((field) => field?.FType === INPUTS) ?? {}
    const { AnalogueData } = fields.find((field) => field?.FType === ANALOGUE) ?? {}
    const places = fields.filter((field) => field?.FType === GPS)
    const entry = record && { ...record, IMEI, SerNo, DIn, AnalogueData }
    return places.length > 0 ? places.map((place) => ({ ...place, ...entry })) : [entry]
  })
}

const scaled = (value: unknown, divisor: number) => optionalNumber(value, (number) => number / divisor)

/** The value of an entry of a list of `{ id, val }`. */
function valueOf(list: unknown, id: number): unknown {
  const entries: readonly (JsonObject | null)[] = Array.isArray(list) ? list : []
  return entries.find((entry) => entry?.id === id)?.val
}
