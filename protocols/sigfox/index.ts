/*
 * Sigfox: the callbacks of the Sigfox backend ("Custom callbacks", support.sigfox.com) and of integrations that forward them.
 * HTTP, JSON (some clients send it as an encoded form); their keys are chosen by who sets the callback up:
 *
 *   { "device" | "deviceId", "time" | "timestamp" | "positionTime", "data" | "payload"?, … }
 *   … "latitude", "longitude"                                          read by whoever forwards it
 *   … "location" | "computedLocation": { "lat", "lng", "radius"? }     found by Sigfox; radius in metres
 *
 * `lat` and `lng` of the message itself are the base station's, to the degree: no fix. The payload is hexadecimal; its
 * layout is the maker's:
 *
 *   xf AAAAAAAA OOOOOOOO HH SS BB     Digital Matter Oyster ("Decoding the Oyster Sigfox Payload"), little-endian, 1e-7°,
 *                                     2 degrees, km/h; x: bit 1 the last fix failed; f 1, 2: status
 *                                     x: bit 0 in a trip; B battery, 25 mV
 *   1f AAAAAAAA OOOOOOOO PP …         1e-6°, the first bit is the sign; P battery, % (inferred from frames)
 *   20 02 AAAAAAAA OOOOOOOO xx PP     degrees as floats (inferred from frames)
 *   01 00 BB 19 AAAAAAAA OOOOOOOO     Amber (`model: Amber`), 1/60000 degree; B 20 mV (inferred from frames)
 *   62                                SOS (inferred from frames)
 */
import {
  bodyText,
  DecodeError,
  type HttpRequest,
  jsonBody,
  jsonFix,
  type JsonObject,
  jsonTime,
  type Message,
  objectOf,
  optionalNumber,
  type Protocol,
  parseJson,
  type Said,
  type Session,
  said,
  textMember,
} from '../kit/index.ts'
import { payloadMessage } from './payload.ts'

export default {
  name: 'sigfox',
  devices: 'trackers on the Sigfox network: Digital Matter Oyster, Amber and others',
  acknowledges: 'fixes',
  http: { port: 5154 },
  isPlaceOfOthers: (name, value) => (name === 'lat' || name === 'lng') && Number.isInteger(Number(value)),
  request,
} satisfies Protocol

const TIMES = ['time', 'timestamp']

/** The places that the message itself names; the first of them counts. */
const PLACES = [
  jsonFix({ timeOrArrival: ['positionTime', ...TIMES], latitude: 'latitude', longitude: 'longitude' }),
  ...['location', 'computedLocation'].map((name) =>
    jsonFix({
      timeOrArrival: TIMES,
      latitude: `${name}/lat`,
      longitude: `${name}/lng`,
      accuracy: `${name}/radius`,
    }),
  ),
]

function request({ body }: HttpRequest, session: Session): Message {
  const message = objectOf(contentOf(body), 'the body')
  const device = textMember(message, 'device') ?? textMember(message, 'deviceId')
  if (device === undefined) throw new DecodeError('malformed', 'device is missing')
  for (const place of PLACES) {
    const fix = place(message, session)
    if (fix) return { device, fixes: [{ ...fix, said: saidIn(message) }] }
  }
  const payload = textMember(message, 'data') ?? textMember(message, 'payload')
  if (payload === undefined) return { device, none: 'no place' }
  const time = jsonTime(message.time) ?? jsonTime(message.timestamp) ?? session.now
  return { device, ...payloadMessage(payload, time, session.settingsOf(device)) }
}

/** What an integration says under these names; the battery in volts. */
function saidIn({ moving, battery, batteryPercentage }: JsonObject): Said | undefined {
  return said({
    moving: typeof moving === 'boolean' ? moving : undefined,
    battery_voltage: optionalNumber(battery),
    battery_percent: optionalNumber(batteryPercentage),
  })
}

/** JSON, also as the name of a parameter in a form. */
function contentOf(body: Buffer): unknown {
  const text = bodyText({ body }).trim()
  if (!text.startsWith('%7B')) return jsonBody({ body })
  const [[name]] = [...new URLSearchParams(text)]
  return parseJson(name)
}
