/*
 * RFTrack (RF-V28 and other wearables). No specification is known: inferred from a request. HTTP POST of a form:
 *
 *   i=<IMEI>&gps={"y","x","a","z","t"}&gsm={…}&wifi=[…]&t=<ms>&…
 *
 *   y, x  latitude, longitude      a  accuracy, metres      z  altitude, metres      t  ms UTC      Answer: {}
 */
import {
  DecodeError,
  type HttpRequest,
  known,
  type Message,
  numberOf,
  objectOf,
  optionalNumberOf,
  type Protocol,
  parametersOf,
  parseJson,
  unixTime,
} from '../kit/index.ts'

export default {
  name: 'rftrack',
  devices: 'RFTrack wearables',
  acknowledges: 'fixes',
  http: { port: 5245 },
  request,
} satisfies Protocol

function request(report: HttpRequest): Message {
  const parameters = parametersOf(report)
  const device = parameters.get('i') || undefined
  if (device === undefined) throw new DecodeError('malformed', 'i is missing')
  const response = { headers: { 'content-type': 'application/json' }, body: '{}' }
  const text = parameters.get('gps')
  if (!text) return { device, none: 'no place', response }
  const gps = objectOf(parseJson(text), 'gps')
  if (gps.x === undefined || gps.y === undefined) return { device, none: 'no fix', response }
  const fix = {
    time: unixTime(numberOf(gps, 't')),
    latitude: numberOf(gps, 'y'),
    longitude: numberOf(gps, 'x'),
    valid: true,
    altitude: optionalNumberOf(gps, 'z'),
    accuracy: known(optionalNumberOf(gps, 'a')),
  }
  return { device, fixes: [fix], response }
}
