/*
 * OpenGTS: the URL with which clients report to its "gprmc" servlet ("OpenGTS Configuration and Installation", GeoTelematic).
 * HTTP, any method; 200 acknowledges.
 *
 *   ?id=<device>[&dev=<device>][&acct=<account>][&alt=<metres>]&gprmc=$GPRMC,…[&code=0x<status>][&batt=…]
 */
import {
  DecodeError,
  type HttpRequest,
  type Message,
  optionalParameter,
  type Protocol,
  parametersOf,
  rmcFix,
  type Session,
} from '../kit/index.ts'

export default {
  name: 'opengts',
  devices: 'GPSLogger, GPS2OpenGTS and other clients of OpenGTS',
  acknowledges: 'fixes',
  integrity: { none: 'of the NMEA sentence alone' },
  http: { port: 5159 },
  request,
} satisfies Protocol

function request(report: HttpRequest, session: Session): Message {
  const parameters = parametersOf(report)
  const device = parameters.get('id') || parameters.get('dev') || undefined
  if (device === undefined) throw new DecodeError('malformed', 'id is missing')
  const sentence = parameters.get('gprmc')
  const fix = sentence ? rmcFix(sentence, session) : undefined
  if (!fix) return { device, none: 'no place' }
  return { device, fixes: [{ ...fix, altitude: optionalParameter(parameters, 'alt') }] }
}
